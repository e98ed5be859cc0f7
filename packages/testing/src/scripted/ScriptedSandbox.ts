/**
 * Sandboxes in memory: for tests of whatever stands on the `SandboxRuntime` port, without a process.
 *
 * A session keeps variables, dataframes and files, and understands as much of Python and of a shell as tests need to
 * see what becomes of them: assignments and `print`, `raise`, files that are written, a program that never ends, one
 * that takes the interpreter down; `echo`, `cat`, `exit`. Anything else is a syntax error. A test can teach it more,
 * lose a session, and wait until something runs.
 */
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import {
  type Dataframe,
  type ExecRequest,
  ExecEvent,
  lacking,
  LibraryEdit,
  type LibraryFile,
  SandboxError,
  SandboxRuntime,
  type SandboxCapabilities,
  type SandboxEntry,
  type SandboxSession,
  type SandboxSpec
} from "@castellan/core/sandcastle/SandboxRuntime"
import type { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import type { SandboxPath } from "@castellan/core/sandcastle/SandboxPath"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"

/** What a session is taught beyond its statements: the events between `Started` and `Finished`, or nothing. */
export type TaughtEvents = (request: ExecRequest) => ReadonlyArray<ExecEvent> | undefined

/** Something that reached a sandbox: the operation of the port, with what it was given. */
export interface Received {
  readonly operation: "open" | "rebind" | keyof SandboxSession
  readonly given: ReadonlyArray<unknown>
}

/** The test's view of scripted sandboxes. */
export class ScriptedSandbox extends Context.Service<
  ScriptedSandbox,
  {
    /** What every session was opened with, in order. */
    readonly opened: Effect.Effect<ReadonlyArray<SandboxSpec>>
    /** Everything that ever reached a sandbox through the port, in order: what sessions were opened with, and given. */
    readonly received: Effect.Effect<ReadonlyArray<Received>>
    /** The sessions that are open. */
    readonly open: Effect.Effect<ReadonlyArray<SandcastleId>>
    /** Returns as soon as this many executions are running that do not end by themselves. */
    readonly stuck: (count: number) => Effect.Effect<void>
    /** Ends a session as a crash would: it answers nothing any more. */
    readonly lose: (id: SandcastleId) => Effect.Effect<void>
  }
>()("@castellan/testing/scripted/ScriptedSandbox") {}

type PythonValue = string | number
type Stop = "interrupted" | "lost"

/** A file of a session; what a link points at is never read. */
type Held = { readonly _tag: "Bytes"; readonly content: Uint8Array } | { readonly _tag: "Link" }

interface Session {
  spec: SandboxSpec
  readonly files: Map<string, Held>
  readonly running: Set<Deferred.Deferred<Stop>>
  variables: Map<string, PythonValue>
  dataframes: Map<string, Dataframe>
  isOpen: boolean
}

const capabilities: SandboxCapabilities = {
  isolation: "none",
  statefulPython: true,
  realBash: false,
  packages: [],
  gentleInterrupt: true,
  persistent: false,
  limits: { cpu: "none", memory: "none", processes: "none", disk: "none", network: "none", time: "hard" }
}

const utf8 = new TextEncoder()

const lostSession = new SandboxError({ reason: "lost", message: "the session is gone" })
const noFile = (path: string) => new SandboxError({ reason: "not_found", message: `there is no file ${path}` })

/** What one statement comes to. */
type Effected =
  | { readonly _tag: "Events"; readonly events: ReadonlyArray<ExecEvent> }
  | { readonly _tag: "Raised"; readonly name: string; readonly message: string }
  | { readonly _tag: "Exit"; readonly code: number }
  | { readonly _tag: "Crash" }
  | { readonly _tag: "Stuck" }

const events = (...all: ReadonlyArray<ExecEvent>): Effected => ({ _tag: "Events", events: all })
const raised = (name: string, message: string): Effected => ({ _tag: "Raised", name, message })
const stdout = (text: string) => events(ExecEvent.cases.Stdout.make({ text }))

interface Pass {
  readonly session: Session
  readonly variables: Map<string, PythonValue>
  readonly environment: Readonly<Record<string, string>>
  readonly touched: Set<string>
}

const unquoted = (text: string): string | undefined => /^(["'])(.*)\1$/su.exec(text)?.[2]?.replaceAll("\\n", "\n")

const valueOf = (pass: Pass, text: string): PythonValue | undefined => {
  const quoted = unquoted(text)
  if (quoted !== undefined) return quoted
  if (/^-?\d+$/u.test(text)) return Number(text)
  const repeated = /^(["'].*["']) \* (\d+)$/su.exec(text)
  if (repeated !== null) return (unquoted(repeated[1] ?? "") ?? "").repeat(Number(repeated[2]))
  const length = /^len\((\w+)\)$/u.exec(text)?.[1]
  if (length !== undefined) return pass.session.dataframes.get(length)?.rows
  const sum = /^(\w+) \+ (\d+)$/u.exec(text)
  const left = sum === null ? undefined : pass.variables.get(sum[1] ?? "")
  return typeof left === "number" ? left + Number(sum?.[2]) : pass.variables.get(text)
}

const write = (pass: Pass, path: string, content: Held): Effected => {
  pass.session.files.set(path, content)
  pass.touched.add(path)
  return events()
}

/** One statement of Python. */
const python = (pass: Pass, line: string): Effected => {
  if (line === "") return events()
  if (line === "while True: pass") return { _tag: "Stuck" }
  if (line === "import os; os._exit(1)") return { _tag: "Crash" }
  const written = /^open\((["'].*?["']), ["']w["']\)\.write\((.*)\)$/su.exec(line)
  if (written !== null) {
    const content = String(valueOf(pass, written[2] ?? "") ?? "")
    return write(pass, unquoted(written[1] ?? "") ?? "", { _tag: "Bytes", content: utf8.encode(content) })
  }
  const linked = /^import os; os\.symlink\(["'].*?["'], (["'].*?["'])\)$/u.exec(line)?.[1]
  if (linked !== undefined) return write(pass, unquoted(linked) ?? "", { _tag: "Link" })
  const removed = /^import os; os\.remove\((["'].*?["'])\)$/u.exec(line)?.[1]
  if (removed !== undefined) {
    pass.session.files.delete(unquoted(removed) ?? "")
    return events()
  }
  const error = /^raise (\w+)\((["'].*["'])\)$/u.exec(line)
  if (error !== null) return raised(error[1] ?? "", unquoted(error[2] ?? "") ?? "")
  const printed = /^print\((.*)\)$/su.exec(line)?.[1]
  if (printed !== undefined) {
    const value = valueOf(pass, printed)
    return value === undefined ? raised("NameError", `name '${printed}' is not defined`) : stdout(`${value}\n`)
  }
  const assigned = /^([A-Za-z_]\w*) = (.*)$/su.exec(line)
  const value = assigned === null ? undefined : valueOf(pass, assigned[2] ?? "")
  if (assigned === null || value === undefined) return raised("SyntaxError", "invalid syntax")
  pass.variables.set(assigned[1] ?? "", value)
  return events()
}

/** One command of a shell. */
const bash = (pass: Pass, line: string): Effected => {
  if (line === "") return events()
  if (line === "sleep infinity") return { _tag: "Stuck" }
  const exit = /^exit (\d+)$/u.exec(line)?.[1]
  if (exit !== undefined) return { _tag: "Exit", code: Number(exit) }
  const path = /^cat (\S+)$/u.exec(line)?.[1]
  if (path !== undefined) {
    const file = pass.session.files.get(path)
    return file?._tag === "Bytes"
      ? stdout(new TextDecoder().decode(file.content))
      : events(ExecEvent.cases.Stderr.make({ text: `cat: ${path}: No such file or directory\n` }))
  }
  const echo = /^echo (.*?)( >&2)?$/su.exec(line)
  if (echo === null) return events(ExecEvent.cases.Stderr.make({ text: `${line}: command not found\n` }))
  const text = `${(echo[1] ?? "").replaceAll(/\$(\w+)/gu, (_, name: string) => pass.environment[name] ?? "")}\n`
  return echo[2] === undefined ? stdout(text) : events(ExecEvent.cases.Stderr.make({ text }))
}

/** Sandboxes in memory, and the test's view of them. */
export const layer = (
  options: {
    readonly teaches?: TaughtEvents
    readonly capabilities?: Partial<SandboxCapabilities>
    /** Why no session opens, where none does. */
    readonly unavailable?: string
    /** Bytes of memory that a dataframe is said to take; absent: nothing is said. */
    readonly dataframeBytes?: number
    /** Bytes of one file at most; there is no bound unless it is said. */
    readonly maximumFileBytes?: number
    /** Whether a session can be told whose it is once it is open. */
    readonly rebinds?: boolean
    /** What opening a session waits for. */
    readonly opensAfter?: Effect.Effect<void>
  } = {}
): Layer.Layer<ScriptedSandbox | SandboxRuntime> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const specs: Array<SandboxSpec> = []
      const received: Array<Received> = []
      const note = (operation: Received["operation"], ...given: ReadonlyArray<unknown>): void => {
        received.push({ operation, given })
      }
      const open = new Map<SandcastleId, Session>()
      const stuck = yield* SubscriptionRef.make(0)
      const offered: SandboxCapabilities = { ...capabilities, ...options.capabilities }

      const end = (session: Session, stop: Stop) =>
        Effect.forEach([...session.running], (running) => Deferred.succeed(running, stop), { discard: true })

      const lose = (session: Session) =>
        Effect.suspend(() => {
          session.isOpen = false
          if (open.get(session.spec.id) === session) open.delete(session.spec.id)
          return end(session, "lost")
        })

      /** Does something with a session that is open. */
      const within = <A>(
        session: Session,
        work: () => Effect.Effect<A, SandboxError>
      ): Effect.Effect<A, SandboxError> => Effect.suspend(() => (session.isOpen ? work() : Effect.fail(lostSession)))

      const execute = Effect.fnUntraced(function* (
        session: Session,
        request: ExecRequest,
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
          const taught = options.teaches?.(request)
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

      const sessionOf = (session: Session, turn: Semaphore.Semaphore): SandboxSession => {
        const file = (path: SandboxPath) => {
          const held = session.files.get(path)
          return held?._tag === "Bytes" ? Effect.succeed(held.content.slice()) : Effect.fail(noFile(path))
        }
        return {
          resumed: false,
          exec: (request) => {
            note("exec", request)
            return Stream.callback<ExecEvent, SandboxError>((queue) =>
              within(session, () => {
                const work = execute(session, request, (event) => Queue.offer(queue, event))
                return request.within === "session" ? turn.withPermits(1)(work) : work
              }).pipe(Effect.andThen(Queue.end(queue)))
            )
          },
          interrupt: within(session, () => Effect.as(end(session, "interrupted"), session.running.size > 0)),
          bindDataframe: (name, table: ResultTable) =>
            within(session, () => {
              note("bindDataframe", name, table)
              const frame: Dataframe = {
                name,
                rows: table.rows.length,
                columns: table.columns.length,
                ...(options.dataframeBytes === undefined ? {} : { memoryBytes: options.dataframeBytes })
              }
              session.dataframes.set(name, frame)
              return Effect.succeed(frame)
            }),
          upload: (path, content) =>
            within(session, () => {
              note("upload", path, content)
              if (content.length > (options.maximumFileBytes ?? Infinity)) {
                return Effect.fail(new SandboxError({ reason: "exhausted", message: "the disk is full" }))
              }
              session.files.set(path, { _tag: "Bytes", content: content.slice() })
              return Effect.void
            }),
          download: (path) => within(session, () => file(path)),
          list: (path) =>
            within(session, () => {
              const found = entriesOf(session, path ?? "")
              return path !== undefined && found.length === 0 ? Effect.fail(noFile(path)) : Effect.succeed(found)
            }),
          remove: (path) =>
            within(session, () =>
              Effect.andThen(
                file(path),
                Effect.sync(() => void session.files.delete(path))
              )
            ),
          mountLibrary: (files) =>
            within(session, () => {
              note("mountLibrary", files)
              for (const path of session.files.keys()) if (path.startsWith("library/")) session.files.delete(path)
              mount(session, files)
              return Effect.void
            }),
          diff: (base) =>
            within(session, () => {
              note("diff", base)
              return Effect.succeed(editsOf(session, base))
            }),
          ...(options.rebinds === true
            ? {
                rebind: (tag) =>
                  within(session, () => {
                    note("rebind", tag)
                    open.delete(session.spec.id)
                    session.spec = { ...session.spec, ...tag }
                    open.set(tag.id, session)
                    return Effect.void
                  })
              }
            : {}),
          usage: within(session, () =>
            Effect.succeed({ memoryBytes: session.files.size * 1024, dataframes: [...session.dataframes.values()] })
          )
        }
      }

      const runtime = SandboxRuntime.of({
        capabilities: offered,
        open: Effect.fn("ScriptedSandbox.open")(function* (spec) {
          const lacks = lacking(offered, spec.require ?? {})
          if (options.unavailable !== undefined || lacks.length > 0) {
            const why = options.unavailable ?? `the sandbox lacks ${lacks.join(", ")}`
            return yield* new SandboxError({ reason: "unavailable", message: why })
          }
          if (options.opensAfter !== undefined) yield* options.opensAfter
          specs.push(spec)
          note("open", spec)
          const session: Session = {
            spec,
            files: new Map(),
            running: new Set(),
            variables: new Map(),
            dataframes: new Map(),
            isOpen: true
          }
          mount(session, spec.library)
          yield* Effect.acquireRelease(
            Effect.sync(() => open.set(spec.id, session)),
            () => lose(session)
          )
          return sessionOf(session, yield* Semaphore.make(1))
        })
      })

      return Context.make(SandboxRuntime, runtime).pipe(
        Context.add(ScriptedSandbox, {
          opened: Effect.sync(() => [...specs]),
          received: Effect.sync(() => [...received]),
          open: Effect.sync(() => [...open.keys()]),
          stuck: (count) =>
            SubscriptionRef.changes(stuck).pipe(
              Stream.takeUntil((now) => now >= count),
              Stream.runDrain
            ),
          lose: (id) =>
            Effect.suspend(() => {
              const session = open.get(id)
              return session === undefined ? Effect.void : lose(session)
            })
        })
      )
    })
  )

const mount = (session: Session, files: ReadonlyArray<LibraryFile>): void => {
  for (const { content, path } of files)
    session.files.set(`library/${path}`, { _tag: "Bytes", content: content.slice() })
}

/** The entries of a folder: its files, and the folders that its files are in. Dotfiles and links are left out. */
const entriesOf = (session: Session, folder: string): ReadonlyArray<SandboxEntry> => {
  const prefix = folder === "" ? "" : `${folder}/`
  const found = new Map<string, SandboxEntry>()
  for (const [path, held] of session.files) {
    if (!path.startsWith(prefix)) continue
    const [name = "", ...below] = path.slice(prefix.length).split("/")
    if (name.startsWith(".")) continue
    if (below.length > 0) found.set(name, { path: `${prefix}${name}`, kind: "directory", size: 0 })
    else if (held._tag === "Bytes") found.set(name, { path, kind: "file", size: held.content.length })
  }
  return [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index])

const editsOf = (session: Session, base: ReadonlyArray<LibraryFile>): ReadonlyArray<LibraryEdit> => {
  const { Added, Deleted, Modified, Rejected } = LibraryEdit.cases
  const before = new Map(base.map((file): [string, Uint8Array] => [file.path, file.content]))
  const edits: Array<LibraryEdit> = []
  for (const [full, held] of session.files) {
    if (!full.startsWith("library/")) continue
    const path = full.slice("library/".length)
    const old = before.get(path)
    before.delete(path)
    if (held._tag === "Link") edits.push(Rejected.make({ path, reason: "a link" }))
    else if (old === undefined) edits.push(Added.make({ path, content: held.content }))
    else if (!sameBytes(old, held.content)) edits.push(Modified.make({ path, content: held.content }))
  }
  for (const path of before.keys()) edits.push(Deleted.make({ path }))
  return edits.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
