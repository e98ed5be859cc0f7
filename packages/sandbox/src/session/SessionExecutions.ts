/**
 * Executions of a session: in the session's Python one after another, in fresh processes beside it. Each ends by its own
 * deadline or when it is stopped, gently first, then by force, then by taking the sandbox's processes away.
 */
import type {
  ExecEvent,
  ExecOutcome,
  ExecRequest,
  SandboxError,
  SandboxSession
} from "@castellan/core/sandcastle/SandboxRuntime"
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import type * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { Frame } from "../protocol/FrameReader.ts"
import type { SqlExecutor, SqlTable } from "../sql/SqlExecutor.ts"
import type { Taken } from "./CommandChannel.ts"
import { ExecutionEvents } from "./ExecutionEvents.ts"
import { lossy } from "./OutputText.ts"
import { failure, inWords, refused } from "./SessionFailure.ts"
import { Pieces } from "./Joined.ts"
import { ignored, type SessionLink } from "./SessionLink.ts"
import { SessionLimits } from "./SessionLimits.ts"

type Events = Queue.Queue<ExecEvent, SandboxError | Cause.Done>

/** A statement that a running program asks for. */
interface Call {
  readonly execution: Running
  readonly number: number
  readonly statement: string
  /** Absent where they were more than is taken. */
  readonly tables: ReadonlyArray<SqlTable> | undefined
  /** Completes where the execution asks for another statement, and waits for this one no more. */
  readonly abandoned: Deferred.Deferred<void>
}

/** What runs. */
interface Running {
  readonly request: ExecRequest
  readonly events: ExecutionEvents
  readonly ended: Deferred.Deferred<void, SandboxError>
  id: number
  /** Why it is being stopped, once it is. */
  stop: "interrupted" | "timed_out" | undefined
  /** Tables of the call that comes next. */
  readonly tables: Pieces
  tableBytes: number
  /** Abandons the call that was made last: an execution waits for one at a time, however many it makes. */
  abandon: () => void
}

/** The executions of a session. */
export interface SessionExecutions {
  readonly exec: SandboxSession["exec"]
  readonly interrupt: SandboxSession["interrupt"]
}

const utf8 = new TextEncoder()
const nothing = new Uint8Array(0)
const unknownEnd = { files: [], dataframes: [], dropped_bytes: 0 }

/** The exit code of what was killed, as a shell tells it. */
const killed = 137

/** Cuts the tables of a call out of what came before it. */
const tablesOf = (
  parts: ReadonlyArray<Uint8Array>,
  told: Extract<Frame["report"], { readonly event: "call" }>["tables"]
): ReadonlyArray<SqlTable> | undefined => {
  const all = Buffer.concat(parts)
  let at = 0
  const tables = told.map(({ bytes, name }) => ({ name, content: all.subarray(at, (at += bytes)) }))
  return at === all.length ? tables : undefined
}

