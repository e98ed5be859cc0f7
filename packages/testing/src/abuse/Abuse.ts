/**
 * What an abuse case works with: sessions of one runtime, and programs that try to do what they must not.
 *
 * A program says `OPEN` and what stands open for everything that it got through; nothing else of what it says counts.
 */
import { OrganizationId } from "@castellan/core/organization/Organization"
import {
  type ExecEvent,
  type ExecRequest,
  type LibraryFile,
  type SandboxCapabilities,
  type SandboxError,
  SandboxRuntime,
  type SandboxSession
} from "@castellan/core/sandcastle/SandboxRuntime"
import { LibraryPath } from "@castellan/core/library/LibraryPath"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { SandboxPath } from "@castellan/core/sandcastle/SandboxPath"
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Host } from "./HostWatch.ts"
import { secret } from "./HostWatch.ts"

/** What a case needs of its runtime; a case whose needs are not met is told as not of this runtime, with the reason. */
export type Applies = (capabilities: Pick<SandboxCapabilities, "isolation" | "realBash">) => string | undefined

/** One of the abuse cases. */
export interface AbuseCase {
  /** Its number in the list of the design. */
  readonly number: number
  readonly title: string
  /** Why the case is none of this runtime's; absent: it is everybody's. */
  readonly applies?: Applies
  readonly run: (host: Host) => Effect.Effect<void, SandboxError, SandboxRuntime | Scope.Scope>
}

/** For what only a real operating system below the session has. */
export const realSystem: Applies = ({ isolation, realBash }) =>
  realBash && isolation !== "wasm" ? undefined : "its programs have no operating system below them"

/** For what only an interpreter that is compiled to WebAssembly has. */
export const webAssembly: Applies = ({ isolation }) =>
  isolation === "wasm" ? undefined : "its interpreter is no WebAssembly, and has no JavaScript beside it"

const utf8 = new TextEncoder()

/** A path below the files of a session. */
export const at = (text: string): SandboxPath => SandboxPath.make(text)

/** A file of a library. */
export const libraryFile = (path: string, content: string): LibraryFile => ({
  path: LibraryPath.make(path),
  content: utf8.encode(content)
})

/** What every session's library holds at first. */
export const library = [libraryFile("guide.md", "# Guide\n"), libraryFile("team/terms.md", "none\n")]

let count = 0

/** Opens a session that nobody had. */
export const opened: Effect.Effect<SandboxSession, SandboxError, SandboxRuntime | Scope.Scope> = Effect.suspend(() => {
  count += 1
  const id = SandcastleId.make(`abuse-${process.pid}-${count}`)
  const organizationId = OrganizationId.make("018f0000-0000-7000-8000-000000000001")
  return SandboxRuntime.use((runtime) => runtime.open({ id, organizationId, library }))
})

/** What came of a program. */
export interface Outcome {
  readonly events: ReadonlyArray<ExecEvent>
  readonly stdout: string
  readonly stderr: string
  /** Everything that came out, however: what a secret is searched in. */
  readonly everything: string
  readonly error: Extract<ExecEvent, { readonly _tag: "Error" }> | undefined
  readonly restarted: boolean
  readonly finished: Extract<ExecEvent, { readonly _tag: "Finished" }>
}

/** Why the session went away under a program, where it did. */
export interface Lost {
  readonly lost: string
}

const textOf = (events: ReadonlyArray<ExecEvent>, tag: "Stdout" | "Stderr"): string =>
  events.map((event) => (event._tag === tag ? event.text : "")).join("")

const outcomeOf = (events: ReadonlyArray<ExecEvent>): Outcome => {
  const finished = events.at(-1)
  assert.strictEqual(events.filter(({ _tag }) => _tag === "Finished").length, 1, "exactly one end")
  if (finished?._tag !== "Finished") assert.fail("the last event is not the end")
  const everything = JSON.stringify(events, (_, value: unknown) =>
    value instanceof Uint8Array ? new TextDecoder().decode(value) : value
  )
  assert.notInclude(everything, secret, "a secret of the host")
  return {
    events,
    stdout: textOf(events, "Stdout"),
    stderr: textOf(events, "Stderr"),
    everything,
    error: events.find((event) => event._tag === "Error"),
    restarted: events.some(({ _tag }) => _tag === "KernelRestarted"),
    finished
  }
}

