/**
 * The supervisor of an embedded session: a part of the host, which keeps the files, has the interpreter and the shell
 * as child processes, and speaks to the engine of sessions by the protocol that supervisors speak.
 *
 * It is trusted, and its children are not. So file commands are answered at once and truly, whatever runs; and an
 * interpreter that does not stop is killed from outside and another started, with the files as they were when the last
 * execution ended: those of an execution that is killed are lost with it.
 */
import type { SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import type * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { Order, protocolVersion } from "../../protocol/Command.ts"
import type { Report, ReportedEntry } from "../../protocol/Report.ts"
import type { SandboxProcess } from "../../session/SandboxProcess.ts"
import { lost } from "../../session/SessionFailure.ts"
import type { ChildEnded } from "./ChildEnded.ts"
import { encodeFrame, FrameReader } from "./deno/Frames.ts"
import { pieceBytes, split } from "./deno/Wire.ts"
import type { DenoChild, Told } from "./DenoChild.ts"
import { ExecutionIntake } from "./ExecutionIntake.ts"
import type { Change, Copy, FileRefusal, HostFiles } from "./HostFiles.ts"

/** How the children of a session are started, and what it may hold. */
export interface SupervisorOptions {
  readonly interpreter: Effect.Effect<DenoChild, SandboxError, Scope.Scope>
  readonly shell: Effect.Effect<DenoChild, SandboxError, Scope.Scope>
  /** The version of Python, and what can be imported beside the standard library. */
  readonly python: string
  readonly packages: ReadonlyArray<string>
  /** How long a program in a fresh process has to end once it was interrupted. */
  readonly grace: Duration.Duration
  /** How long a shell that has nothing to do is kept. */
  readonly shellIdle: Duration.Input
}

type Execute = Extract<Order, { readonly op: "execute" }>
type Dataframes = Extract<Report, { readonly event: "finished" }>["dataframes"]

/** What names a command and its answers. */
interface Mark {
  readonly id: number
  readonly nonce: string
}

/** A child with the files that it has. */
interface Place {
  readonly child: DenoChild
  readonly scope: Scope.Closeable
  copy: Copy
}

/** An execution that goes on. */
interface Running {
  /** Whether it was asked to stop. */
  stopped: boolean
  /** Where it runs, once it does. */
  child: DenoChild | undefined
  readonly inSession: boolean
}

const Numbered = Schema.Struct({ id: Schema.Int, nonce: Schema.String })
const readOrder = Schema.decodeUnknownSync(Order)
const readMark = Schema.decodeUnknownSync(Numbered)

interface Command {
  readonly mark: Mark
  readonly order: Order
  readonly bytes: number
}

const parseCommand = (line: string): Command => {
  const said: unknown = JSON.parse(line)
  const order = readOrder(said)
  return { mark: readMark(said), order, bytes: "bytes" in order ? order.bytes : 0 }
}

const nothing = new Uint8Array(0)
/** The host's own commands are as large as the files that they carry. */
const limits = { line: 16 * 1024 * 1024, payload: 2 ** 31 }
const entriesAtOnce = 500
/** The exit code of what was killed, as a shell tells it. */
const killed = 137
/** Frames that wait for the engine to take them, each of some megabytes at most. */
const waiting = 4
/** Files that are told of one execution, and characters of their names together, so that they fit into a frame. */
const toldFiles = 1_000
const toldNames = 128 * 1024
/** Characters of the entries' names in one frame. */
const namesAtOnce = 64 * 1024

/** The files to tell of an execution: those that it made or changed, as far as they fit. */
const filesTold = (
  changes: ReadonlyArray<Change>
): { readonly files: ReadonlyArray<string>; readonly more: boolean } => {
  const all = changes
    .filter(({ kind, path }) => kind === "file" && !/^(library|uploads)\//.test(path))
    .map(({ path }) => path)
    .toSorted()
  let names = 0
  const files = all.slice(0, toldFiles).filter(({ length }) => {
    if (names + length > toldNames) return false
    names += length
    return true
  })
  return { files, more: files.length < all.length }
}

/** Starts the supervisor of a session over its files, with an interpreter. */
export const start: (
  options: SupervisorOptions,
  files: HostFiles,
  nonce: string
) => Effect.Effect<Omit<SandboxProcess, "replaceInterpreter">, SandboxError, Scope.Scope> = Effect.fnUntraced(
  function* (options, files, nonce) {
    const scope = yield* Scope.Scope
    const work = yield* FiberSet.make<void, never>()
    const output = yield* Queue.bounded<Uint8Array, SandboxError | Cause.Done>(waiting)
    yield* Scope.addFinalizer(scope, Queue.fail(output, lost))
    const kernelTurn = yield* Semaphore.make(1)
    const shellTurn = yield* Semaphore.make(1)
    const running = new Map<number, Running>()
    let kernel: Place | undefined
    let shell: Place | undefined
    let shellUses = 0
    let dataframes: Dataframes = []
    let stateLost = false

    const report = (head: Readonly<Record<string, unknown>>, payload: Uint8Array = nothing): Effect.Effect<void> =>
      Effect.asVoid(Queue.offer(output, encodeFrame(head, payload)))
    const done = (mark: Mark, more: Readonly<Record<string, unknown>> = {}) =>
      report({ event: "done", ...mark, ...more })
    const refused = (mark: Mark, { message, reason }: FileRefusal) =>
      report({ event: "failed", ...mark, reason, message })

    // Children

    const launch = Effect.fnUntraced(function* (child: SupervisorOptions["interpreter"]) {
      const within = yield* Scope.fork(scope)
      const started = yield* Scope.provide(child, within).pipe(Effect.onError(() => Scope.close(within, Exit.void)))
      const place: Place = { child: started, scope: within, copy: new Map() }
      return place
    })
    const close = (place: Place | undefined): Effect.Effect<void> =>
      place === undefined ? Effect.void : Scope.close(place.scope, Exit.void)

    /** Gives a child the files that it lacks. */
    const follow = Effect.fnUntraced(function* (place: Place) {
      const { contents, edits } = files.editsFor(place.copy)
      if (edits.length === 0) return
      place.copy = files.copy
      yield* place.child.tell({ op: "files", edits }, contents)
    })

    /** The interpreter of the session, another where it has gone. */
    const interpreter = Effect.suspend(() => {
      if (kernel !== undefined && kernel.child.running()) return Effect.succeed(kernel)
      const had = kernel !== undefined
      return close(kernel).pipe(
        Effect.andThen(launch(options.interpreter)),
        Effect.tap((place) =>
          Effect.sync(() => {
            kernel = place
            dataframes = []
            stateLost ||= had
          })
        )
      )
    })

    const shellPlace = Effect.suspend(() => {
      if (shell !== undefined && shell.child.running()) return Effect.succeed(shell)
      return close(shell).pipe(
        Effect.andThen(launch(options.shell)),
        Effect.tap((place) =>
          Effect.sync(() => {
            shell = place
          })
        )
      )
    })

    /** Lets the shell go once nobody needed it for a while. */
    const leaveShell = Effect.suspend(() => {
      const use = ++shellUses
      return Effect.sleep(options.shellIdle).pipe(
        Effect.andThen(
          shellTurn.withPermits(1)(Effect.suspend(() => (use === shellUses ? close(shell) : Effect.void)))
        ),
        FiberSet.run(work),
        Effect.asVoid
      )
    })

    // Executions

    const errorOf = ({ detail, reason }: ChildEnded) =>
      reason === "memory"
        ? { name: "MemoryError", message: "the session used more memory than it may, and was ended" }
        : reason === "breach"
          ? { name: "ProtocolViolation", message: "the program wrote to the channel of its interpreter" }
          : {
              name: "InterpreterEnded",
              message: `the session's Python ended${/fatal/i.test(detail) ? " by a fatal error" : ""}`
            }

    /** Runs a program in a child, and hears it to its end. */
    const runIn = Effect.fnUntraced(function* (
      place: Place,
      mark: Mark,
      order: Execute,
      code: Uint8Array,
      run: Running
    ) {
      yield* follow(place)
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
      if (Result.isSuccess(applied) && changes.length > 0) {
        // What the host wrote in the meantime, the child has not; what the child wrote, it has.
        const copy = new Map(place.copy)
        const now = files.copy
        for (const { path } of changes) {
          const entry = now.get(path)
          if (entry === undefined) copy.delete(path)
          else copy.set(path, entry)
        }
        place.copy = copy
      }
      return { ending, applied, changes }
    })

    const finish = (mark: Mark, more: Readonly<Record<string, unknown>>): Effect.Effect<void> =>
      report({ event: "finished", ...mark, files: [], dataframes: [], dropped_bytes: 0, ...more })

    /** Another interpreter for one that is gone, told to the execution that it went with. */
    const startAnew = Effect.fnUntraced(function* (mark: Mark) {
      yield* interpreter
      stateLost = false
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
      if (run.inSession && stateLost) {
        stateLost = false
        yield* report({ event: "restarted", ...mark, state_lost: true })
      }
      const exit = yield* Effect.result(runIn(where, mark, order, code, run))
      if (Result.isSuccess(exit)) {
        const { applied, changes, ending } = exit.success
        const all = ending.dataframes
        if (run.inSession) dataframes = all
        if (Result.isFailure(applied)) {
          yield* report({ event: "error", ...mark, name: "OSError", message: applied.failure.message, traceback: [] })
          // What it has is no longer what the host has.
          yield* close(where)
          if (run.inSession) yield* startAnew(mark)
        }
        const told = filesTold(Result.isSuccess(applied) ? changes : [])
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

    const begin = (mark: Mark, order: Execute, code: Uint8Array): Effect.Effect<void, SandboxError> => {
      const inSession = order.language === "python" && order.within === "session"
      const run: Running = { stopped: false, child: undefined, inSession }
      running.set(mark.id, run)
      const over = Effect.sync(() => running.delete(mark.id))
      if (inSession) {
        return kernelTurn
          .withPermits(1)(execute(mark, order, code, run, interpreter))
          .pipe(Effect.ensuring(over))
      }
      if (order.language === "bash") {
        return shellTurn
          .withPermits(1)(execute(mark, order, code, run, shellPlace))
          .pipe(Effect.ensuring(over), Effect.andThen(leaveShell))
      }
      return Effect.acquireUseRelease(
        launch(options.interpreter),
        (place) => execute(mark, order, code, run, Effect.succeed(place)),
        close
      ).pipe(Effect.ensuring(over))
    }

    /** Kills what runs a command's program. Completes when that is gone. */
    const kill = (run: Running | undefined): Effect.Effect<void> => {
      if (run === undefined) return Effect.void
      run.stopped = true
      return run.child === undefined ? Effect.void : run.child.kill
    }

    const interrupt = Effect.fnUntraced(function* (target: number) {
      const run = running.get(target)
      if (run === undefined) return
      run.stopped = true
      if (run.child === undefined) return
      yield* run.child.tell({ op: "interrupt", id: target })
      // A fresh process has nothing that is worth to be waited for longer.
      if (run.inSession) return
      yield* Effect.sleep(options.grace).pipe(
        Effect.andThen(Effect.suspend(() => (running.get(target) === run ? kill(run) : Effect.void))),
        FiberSet.run(work)
      )
    })

    const restart = Effect.gen(function* () {
      const executing = [...running.values()].find(({ inSession }) => inSession)
      yield* kill(executing)
      if (executing === undefined && kernel !== undefined) yield* kernel.child.kill
      yield* kernelTurn.withPermits(1)(interpreter)
    })

    // Dataframes

    const withKernel = (mark: Mark, order: Extract<Order, { readonly op: "bind" | "export" }>, payload: Uint8Array) =>
      kernelTurn.withPermits(1)(
        Effect.gen(function* () {
          const { child } = yield* interpreter
          const { name, op } = order
          const take = Effect.fnUntraced(function* ({ head, payload: content }: Told) {
            if (head.event === "data") {
              yield* report({ event: "data", ...mark }, content)
              return "more"
            }
            if (head.event === "failed") yield* refused(mark, head)
            else if (head.event !== "done") return "breach"
            else {
              if (head.dataframes !== undefined) dataframes = head.dataframes
              yield* done(mark, head.dataframe === undefined ? {} : { dataframe: head.dataframe })
            }
            return "last"
          })
          yield* child
            .ask({ op, ...mark, name }, payload, { ...mark, take })
            .pipe(
              Effect.catchTag("ChildEnded", () =>
                Effect.andThen(
                  interpreter,
                  refused(mark, { reason: "exhausted", message: "the session's Python had to be started anew" })
                )
              )
            )
        })
      )

    // Files

    const answer = (mark: Mark, went: Result.Result<void, FileRefusal>): Effect.Effect<void> =>
      Result.isSuccess(went) ? done(mark) : refused(mark, went.failure)

    const entries = Effect.fnUntraced(function* (
      mark: Mark,
      found: Result.Result<ReadonlyArray<typeof ReportedEntry.Type>, FileRefusal>
    ) {
      if (Result.isFailure(found)) return yield* refused(mark, found.failure)
      let batch: Array<typeof ReportedEntry.Type> = []
      let names = 0
      for (const entry of found.success) {
        if (batch.length === entriesAtOnce || (batch.length > 0 && names + entry.path.length > namesAtOnce)) {
          yield* report({ event: "entries", ...mark, entries: batch })
          batch = []
          names = 0
        }
        batch.push(entry)
        names += entry.path.length
      }
      if (batch.length > 0) yield* report({ event: "entries", ...mark, entries: batch })
      yield* done(mark)
    })

    const get = Effect.fnUntraced(function* (mark: Mark, path: string) {
      const found = files.get(path)
      if (Result.isFailure(found)) return yield* refused(mark, found.failure)
      for (let at = 0; at < found.success.length; at += pieceBytes) {
        yield* report({ event: "data", ...mark }, found.success.subarray(at, at + pieceBytes))
      }
      yield* done(mark)
    })

    const carryOut = (mark: Mark, order: Order, payload: Uint8Array): Effect.Effect<void, SandboxError> => {
      switch (order.op) {
        case "execute":
          return begin(mark, order, payload)
        case "interrupt":
          return Effect.andThen(interrupt(order.target), done(mark))
        case "kill":
          return Effect.andThen(kill(running.get(order.target)), done(mark))
        case "restart":
          return Effect.andThen(restart, done(mark))
        case "bind":
        case "export":
          return withKernel(mark, order, payload)
        case "put":
          return answer(mark, files.put(order.path, payload))
        case "get":
          return get(mark, order.path)
        case "list":
          return entries(mark, files.list(order.path))
        case "remove":
          return answer(mark, files.remove(order.path))
        case "mount": {
          const contents = [...split(payload, order.files)]
          const mounted = order.files.map(({ path }, index) => ({ path, content: contents[index] ?? nothing }))
          return answer(mark, files.mount(order.path, mounted))
        }
        case "tree":
          return entries(mark, files.tree(order.path, order.maximumEntries))
        case "usage":
          return done(mark, { dataframes })
        case "answer": {
          const { call, error } = order
          const child = running.get(mark.id)?.child
          if (child === undefined) return Effect.void
          return child.tell({ op: "answer", call, ...(error === undefined ? {} : { error }) }, [payload])
        }
      }
    }

    const reader = new FrameReader(limits, parseCommand)
    const send = (bytes: Uint8Array): Effect.Effect<void, SandboxError> =>
      Effect.forEach(
        reader.push(bytes),
        ({ head: { mark, order }, payload }) =>
          carryOut(mark, order, payload).pipe(
            // An interpreter that cannot be started ends the session.
            Effect.catchTag("SandboxError", () => Queue.fail(output, lost)),
            Effect.asVoid,
            FiberSet.run(work, { startImmediately: true })
          ),
        { discard: true }
      )

    yield* interpreter
    const { packages, python } = options
    yield* report({ event: "ready", nonce, protocol: protocolVersion, python, packages })
    return {
      send: (bytes) => Effect.suspend(() => (scope.state._tag === "Closed" ? Effect.fail(lost) : send(bytes))),
      output: Stream.fromQueue(output),
      memoryBytes: Effect.suspend(() =>
        Effect.forEach([kernel, shell], (place) => place?.child.memoryBytes ?? Effect.succeed(undefined))
      ).pipe(Effect.map((all) => all.reduce((sum = 0, bytes) => (bytes === undefined ? sum : sum + bytes), undefined)))
    }
  }
)
