/**
 * The use cases of playbooks' runs.
 *
 * Source: api-v2.md (`POST /v2/playbooks/{id}/run`); decisions.md §6 ("Run", "`GET …/runs`").
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import type { Asset } from "../asset/Asset.ts"
import { AssetStore } from "../asset/AssetStore.ts"
import type { AuditTarget } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import type { ChatId } from "../chat/Chat.ts"
import * as Transcript from "../chat/Transcript.ts"
import { Connectors } from "../connector/Connectors.ts"
import type { Delivery } from "../delivery/Delivery.ts"
import { DeliveryStore } from "../delivery/DeliveryStore.ts"
import { type Failure, NoReport } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import { Models } from "../model/Models.ts"
import type { Counted, OffsetPage } from "../page/Page.ts"
import * as ReportPictures from "../report/ReportPictures.ts"
import { ReportStore } from "../report/ReportStore.ts"
import type { ReportView } from "../report/ReportView.ts"
import { RunLog } from "../run/RunLog.ts"
import { Runner } from "../run/Runner.ts"
import type { Playbook, PlaybookId } from "./Playbook.ts"
import * as PlaybookAsking from "./PlaybookAsking.ts"
import { PlaybookRun, PlaybookRunId, PlaybookRunStatus, PlaybookRunTrigger } from "./PlaybookRun.ts"
import { PlaybookRunner } from "./PlaybookRunner.ts"
import { PlaybookRunStore } from "./PlaybookRunStore.ts"
import { finder } from "./Playbooks.ts"
import type { PlaybookStore } from "./PlaybookStore.ts"

/** What a run came to. */
export interface PlaybookResult extends ReportView {
  readonly chatId: ChatId
  /** What the run made. */
  readonly assets: ReadonlyArray<Asset>
}

/** A run on a list, with how its report reached each target. */
export interface PlaybookRunView {
  readonly run: PlaybookRun
  readonly deliveries: ReadonlyArray<Delivery>
}

/** The use cases of playbooks' runs. */
export class PlaybookExecution extends Context.Service<
  PlaybookExecution,
  {
    /** Runs a playbook and waits for its report; the run goes on when whoever waits leaves. */
    readonly run: (id: PlaybookId) => Effect.Effect<PlaybookResult, Failure, CurrentPrincipal>
    /** Whether the playbook could be run by the caller now (`dry_run`); leaves nothing behind. */
    readonly validate: (id: PlaybookId) => Effect.Effect<void, Failure, CurrentPrincipal>
    /** The runs of a playbook, newest first; none of another end user's. */
    readonly runs: (
      id: PlaybookId,
      page: OffsetPage
    ) => Effect.Effect<Counted<PlaybookRunView>, Failure, CurrentPrincipal>
    /**
     * Takes up the runs that servers which have stopped left unfinished: those that were made before a moment. The
     * host calls it when it starts; a run that is being carried out here goes on as it is. Answers with their number.
     */
    readonly resume: (before: DateTime.Utc) => Effect.Effect<number>
  }
>()("@castellan/core/playbook/PlaybookExecution") {}

const target = (id: PlaybookId): AuditTarget => ({ type: "playbook", id })

/** Runs taken up at a time. */
const resumedAtOnce = 1000

/** The use cases over the stores and the runners. */
export const layer: Layer.Layer<
  PlaybookExecution,
  never,
  | PlaybookAsking.Asks
  | AssetStore
  | DeliveryStore
  | PlaybookRunner
  | PlaybookRunStore
  | PlaybookStore
  | ReportStore
  | RunLog
  | Runner
  | UseCase
> = Layer.effect(
  PlaybookExecution,
  Effect.gen(function* () {
    const ask = yield* PlaybookAsking.make
    const assets = yield* AssetStore
    const connectors = yield* Connectors
    const deliveries = yield* DeliveryStore
    const find = yield* finder
    const log = yield* RunLog
    const models = yield* Models
    const playbookRunner = yield* PlaybookRunner
    const random = yield* SecureRandom.SecureRandom
    const reports = yield* ReportStore
    const runner = yield* Runner
    const store = yield* PlaybookRunStore
    const useCase = yield* UseCase

    const queued = Effect.fnUntraced(function* (principal: Principal, playbook: Playbook) {
      return new PlaybookRun({
        id: PlaybookRunId.make(yield* Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)),
        organizationId: principal.organizationId,
        playbookId: playbook.id,
        trigger: PlaybookRunTrigger.cases.Manual.make({}),
        principal,
        configuration: playbook.configuration,
        status: PlaybookRunStatus.cases.Queued.make({}),
        createdAt: yield* DateTime.now
      })
    })

    /** Kept and handed over in one step: a client that leaves in between must not leave a run that nobody starts. */
    const start = (id: PlaybookId) =>
      Effect.uninterruptible(
        Effect.gen(function* () {
          const { chatRun, run } = yield* useCase.run({ action: "run", target: target(id) }, (principal) =>
            Effect.gen(function* () {
              const playbook = yield* find(principal, id, "run")
              const done = yield* ask(yield* queued(principal, playbook))
              yield* store.open(done.answer.run)
              return done
            })
          )
          yield* runner.start(chatRun)
          return yield* playbookRunner.start(run)
        })
      )

    return PlaybookExecution.of({
      run: Effect.fn("PlaybookExecution.run")(function* (id) {
        const ended = yield* yield* start(id)
        const { status } = ended
        const report =
          status._tag === "Completed" ? yield* reports.get(ended.organizationId, status.reportId) : Option.none()
        if (status._tag !== "Completed" || Option.isNone(report)) {
          return yield* new NoReport({ message: "the run finished without a report" })
        }
        return {
          chatId: status.chatId,
          report: report.value,
          htmlPreview: yield* Effect.provideService(ReportPictures.preview(report.value), AssetStore, assets),
          assets: Transcript.ofEntries(yield* log.read({ id: status.runId, organizationId: ended.organizationId }, 0))
            .assets
        }
      }),

      validate: Effect.fn("PlaybookExecution.validate")(function* (id) {
        yield* useCase.read({ action: "run", target: target(id) }, (principal) =>
          Effect.gen(function* () {
            const { configuration } = yield* find(principal, id, "run")
            yield* PlaybookAsking.requirePrompt(configuration)
            yield* models.choose(principal, undefined)
            const { connectorIds } = configuration
            yield* connectors.usableBy(principal, connectorIds.length === 0 ? undefined : connectorIds)
          })
        )
      }),

      runs: Effect.fn("PlaybookExecution.runs")(function* (id, page) {
        return yield* useCase.read({ action: "list", target: target(id) }, (principal) =>
          Effect.gen(function* () {
            yield* find(principal, id, "read")
            const { items, totalCount } = yield* store.ofPlaybook(principal, id, page)
            const sent = yield* deliveries.ofRuns(
              principal.organizationId,
              items.map((run) => run.id)
            )
            const byRun = Map.groupBy(sent, (delivery) => delivery.runId)
            return { items: items.map((run) => ({ run, deliveries: byRun.get(run.id) ?? [] })), totalCount }
          })
        )
      }),

      resume: Effect.fn("PlaybookExecution.resume")(function* (before) {
        const unfinished = yield* store.unfinished(before, resumedAtOnce)
        yield* Effect.forEach(unfinished, (run) => playbookRunner.start(run), { discard: true })
        return unfinished.length
      })
    })
  })
)
