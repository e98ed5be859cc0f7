/**
 * What a host's scheduler does, again and again: it sends the reports that wait to be delivered.
 *
 * An attempt is claimed in one transaction, made outside of any, and its outcome kept in another. Of all servers that
 * try, one claims; what one that stopped had claimed is never sent again by chance.
 *
 * Source: decisions.md §6 ("Deliveries are retried with back-off, recorded per target, never sent twice for one run").
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Cause from "effect/Cause"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { CurrentPrincipal, Principal } from "../access/Principal.ts"
import { AssetStore } from "../asset/AssetStore.ts"
import type { AuditEntry, AuditTarget } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import { PlaybookRunStore } from "../playbook/PlaybookRunStore.ts"
import { PlaybookStore } from "../playbook/PlaybookStore.ts"
import type { Report } from "../report/Report.ts"
import { ReportStore } from "../report/ReportStore.ts"
import { systemCredential } from "../schedule/Mandate.ts"
import { ChatChannel } from "./ChatChannel.ts"
import { type Delivery, targetKey } from "./Delivery.ts"
import { DeliveryError } from "./DeliveryError.ts"
import * as DeliveryMessage from "./DeliveryMessage.ts"
import { advance, attemptTimeout, DeliveryEvent } from "./DeliveryState.ts"
import { DeliveryStore } from "./DeliveryStore.ts"
import { Mailer } from "./Mailer.ts"

/** What a round of deliveries did. */
export interface DeliveredRound {
  readonly delivered: number
  /** Failed, and to be tried again. */
  readonly failed: number
  readonly givenUp: number
}

/** Delivers reports. */
export class Deliveries extends Context.Service<
  Deliveries,
  {
    /**
     * Makes an attempt at every delivery that waits for one at a moment. It may be called by every server as often as
     * it likes: each attempt is made once.
     */
    readonly deliverDue: (now: DateTime.Utc) => Effect.Effect<DeliveredRound>
  }
>()("@castellan/core/delivery/Deliveries") {}

/** Deliveries of one round, and how many of them are sent at a time. */
const roundSize = 200
const concurrency = 8

/** What a service has to answer in: less than the time after which an attempt counts as lost. */
const answerTimeout = Duration.subtract(attemptTimeout, Duration.minutes(1))

const target = (delivery: Delivery): AuditTarget => ({ type: "report", id: delivery.reportId })

const entryOf = (delivery: Delivery): AuditEntry => ({
  action: "deliver",
  target: target(delivery),
  after: {
    delivery: delivery.id,
    to: targetKey(delivery.target),
    status: delivery.status._tag,
    ...("error" in delivery.status ? { error: delivery.status.error } : {})
  }
})

/** Delivers over the stores, by mail and chat. */
export const layer: Layer.Layer<
  Deliveries,
  never,
  AssetStore | ChatChannel | DeliveryStore | Mailer | PlaybookRunStore | PlaybookStore | ReportStore | UseCase
