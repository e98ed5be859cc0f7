/**
 * The executions of an embedded session: in its interpreter, in its shell, or each in an interpreter of its own.
 *
 * One that does not stop is killed from outside with the child that it runs in, and another child is started, with the
 * files as they were when the last execution ended.
 */
import type { SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Result from "effect/Result"
import type { Order } from "../../protocol/Command.ts"
import type { ChildEnded } from "./ChildEnded.ts"
import type { DenoChild, Told } from "./DenoChild.ts"
import { ExecutionIntake } from "./ExecutionIntake.ts"
import type { HostFiles } from "./HostFiles.ts"
import { close, follow, noteChanges, type Place } from "./Place.ts"
import type { Mark, Reports } from "./Reports.ts"
import type { SessionInterpreter } from "./SessionInterpreter.ts"
import type { SessionShell } from "./SessionShell.ts"
import { toldFiles } from "./ToldFiles.ts"

type Execute = Extract<Order, { readonly op: "execute" }>

/** An execution that goes on. */
interface Running {
  /** Whether it was asked to stop. */
  stopped: boolean
  /** Where it runs, once it does. */
  child: DenoChild | undefined
  readonly inSession: boolean
}

/** What executions need of their session. */
export interface ExecutionsOptions {
  readonly interpreter: SessionInterpreter
  readonly shell: SessionShell
  /** Starts an interpreter beside the session's. */
  readonly freshInterpreter: Effect.Effect<Place, SandboxError>
  readonly files: HostFiles
  readonly reports: Reports
  /** What goes on without being waited for. */
  readonly work: FiberSet.FiberSet<void>
  /** How long a program in a fresh process has to end once it was interrupted. */
  readonly grace: Duration.Duration
}

/** The executions of a session. */
export interface Executions {
  /** Runs a program to its end, and tells of it. Fails where no child can be started. */
  readonly begin: (mark: Mark, order: Execute, code: Uint8Array) => Effect.Effect<void, SandboxError>
  /** Asks the program of an execution to stop; completes at once. */
  readonly interrupt: (target: number) => Effect.Effect<void>
  /** Kills what runs the program of an execution; completes when that is gone. */
  readonly kill: (target: number) => Effect.Effect<void>
  /** Starts the session's interpreter anew, whatever runs in it. */
  readonly restart: Effect.Effect<void, SandboxError>
  /** Where an execution runs, while it does. */
  readonly childOf: (id: number) => DenoChild | undefined
}

/** The exit code of what was killed, as a shell tells it. */
const killed = 137

const errorOf = ({ detail, reason }: ChildEnded) =>
  reason === "memory"
    ? { name: "MemoryError", message: "the session used more memory than it may, and was ended" }
    : reason === "breach"
      ? { name: "ProtocolViolation", message: "the program wrote to the channel of its interpreter" }
      : {
          name: "InterpreterEnded",
          message: `the session's Python ended${/fatal/i.test(detail) ? " by a fatal error" : ""}`
        }

/** Executions of a session; none goes on yet. */
export const make = ({
  files,
  freshInterpreter,
  grace,
  interpreter,
  reports: { report },
  shell,
  work
}: ExecutionsOptions): Executions => {
  const running = new Map<number, Running>()

  /** Runs a program in a child, and hears it to its end. */
  const runIn = Effect.fnUntraced(function* (place: Place, mark: Mark, order: Execute, code: Uint8Array, run: Running) {
    yield* follow(place, files)
    const intake = new ExecutionIntake(order.outputBytes, files.limits, files.room)
    const take = Effect.fnUntraced(function* (told: Told) {
      const taken = intake.take(told)
      if (taken === "pass") {
        yield* report(told.head, told.payload)
        return "more"
      }
      return taken
    })
    run.child = place.child
    if (run.stopped) yield* place.child.tell({ op: "interrupt", id: mark.id })
    const { environment, outputBytes, within } = order
    yield* place.child
      .ask({ op: "execute", ...mark, within, environment, outputBytes }, code, { ...mark, take })
      .pipe(Effect.ensuring(Effect.sync(() => intake.release())))
    const { changes, ending, refusal } = intake
    const applied = refusal === undefined ? files.apply(changes) : Result.fail(refusal)
    if (Result.isSuccess(applied)) noteChanges(place, files, changes)
    return { ending, applied, changes }
  })

  const finish = (mark: Mark, more: Readonly<Record<string, unknown>>): Effect.Effect<void> =>
    report({ event: "finished", ...mark, files: [], dataframes: [], dropped_bytes: 0, ...more })

  /** Another interpreter for one that is gone, told to the execution that it went with. */
  const startAnew = Effect.fnUntraced(function* (mark: Mark) {
    yield* interpreter.place
    interpreter.takeStateLost()
    yield* report({ event: "restarted", ...mark, state_lost: true })
  })

  const execute = Effect.fnUntraced(function* (
    mark: Mark,
    order: Execute,
    code: Uint8Array,
    run: Running,
    place: Effect.Effect<Place, SandboxError>
  ) {
    const where = yield* place
    yield* report({ event: "started", ...mark })
    if (run.inSession && interpreter.takeStateLost()) {
      yield* report({ event: "restarted", ...mark, state_lost: true })
    }
    const exit = yield* Effect.result(runIn(where, mark, order, code, run))
    if (Result.isSuccess(exit)) {
      const { applied, changes, ending } = exit.success
      const all = ending.dataframes
      if (run.inSession) interpreter.dataframes = all
      if (Result.isFailure(applied)) {
        yield* report({ event: "error", ...mark, name: "OSError", message: applied.failure.message, traceback: [] })
        // What it has is no longer what the host has.
        yield* close(where)
        if (run.inSession) yield* startAnew(mark)
      }
      const told = toldFiles(Result.isSuccess(applied) ? changes : [])
      if (told.more) {
        const note = new TextEncoder().encode("[more files were changed than are listed]\n")
        yield* report({ event: "output", ...mark, stream: "stderr" }, note)
      }
      return yield* finish(mark, {
        outcome: Result.isSuccess(applied) ? ending.outcome : "failed",
        exit_code: Result.isSuccess(applied) ? ending.exit_code : ending.exit_code || 1,
        files: told.files,
        dataframes: all.filter(({ name }) => ending.changed.includes(name)),
        dropped_bytes: ending.dropped_bytes
      })
    }
    // The child is gone, and with it what the program wrote.
    const ended = exit.failure
    const stopped = run.stopped && ended.reason === "killed"
    if (!stopped) yield* report({ event: "error", ...mark, ...errorOf(ended), traceback: [] })
    if (run.inSession) yield* startAnew(mark)
    const exit_code = ended.reason === "ended" ? ended.exitCode || 1 : killed
    return yield* finish(mark, { outcome: stopped ? "interrupted" : "failed", exit_code })
  })

  const stop = (run: Running | undefined): Effect.Effect<void> => {
    if (run === undefined) return Effect.void
    run.stopped = true
    return run.child === undefined ? Effect.void : run.child.kill
  }

  return {
    begin: (mark, order, code) => {
      const inSession = order.language === "python" && order.within === "session"
      const run: Running = { stopped: false, child: undefined, inSession }
      running.set(mark.id, run)
      const over = Effect.sync(() => running.delete(mark.id))
      if (inSession) {
        return interpreter.turn
          .withPermits(1)(execute(mark, order, code, run, interpreter.place))
          .pipe(Effect.ensuring(over))
      }
      if (order.language === "bash") {
        return shell.turn
          .withPermits(1)(execute(mark, order, code, run, shell.place))
          .pipe(Effect.ensuring(over), Effect.andThen(shell.leave))
      }
      return Effect.acquireUseRelease(
        freshInterpreter,
        (place) => execute(mark, order, code, run, Effect.succeed(place)),
        close
      ).pipe(Effect.ensuring(over))
    },
    interrupt: Effect.fnUntraced(function* (target) {
      const run = running.get(target)
      if (run === undefined) return
      run.stopped = true
      if (run.child === undefined) return
      yield* run.child.tell({ op: "interrupt", id: target })
      // A fresh process has nothing that is worth to be waited for longer.
      if (run.inSession) return
      yield* Effect.sleep(grace).pipe(
        Effect.andThen(Effect.suspend(() => (running.get(target) === run ? stop(run) : Effect.void))),
        FiberSet.run(work)
      )
    }),
    kill: (target) => Effect.suspend(() => stop(running.get(target))),
    restart: Effect.gen(function* () {
      const executing = [...running.values()].find(({ inSession }) => inSession)
      yield* stop(executing)
      const place = interpreter.current()
      if (executing === undefined && place !== undefined) yield* place.child.kill
      yield* interpreter.turn.withPermits(1)(interpreter.place)
    }),
    childOf: (id) => running.get(id)?.child
  }
}
