/**
 * How a playbook's run is carried out: its prompt is asked, its answer waited for, and its report made, kept, and put
 * on its way to its targets. It can be taken up at any point, by any process: whatever was done is found done.
 *
 * Source: decisions.md §6 ("Run").
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { creatorOf } from "../access/Access.ts"
import { CurrentPrincipal } from "../access/Principal.ts"
import type { AuditEntry, AuditTarget } from "../audit/AuditEvent.ts"
import { type Done, UseCase } from "../audit/UseCase.ts"
import { Chats } from "../chat/Chats.ts"
import { ChatStore } from "../chat/ChatStore.ts"
import * as Transcript from "../chat/Transcript.ts"
import { Delivery, DeliveryId, DeliveryStatus } from "../delivery/Delivery.ts"
import { DeliveryStore } from "../delivery/DeliveryStore.ts"
import { ExecutionFailed, type Failure, NoReport, TimedOut } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import { Report, ReportId } from "../report/Report.ts"
import { type ReportContent, reportOfRun } from "../report/ReportOfRun.ts"
import { ReportStore } from "../report/ReportStore.ts"
import { RunLog } from "../run/RunLog.ts"
import { Runner } from "../run/Runner.ts"
import { targetsOf } from "./Playbook.ts"
import * as PlaybookAsking from "./PlaybookAsking.ts"
import { PlaybookLimits } from "./PlaybookLimits.ts"
import { isEnded, type PlaybookRun } from "./PlaybookRun.ts"
import { eventOf, outcomeOf } from "./PlaybookRunOutcome.ts"
import { advance, PlaybookRunEvent } from "./PlaybookRunState.ts"
import { PlaybookRunStore } from "./PlaybookRunStore.ts"

/** Carries playbooks' runs out. */
export class PlaybookRuns extends Context.Service<
  PlaybookRuns,
  {
    /**
     * Takes a run from where it is to its end, on behalf of its own principal, and answers with it as it ended; fails
     * as it failed. A run that has ended answers the same again.
     */
    readonly carryOut: (run: PlaybookRun) => Effect.Effect<PlaybookRun, Failure>
  }
>()("@castellan/core/playbook/PlaybookRuns") {}

/** However late a run is taken up: an answer that is there already is worth this long a look. */
const shortestWait = Duration.seconds(5)

/** A run that is begun, with the chat's run that is to be started; none where another has begun it. */
type Begun = Pick<PlaybookAsking.AskedPlaybookRun, "run"> & Partial<PlaybookAsking.AskedPlaybookRun>

const target = (run: PlaybookRun): AuditTarget => ({ type: "playbook", id: run.playbookId })

const attempt = (run: PlaybookRun) => ({ action: "run", target: target(run) }) as const

/** Carries runs out over the stores, the chats and the runner. */
export const layer: Layer.Layer<
  PlaybookRuns,
  never,
  PlaybookAsking.Asks | Chats | DeliveryStore | PlaybookRunStore | ReportStore | RunLog | Runner | UseCase