> = Layer.effect(
  Deliveries,
  Effect.gen(function* () {
    const assets = yield* AssetStore
    const chatChannel = yield* ChatChannel
    const mailer = yield* Mailer
    const playbooks = yield* PlaybookStore
    const reports = yield* ReportStore
    const runs = yield* PlaybookRunStore
    const store = yield* DeliveryStore
    const useCase = yield* UseCase

    const deduplicates = (delivery: Delivery): boolean =>
      delivery.target._tag === "Email" ? mailer.deduplicates : chatChannel.deduplicates

    /** Keeps what became of a delivery in one transaction, as it is then; nothing where it has moved on meanwhile. */
    const keep = (
      delivery: Delivery,
      at: DateTime.Utc,
      eventFor: (current: Delivery) => Effect.Effect<DeliveryEvent>
    ) =>
      useCase.run({ action: "deliver", target: target(delivery) }, () =>
        Effect.gen(function* () {
          const nothing = { answer: Option.none<Delivery>(), entries: [] }
          const current = yield* store.get(delivery.organizationId, delivery.id)
          if (Option.isNone(current)) return nothing
          const advanced = advance(current.value, yield* eventFor(current.value), at)
          if (advanced._tag === "Failure") return nothing
          const next = advanced.success
          if (!(yield* store.replace(current.value, next))) return nothing
          // That an attempt begins is no news; how it ended is.
          return { answer: Option.some(next), entries: next.status._tag === "Sending" ? [] : [entryOf(next)] }
        })
      )

    /** What is next for a delivery that is due: an attempt, the end of a lost one, or nothing more. */
    const nextEvent = Effect.fnUntraced(function* (current: Delivery) {
      if (current.status._tag === "Sending") {
        return DeliveryEvent.cases.Lose.make({ deduplicates: deduplicates(current) })
      }
      const playbook = yield* playbooks.get(current.organizationId, current.playbookId)
      return Option.isSome(playbook) && playbook.value.status._tag !== "Deleted"
        ? DeliveryEvent.cases.Send.make({})
        : DeliveryEvent.cases.GiveUp.make({ error: "the playbook was deleted" })
    })

    const hand = Effect.fnUntraced(
      function* (delivery: Delivery, report: Report) {
        const to = delivery.target
        yield* to._tag === "Email"
          ? Effect.flatMap(DeliveryMessage.mail(delivery, to.address, report), mailer.send)
          : Effect.flatMap(DeliveryMessage.post(delivery, to, report), chatChannel.post)
      },
      Effect.provideService(AssetStore, assets)
    )

    /** Sends, and tells what came of it. A service that does not answer may have sent all the same. */
    const attempt = Effect.fnUntraced(function* (delivery: Delivery) {
      const report = yield* reports.get(delivery.organizationId, delivery.reportId)
      if (Option.isNone(report)) {
        return yield* new DeliveryError({ kind: "permanent", message: "the report was deleted" })
      }
      yield* Effect.timeoutOrElse(hand(delivery, report.value), {
        duration: answerTimeout,
        orElse: () => Effect.fail(new DeliveryError({ kind: "unknown", message: "the service did not answer in time" }))
      })
    })

    const eventOf = (delivery: Delivery, exit: Exit.Exit<void, DeliveryError>): DeliveryEvent => {
      if (Exit.isSuccess(exit)) return DeliveryEvent.cases.Succeed.make({})
      const { kind, message } = Option.getOrElse(
        Cause.findErrorOption(exit.cause),
        () => new DeliveryError({ kind: "unknown", message: "the attempt broke off" })
      )
      return DeliveryEvent.cases.Fail.make({ kind, error: message, deduplicates: deduplicates(delivery) })
    }

    /** One delivery, as far as it goes in this round. What was begun is always ended, also when the server stops. */
    const deliver = Effect.fnUntraced(function* (due: Delivery, now: DateTime.Utc) {
      const run = yield* runs.get(due.organizationId, due.runId)
      if (Option.isNone(run)) return Option.none<Delivery>()
      const { principal } = run.value
      return yield* Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          // A round takes its time: an attempt's own begins when it does.
          const claimed = yield* keep(due, DateTime.max(now, yield* DateTime.now), nextEvent)
          if (Option.isNone(claimed) || claimed.value.status._tag !== "Sending") return claimed
          const exit = yield* Effect.exit(restore(attempt(claimed.value)))
          if (Exit.isFailure(exit) && Cause.hasDies(exit.cause)) {
            yield* Effect.logError("a report could not be delivered", exit.cause)
          }
          return yield* keep(due, yield* DateTime.now, () => Effect.succeed(eventOf(due, exit)))
        })
      ).pipe(
        Effect.provideService(
          CurrentPrincipal,
          new Principal({ ...principal, credential: systemCredential("delivery", principal.key) })
        )
      )
    })

    return Deliveries.of({
      deliverDue: Effect.fn("Deliveries.deliverDue")(function* (now) {
        const due = yield* store.due(now, roundSize)
        const outcomes = yield* Effect.forEach(
          due,
          (delivery) =>
            deliver(delivery, now).pipe(
              // One delivery that cannot be kept does not hold up the others: it stays due.
              Effect.catchDefect((defect) =>
                Effect.as(
                  Effect.logError("a delivery could not be carried on", defect).pipe(
                    Effect.annotateLogs({ delivery: delivery.id, organization: delivery.organizationId })
                  ),
                  Option.none<Delivery>()
                )
              )
            ),
          { concurrency }
        )
        const count = (tag: Delivery["status"]["_tag"]): number =>
          outcomes.filter((outcome) => Option.isSome(outcome) && outcome.value.status._tag === tag).length
        return { delivered: count("Delivered"), failed: count("Failed"), givenUp: count("GivenUp") }
      })
    })
  })
)
