/**
 * An execution in a session of scripted sandboxes: its statements one after another, and what becomes of each.
 */
import { type ExecRequest, ExecEvent } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { lostSession, type Session, type Stop } from "./ScriptedSession.ts"
import { bash, type Pass, python } from "./ScriptedStatements.ts"

/** What executions know beyond their session. */
export interface ExecutionOptions {
  /** The events of a program that is known as a whole, between `Started` and `Finished`; or nothing. */
  readonly teaches: ((request: ExecRequest) => ReadonlyArray<ExecEvent> | undefined) | undefined
  /** How many executions are running that do not end by themselves. */
  readonly stuck: SubscriptionRef.SubscriptionRef<number>
}

/** Runs a program to its end, and tells of it; fails where the session is lost meanwhile. */
export const execute = Effect.fnUntraced(function* (
  session: Session,
  request: ExecRequest,
  { stuck, teaches }: ExecutionOptions,
  tell: (event: ExecEvent) => Effect.Effect<unknown>
) {
  const stop = yield* Deferred.make<Stop>()
  session.running.add(stop)
  const inSession = request.within === "session"
  const before = new Map(session.dataframes)
  const pass: Pass = {
    session,
    variables: inSession ? session.variables : new Map(),
    environment: request.environment ?? {},
    touched: new Set()
  }
  const finish = (outcome: "completed" | "failed" | "interrupted" | "timed_out", exitCode: number) =>
    tell(
      ExecEvent.cases.Finished.make({
        outcome,
        exitCode,
        files: [...pass.touched].filter((path) => !/^(?:library|uploads)\//u.test(path)).toSorted(),
        dataframes: [...session.dataframes.values()].filter((frame) => before.get(frame.name) !== frame),
        droppedBytes: 0
      })
    )
  const run = Effect.gen(function* () {
    yield* tell(ExecEvent.cases.Started.make({}))
    const taught = teaches?.(request)
    if (taught !== undefined) {
      for (const event of taught) yield* tell(event)
      return yield* finish("completed", 0)
    }
    const statements = request.code.split(request.language === "bash" ? /[\n;]/u : "\n")
    for (const statement of statements) {
      const done = (request.language === "python" ? python : bash)(pass, statement.trim())
      switch (done._tag) {
        case "Events":
          for (const event of done.events) yield* tell(event)
          break
        case "Raised":
          yield* tell(
            ExecEvent.cases.Error.make({
              name: done.name,
              message: done.message,
              traceback: [`line: ${statement}`]
            })
          )
          return yield* finish("failed", 1)
        case "Exit":
          return yield* finish(done.code === 0 ? "completed" : "failed", done.code)
        case "Crash":
          if (inSession) {
            session.variables = new Map()
            session.dataframes = new Map()
          }
          yield* tell(ExecEvent.cases.KernelRestarted.make({ stateLost: inSession }))
          return yield* finish("failed", 1)
        case "Stuck": {
          yield* SubscriptionRef.update(stuck, (count) => count + 1)
          const why = yield* Deferred.await(stop).pipe(
            Effect.timeoutOrElse({
              duration: request.timeout,
              orElse: () => Effect.succeed("timed_out" as const)
            }),
            Effect.ensuring(SubscriptionRef.update(stuck, (count) => count - 1))
          )
          if (why === "lost") return yield* lostSession
          return yield* finish(why, -1)
        }
      }
    }
    return yield* finish("completed", 0)
  })
  return yield* Effect.ensuring(
    run,
    Effect.sync(() => session.running.delete(stop))
  )
})