const request = (code: string, more: Partial<ExecRequest>): ExecRequest => ({
  language: "python",
  code,
  within: "session",
  timeout: Duration.seconds(60),
  ...more
})

/** Runs a program to its end, whatever that is. */
export const run = (session: SandboxSession, code: string, more: Partial<ExecRequest> = {}) =>
  Effect.map(Stream.runCollect(session.exec(request(code, more))), outcomeOf)

/** Runs a command of the shell to its end. */
export const shell = (session: SandboxSession, code: string, more: Partial<ExecRequest> = {}) =>
  run(session, code, { language: "bash", within: "process", ...more })

/** Runs a program that may take its session down. */
export const daring = (session: SandboxSession, code: string, more: Partial<ExecRequest> = {}) =>
  run(session, code, more).pipe(
    Effect.catch((error) =>
      error.reason === "lost" || error.reason === "exhausted"
        ? Effect.succeed<Lost>({ lost: error.message })
        : Effect.fail(error)
    )
  )

/** The session does what it should, with the interpreter that it had or another. */
export const alive = Effect.fnUntraced(function* (session: SandboxSession) {
  assert.strictEqual((yield* run(session, "print(6 * 7)")).stdout, "42\n")
})

/** The session does what it should, or is gone and another opens that does: answers the one that does. */
export const survives = Effect.fnUntraced(function* (session: SandboxSession, what = "an abused session") {
  const after = yield* daring(session, "print(6 * 7)")
  if ("lost" in after) {
    const another = yield* opened
    yield* alive(another)
    return another
  }
  assert.strictEqual(after.stdout, "42\n", `${what}: ${after.everything}`)
  return session
})

/** Tries one program after another, each in a session that survived the one before it. */
export const eachSurvives = Effect.fnUntraced(function* (
  programs: Readonly<Record<string, string>>,
  check: (session: SandboxSession, outcome: Lost | Outcome, code: string) => Effect.Effect<void, SandboxError>
) {
  let session = yield* opened
  for (const [name, code] of Object.entries(programs)) {
    yield* check(session, yield* daring(session, code), code)
    session = yield* survives(session, name)
  }
})

/** Programs that have no names but their numbers. */
export const numbered = (programs: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(programs.map((code, index) => [`program ${index + 1}`, code]))

/** Nothing of what a program tried stood open. */
export const closed = (outcome: Outcome | Lost): void => {
  if ("lost" in outcome) return
  const open = `${outcome.stdout}\n${outcome.stderr}`.split("\n").filter((line) => line.startsWith("OPEN"))
  assert.deepStrictEqual(open, [])
}

const prelude = `
def attempt(name, action):
    try:
        told = action()
    except BaseException as error:
        print("closed", name, type(error).__name__)
    else:
        print("OPEN", name, repr(told)[:200])

`

/** Tries each of the actions (Python expressions or blocks), each in an execution of its own, in one session. */
export const attempts = Effect.fnUntraced(function* (
  session: SandboxSession,
  actions: Readonly<Record<string, string>>
) {
  let current = session
  for (const [name, code] of Object.entries(actions)) {
    const body = code
      .trim()
      .split("\n")
      .map((line) => `    ${line}`)
      .join("\n")
    const program = `${prelude}def action():\n${body}\n\nattempt(${JSON.stringify(name)}, action)\n`
    const outcome = yield* daring(current, program, { timeout: Duration.seconds(20) })
    closed(outcome)
    if ("lost" in outcome) current = yield* opened
    // A program that never ran has tried nothing.
    else if (outcome.finished.outcome === "completed")
      assert.include(outcome.stdout, `closed ${name}`, outcome.everything)
    else assert.isTrue(outcome.restarted || outcome.finished.outcome !== "failed", `${name}: ${outcome.everything}`)
  }
  return current
})

/** Starts something, and returns once it has said that it runs. */
export const running = Effect.fnUntraced(function* (
  session: SandboxSession,
  code: string,
  more: Partial<ExecRequest> = {}
) {
  const said = yield* Latch.make()
  const fiber = yield* session.exec(request(`print("running", flush=True)\n${code}`, more)).pipe(
    Stream.tap((event) => (event._tag === "Stdout" ? said.open : Effect.void)),
    Stream.runCollect,
    Effect.map(outcomeOf),
    Effect.ensuring(said.open),
    Effect.forkScoped({ startImmediately: true })
  )
  yield* said.await
  return fiber
})
