/**
 * How an agent's run is carried out: it is asked, on behalf of whoever triggered it, and followed to its end. It can
 * be taken up at any point, by any process: whatever was done is found done.
 *
 * Source: decisions.md §9 ("A queued run survives a crash").
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { CurrentPrincipal } from "../access/Principal.ts"
import type { AuditEntry, AuditTarget } from "../audit/AuditEvent.ts"
import { type Done, UseCase } from "../audit/UseCase.ts"
import { Chats } from "../chat/Chats.ts"
import { ChatStore } from "../chat/ChatStore.ts"
import { ExecutionFailed, type Failure, NotFound } from "../error/Failure.ts"
import { Runner } from "../run/Runner.ts"
import * as AgentAsking from "./AgentAsking.ts"
import { type AgentRun, isEnded } from "./AgentRun.ts"
import { advance, AgentRunEvent } from "./AgentRunState.ts"
import { AgentRunStore } from "./AgentRunStore.ts"
import { AgentStore } from "./AgentStore.ts"

/** Carries agents' runs out. */
export class AgentRuns extends Context.Service<
  AgentRuns,
  {
    /**
     * Takes a run from where it is to its end, on behalf of its own principal, and answers with it as it ended,
     * whether it succeeded or not. A run that has ended answers the same again.
     */
    readonly carryOut: (run: AgentRun) => Effect.Effect<AgentRun>
  }
>()("@castellan/core/agent/AgentRuns") {}

/** A run that is begun, with the chat's run that is to be started; none where another has begun it. */
type Begun = Pick<AgentAsking.AskedAgentRun, "run"> & Partial<AgentAsking.AskedAgentRun>

const target = (run: AgentRun): AuditTarget => ({ type: "agent", id: run.agentId })

const attempt = (run: AgentRun) => ({ action: "run", target: target(run) }) as const

/** What a failure makes of the run that it befell. */
const eventOf = (failure: Failure): AgentRunEvent =>
  failure.code === "cancelled"
    ? AgentRunEvent.cases.Cancel.make({})
    : AgentRunEvent.cases.Fail.make({
        failure: failure.code === "timeout" ? "timeout" : "execution_failed",
        error: failure.message
      })

/** Carries runs out over the stores, the chats and the runner. */
export const layer: Layer.Layer<
  AgentRuns,
  never,
  AgentAsking.Asks | AgentRunStore | AgentStore | Chats | Runner | UseCase
> = Layer.effect(
  AgentRuns,
  Effect.gen(function* () {
    const agents = yield* AgentStore
    const ask = yield* AgentAsking.make
    const chats = yield* Chats
    const chatStore = yield* ChatStore
    const runner = yield* Runner
    const store = yield* AgentRunStore
    const useCase = yield* UseCase

    const latest = (run: AgentRun) =>
      Effect.map(
        store.get(run.organizationId, run.id),
        Option.getOrElse(() => run)
      )

    /**
     * Asks a queued run, and has the chat's run started: kept and handed over in one step. Where another was faster,
     * the run is as that one left it.
     */
    const begin = (run: AgentRun) =>
      Effect.uninterruptible(
        Effect.gen(function* () {
          const asked = yield* useCase.run(attempt(run), () =>
            Effect.gen(function* () {
              const current = yield* latest(run)
              const elsewhere: Done<Begun> = { answer: { run: current }, entries: [] }
              if (current.status._tag !== "Queued") return elsewhere
              const agent = yield* agents.get(run.organizationId, run.agentId)
              if (Option.isNone(agent)) return yield* new NotFound({ message: "the agent was deleted" })
              const done: Done<Begun> = yield* ask(current, agent.value)
              yield* store.save(done.answer.run)
              return done
            })
          )
          if (asked.chatRun !== undefined) yield* runner.start(asked.chatRun)
          return asked.run
        })
      )

    /** Ends a run, unless it has ended meanwhile. */
    const end = (run: AgentRun, event: AgentRunEvent) =>
      useCase.run(attempt(run), () =>
        Effect.gen(function* () {
          const current = yield* latest(run)
          if (isEnded(current)) return { answer: current, entries: [] }
          // The state was looked at in this transaction: a refusal is a defect.
          const ended = yield* Effect.orDie(Effect.fromResult(advance(current, event, yield* DateTime.now)))
          yield* store.save(ended)
          const entry: AuditEntry = {
            action: "update",
            target: target(run),
            after: {
              run: run.id,
              status: ended.status._tag.toLowerCase(),
              ...(ended.status._tag === "Failed" ? { error: ended.status.error } : {})
            }
          }
          return { answer: ended, entries: [entry] }
        })
      )

    const answered = Effect.fnUntraced(function* (run: AgentRun) {
      if (run.status._tag !== "Running") return
      const chatRun = yield* chatStore.run(run.organizationId, run.status.runId)
      if (Option.isNone(chatRun)) return yield* new ExecutionFailed({ message: "the run's chat was deleted" })
      // Whoever asked may have stopped before the chat's run was started: nobody else would start it.
      if (chatRun.value.status._tag === "Queued") yield* runner.start(chatRun.value)
      yield* chats.answer(chatRun.value)
    })

    return AgentRuns.of({
      carryOut: Effect.fn("AgentRuns.carryOut")(function* (given) {
        const run = yield* latest(given)
        if (isEnded(run)) return run
        return yield* (run.status._tag === "Queued" ? begin(run) : Effect.succeed(run)).pipe(
          Effect.flatMap(answered),
          Effect.matchEffect({
            onSuccess: () => end(run, AgentRunEvent.cases.Complete.make({})),
            onFailure: (failure) => end(run, eventOf(failure))
          }),
          // What nobody foresaw ends the run as well; a server that stops leaves it to be taken up again.
          Effect.tapCause((cause) =>
            Cause.hasDies(cause)
              ? Effect.andThen(
                  Effect.logError("an agent's run failed unexpectedly", cause),
                  end(run, eventOf(new ExecutionFailed({ message: "internal error" })))
                )
              : Effect.void
          ),
          Effect.provideService(CurrentPrincipal, run.principal)
        )
      })
    })
  })
)
