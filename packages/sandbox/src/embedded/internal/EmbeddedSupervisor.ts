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
import * as FiberSet from "effect/FiberSet"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Order, protocolVersion } from "../../protocol/Command.ts"
import type { SandboxProcess } from "../../session/SandboxProcess.ts"
import { lost } from "../../session/SessionFailure.ts"
import { FrameReader } from "./deno/Frames.ts"
import { split } from "./deno/Wire.ts"
import type { Told } from "./DenoChild.ts"
import * as Executions from "./Executions.ts"
import * as FileAnswers from "./FileAnswers.ts"
import type { HostFiles } from "./HostFiles.ts"
import { launch, type Start } from "./Place.ts"
import * as Reports from "./Reports.ts"
import * as SessionInterpreter from "./SessionInterpreter.ts"
import * as SessionShell from "./SessionShell.ts"

/** How the children of a session are started, and what it may hold. */
export interface SupervisorOptions {
  readonly interpreter: Start
  readonly shell: Start
  /** The version of Python, and what can be imported beside the standard library. */
  readonly python: string
  readonly packages: ReadonlyArray<string>
  /** How long a program in a fresh process has to end once it was interrupted. */
  readonly grace: Duration.Duration
  /** How long a shell that has nothing to do is kept. */
  readonly shellIdle: Duration.Input
}

const Numbered = Schema.Struct({ id: Schema.Int, nonce: Schema.String })
const readOrder = Schema.decodeUnknownSync(Order)
const readMark = Schema.decodeUnknownSync(Numbered)

interface Command {
  readonly mark: Reports.Mark
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
/** Frames that wait for the engine to take them, each of some megabytes at most. */
const waiting = 4

/** Has the interpreter take a dataframe in, or give one out, when nothing else runs in it. */
const exchange = Effect.fnUntraced(function* (
  interpreter: SessionInterpreter.SessionInterpreter,
  { done, refused, report }: Reports.Reports,
  mark: Reports.Mark,
  { name, op }: Extract<Order, { readonly op: "bind" | "export" }>,
  payload: Uint8Array
) {
  const { child } = yield* interpreter.place
  const take = Effect.fnUntraced(function* ({ head, payload: content }: Told) {
    if (head.event === "data") {
      yield* report({ event: "data", ...mark }, content)
      return "more"
    }
    if (head.event === "failed") yield* refused(mark, head)
    else if (head.event !== "done") return "breach"
    else {
      if (head.dataframes !== undefined) interpreter.dataframes = head.dataframes
      yield* done(mark, head.dataframe === undefined ? {} : { dataframe: head.dataframe })
    }
    return "last"
  })
  yield* child
    .ask({ op, ...mark, name }, payload, { ...mark, take })
    .pipe(
      Effect.catchTag("ChildEnded", () =>
        Effect.andThen(
          interpreter.place,
          refused(mark, { reason: "exhausted", message: "the session's Python had to be started anew" })
        )
      )
    )
})

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
    const reports = Reports.into(output)
    const { done, report } = reports
    const interpreter = yield* SessionInterpreter.make(options.interpreter, scope)
    const shell = yield* SessionShell.make(options.shell, scope, work, options.shellIdle)
    const executions = Executions.make({
      interpreter,
      shell,
      freshInterpreter: launch(options.interpreter, scope),
      files,
      reports,
      work,
      grace: options.grace
    })

    const carryOut = (mark: Reports.Mark, order: Order, payload: Uint8Array): Effect.Effect<void, SandboxError> => {
      switch (order.op) {
        case "execute":
          return executions.begin(mark, order, payload)
        case "interrupt":
          return Effect.andThen(executions.interrupt(order.target), done(mark))
        case "kill":
          return Effect.andThen(executions.kill(order.target), done(mark))
        case "restart":
          return Effect.andThen(executions.restart, done(mark))
        case "bind":
        case "export":
          return interpreter.turn.withPermits(1)(exchange(interpreter, reports, mark, order, payload))
        case "put":
          return FileAnswers.answer(reports, mark, files.put(order.path, payload))
        case "get":
          return FileAnswers.content(reports, mark, files.get(order.path))
        case "list":
          return FileAnswers.entries(reports, mark, files.list(order.path))
        case "remove":
          return FileAnswers.answer(reports, mark, files.remove(order.path))
        case "mount": {
          const contents = [...split(payload, order.files)]
          const mounted = order.files.map(({ path }, index) => ({ path, content: contents[index] ?? nothing }))
          return FileAnswers.answer(reports, mark, files.mount(order.path, mounted))
        }
        case "tree":
          return FileAnswers.entries(reports, mark, files.tree(order.path, order.maximumEntries))
        case "usage":
          return done(mark, { dataframes: interpreter.dataframes })
        case "answer": {
          const { call, error } = order
          const child = executions.childOf(mark.id)
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

    yield* interpreter.place
    const { packages, python } = options
    yield* report({ event: "ready", nonce, protocol: protocolVersion, python, packages })
    return {
      send: (bytes) => Effect.suspend(() => (scope.state._tag === "Closed" ? Effect.fail(lost) : send(bytes))),
      output: Stream.fromQueue(output),
      memoryBytes: Effect.suspend(() =>
        Effect.forEach(
          [interpreter.current(), shell.current()],
          (place) => place?.child.memoryBytes ?? Effect.succeed(undefined)
        )
      ).pipe(Effect.map((all) => all.reduce((sum = 0, bytes) => (bytes === undefined ? sum : sum + bytes), undefined)))
    }
  }
)