> = Layer.effect(
  PlaybookRuns,
  Effect.gen(function* () {
    const chats = yield* Chats
    const chatStore = yield* ChatStore
    const deliveries = yield* DeliveryStore
    const limits = yield* PlaybookLimits
    const log = yield* RunLog
    const reports = yield* ReportStore
    const runner = yield* Runner
    const store = yield* PlaybookRunStore
    const useCase = yield* UseCase
    const ask = yield* PlaybookAsking.make
    const random = yield* SecureRandom.SecureRandom
    const nextId = Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)

    const latest = (run: PlaybookRun) =>
      Effect.map(
        store.get(run.organizationId, run.id),
        Option.getOrElse(() => run)
      )

    /** A transition that the state refuses is a defect: every caller has looked at the state in the same transaction. */
    const advanced = (run: PlaybookRun, event: PlaybookRunEvent) =>
      Effect.flatMap(DateTime.now, (now) => Effect.orDie(Effect.fromResult(advance(run, event, now))))

    /** Asks a queued run; where another was faster, the run is as that one left it. */
    const begin = (queued: PlaybookRun) =>
      Effect.uninterruptible(
        Effect.gen(function* () {
          const asked = yield* useCase.run(attempt(queued), () =>
            Effect.gen(function* () {
              const current = yield* latest(queued)
              const elsewhere: Done<Begun> = { answer: { run: current }, entries: [] }
              if (current.status._tag !== "Queued") return elsewhere
              const done: Done<Begun> = yield* ask(current)
              yield* store.save(done.answer.run)
              return done
            })
          )
          if (asked.chatRun !== undefined) yield* runner.start(asked.chatRun)
          return asked.run
        })
      )

    /** What the run found, once its chat has answered; the chat's run is stopped when it takes too long. */
    const found = Effect.fnUntraced(function* (
      run: PlaybookRun,
      asked: Extract<PlaybookRun["status"], { readonly _tag: "Running" }>
    ) {
      const chatRun = yield* chatStore.run(run.organizationId, asked.runId)
      if (Option.isNone(chatRun)) return yield* new ExecutionFailed({ message: "the run's chat was deleted" })
      // Whoever asked may have stopped before the chat's run was started: nobody else would start it.
      if (chatRun.value.status._tag === "Queued") yield* runner.start(chatRun.value)
      const passed = DateTime.distance(asked.startedAt, yield* DateTime.now)
      yield* Effect.timeoutOrElse(chats.answer(chatRun.value), {
        duration: Duration.max(Duration.subtract(limits.timeout, passed), shortestWait),
        orElse: () =>
          Effect.andThen(
            runner.cancel({ id: asked.runId, organizationId: run.organizationId }),
            Effect.fail(
              new TimedOut({
                message: `the run went past its time limit of ${Duration.format(limits.timeout)}`
              })
            )
          )
      })
      const transcript = Transcript.ofEntries(yield* log.read(chatRun.value, 0))
      const content = reportOfRun(run.configuration.name, transcript)
      if (Option.isNone(content)) return yield* new NoReport({ message: "the run finished without a report" })
      return { chatId: asked.chatId, content: content.value }
    })

    const complete = (run: PlaybookRun, chatId: Report["chatId"], content: ReportContent) =>
      useCase.run(attempt(run), () =>
        Effect.gen(function* () {
          const current = yield* latest(run)
          if (isEnded(current)) return { answer: current, entries: [] }
          const now = yield* DateTime.now
          const report = new Report({
            ...content,
            id: ReportId.make(yield* nextId),
            organizationId: run.organizationId,
            playbookId: run.playbookId,
            runId: run.id,
            chatId,
            creator: creatorOf(run.principal),
            createdAt: now
          })
          yield* reports.add(report)
          const made = yield* Effect.forEach(
            targetsOf(run.configuration),
            Effect.fnUntraced(function* (to) {
              return new Delivery({
                id: DeliveryId.make(yield* nextId),
                organizationId: run.organizationId,
                playbookId: run.playbookId,
                runId: run.id,
                reportId: report.id,
                target: to,
                status: DeliveryStatus.cases.Pending.make({}),
                createdAt: now
              })
            })
          )
          yield* deliveries.add(made)
          const completed = yield* advanced(current, PlaybookRunEvent.cases.Complete.make({ reportId: report.id }))
          yield* store.save(completed)
          const entry: AuditEntry = {
            action: "create",
            target: { type: "report", id: report.id },
            after: { playbook: run.playbookId, run: run.id, subject: report.subject }
          }
          return { answer: completed, entries: [entry] }
        })
      )

    const fail = (run: PlaybookRun, failure: Failure) =>
      useCase.run(attempt(run), () =>
        Effect.gen(function* () {
          const current = yield* latest(run)
          if (isEnded(current)) return { answer: undefined, entries: [] }
          yield* store.save(yield* advanced(current, eventOf(failure)))
          const entry: AuditEntry = {
            action: "update",
            target: target(run),
            after: { run: run.id, failure: failure.code, error: failure.message }
          }
          return { answer: undefined, entries: [entry] }
        })
      )

    return PlaybookRuns.of({
      carryOut: Effect.fn("PlaybookRuns.carryOut")(function* (given) {
        const run = yield* latest(given)
        if (isEnded(run)) return yield* Effect.fromResult(outcomeOf(run))
        return yield* Effect.gen(function* () {
          const begun = run.status._tag === "Queued" ? yield* begin(run) : run
          if (begun.status._tag !== "Running") return yield* Effect.fromResult(outcomeOf(begun))
          const { chatId, content } = yield* found(begun, begun.status)
          return yield* Effect.flatMap(complete(begun, chatId, content), (ended) => Effect.fromResult(outcomeOf(ended)))
        }).pipe(
          Effect.tapError((failure) => fail(run, failure)),
          // What nobody foresaw ends the run as well; a server that stops leaves it to be taken up again.
          Effect.tapCause((cause) =>
            Cause.hasDies(cause)
              ? Effect.andThen(
                  Effect.logError("a playbook's run failed unexpectedly", cause),
                  fail(run, new ExecutionFailed({ message: "internal error" }))
                )
              : Effect.void
          ),
          Effect.provideService(CurrentPrincipal, run.principal)
        )
      })
    })
  })
)