/** Makes the executions of a session; `turn` lets one in at a time into the session's Python. */
export const make: (
  link: SessionLink,
  turn: Semaphore.Semaphore,
  executor: SqlExecutor["Service"] | undefined
) => Effect.Effect<SessionExecutions, never, Scope.Scope> = Effect.fnUntraced(function* (link, turn, executor) {
  const limits = yield* SessionLimits
  const scope = yield* Scope.Scope
  const sql = executor === undefined ? undefined : yield* executor.open
  const running = new Set<Running>()
  const calls = yield* Queue.sliding<Call>(1)

  const conclude = (execution: Running, exit: Effect.Effect<void, SandboxError>): void => {
    running.delete(execution)
    execution.abandon()
    Deferred.doneUnsafe(execution.ended, exit)
  }

  /** What a supervisor says of how it ended; what was stopped did not fail. */
  const outcomeOf = (execution: Running, told: ExecOutcome): ExecOutcome =>
    told === "completed" ? told : (execution.stop ?? told)

  const take = (execution: Running, { payload, report }: Frame): Taken => {
    const { events } = execution
    const allowed = (taken: boolean): Taken => (taken ? "continues" : "breach")
    switch (report.event) {
      case "started":
        return allowed(events.started())
      case "output":
        return allowed(events.output(report, payload))
      case "rich":
        return allowed(events.rich({ payload, report }))
      case "error":
        return allowed(events.error(report))
      case "restarted":
        return allowed(events.restarted(report.state_lost))
      case "data":
        execution.tableBytes += payload.length
        if (execution.tableBytes <= limits.tableBytes) execution.tables.push(payload)
        else execution.tables.take()
        return "continues"
      case "call": {
        const tooMuch = execution.tableBytes > limits.tableBytes
        const tables = tooMuch ? undefined : tablesOf(execution.tables.take(), report.tables)
        execution.tableBytes = 0
        if (tables === undefined && !tooMuch) return "breach"
        execution.abandon()
        const abandoned = Deferred.makeUnsafe<void>()
        execution.abandon = () => void Deferred.doneUnsafe(abandoned, Effect.void)
        Queue.offerUnsafe(calls, {
          execution,
          number: report.call,
          statement: lossy(payload),
          tables,
          abandoned
        })
        return "continues"
      }
      case "finished":
        if (!events.finish(outcomeOf(execution, report.outcome), report)) return "breach"
        conclude(execution, Effect.void)
        return "over"
      case "failed":
        conclude(execution, Effect.fail(refused(report)))
        return "over"
      default:
        return "breach"
    }
  }

  /** The sandbox's processes went away under it, and others are there; or the session is over. */
  const orphaned = (execution: Running, over: SandboxError | undefined): void => {
    if (over !== undefined) return conclude(execution, Effect.fail(over))
    const { events, stop } = execution
    events.started()
    if (stop === undefined) {
      events.error({ name: "InterpreterEnded", message: "the sandbox's processes ended", traceback: [] })
    }
    events.restarted(true)
    events.finish(stop ?? "failed", { ...unknownEnd, exit_code: killed })
    conclude(execution, Effect.void)
  }

  /** Answers a call, unless the execution waits for it no more. */
  const answer = Effect.fnUntraced(function* ({ abandoned, execution, number, statement, tables }: Call) {
    if (!link.isOpen(execution.id)) return
    const query =
      sql === undefined
        ? Effect.fail(failure("unavailable", "this deployment has no SQL for sandboxes"))
        : tables === undefined
          ? Effect.fail(failure("exhausted", `the tables are larger than ${limits.tableBytes} bytes`))
          : sql.query(statement, tables)
    const answered = yield* query.pipe(
      Effect.map((content) => ({ content })),
      Effect.catchTag("SandboxError", ({ message }) => Effect.succeed({ content: nothing, error: inWords(message) })),
      // Whoever answers goes on to the next call, whatever an executor does.
      Effect.catchDefect((defect) =>
        Effect.as(Effect.logError("SQL of a sandbox failed unexpectedly", defect), {
          content: nothing,
          error: "the query failed unexpectedly"
        })
      ),
      Effect.raceFirst(Effect.as(Deferred.await(abandoned), undefined))
    )
    if (answered === undefined) return
    const { content, ...error } = answered
    // The next one waits until this one has gone out: answers that nobody reads do not pile up here.
    yield* link.answer(execution.id, { op: "answer", call: number, ...error, bytes: content.length }, content)
  })

  /** Ends what runs, whatever it takes. */
  const force = Effect.fnUntraced(function* (execution: Running) {
    const end = Effect.exit(Deferred.await(execution.ended))
    link.send({ op: "interrupt", target: execution.id }, nothing, ignored)
    if (Option.isSome(yield* Effect.timeoutOption(end, limits.grace))) return
    if (execution.request.within === "session") link.send({ op: "restart" }, nothing, ignored)
    else link.send({ op: "kill", target: execution.id }, nothing, ignored)
    if (Option.isSome(yield* Effect.timeoutOption(end, limits.patience))) return
    yield* link.replace
  })

  /** Stops what runs and waits for its end. The first reason is the one that is told. */
  const stop = (execution: Running, why: "interrupted" | "timed_out"): Effect.Effect<void> =>
    Effect.gen(function* () {
      if (execution.stop === undefined) {
        execution.stop = why
        // On its own, so that it is carried out even if whoever asked for it leaves.
        yield* Effect.forkIn(force(execution), scope, { startImmediately: true })
      }
      yield* Effect.exit(Deferred.await(execution.ended))
    })

  const begin = (request: ExecRequest, queue: Events): Running => {
    const execution: Running = {
      request,
      events: new ExecutionEvents(limits, (event) => void Queue.offerUnsafe(queue, event)),
      ended: Deferred.makeUnsafe(),
      id: 0,
      stop: undefined,
      tables: new Pieces(),
      tableBytes: 0,
      abandon: () => {}
    }
    running.add(execution)
    const code = utf8.encode(request.code)
    execution.id = link.send(
      {
        op: "execute",
        language: request.language,
        within: request.within,
        environment: request.environment ?? {},
        outputBytes: limits.outputBytes,
        bytes: code.length
      },
      code,
      { take: (frame) => take(execution, frame), orphaned: (over) => orphaned(execution, over) }
    )
    return execution
  }

  const run = Effect.fnUntraced(function* (request: ExecRequest, queue: Events) {
    yield* link.check
    const execution = begin(request, queue)
    // Ends with the execution.
    yield* Effect.forkChild(Effect.delay(stop(execution, "timed_out"), request.timeout))
    yield* Effect.onInterrupt(Deferred.await(execution.ended), () => stop(execution, "interrupted"))
  })

  // One at a time: a program waits for each.
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(calls), answer)))

  return {
    exec: (request) =>
      Stream.callback<ExecEvent, SandboxError>((queue) => {
        if (request.within === "session" && request.language !== "python") {
          return Effect.fail(failure("invalid", "the session itself runs Python; bash runs in a process of its own"))
        }
        const work = run(request, queue)
        return Effect.andThen(request.within === "session" ? turn.withPermits(1)(work) : work, Queue.end(queue))
      }),
    interrupt: Effect.andThen(
      link.check,
      Effect.suspend(() => {
        const stopped = [...running]
        return Effect.as(
          Effect.forEach(stopped, (execution) => stop(execution, "interrupted"), {
            concurrency: "unbounded",
            discard: true
          }),
          stopped.length > 0
        )
      })
    )
  }
})
