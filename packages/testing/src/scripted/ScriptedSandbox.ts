/**
 * Sandboxes in memory: for tests of whatever stands on the `SandboxRuntime` port, without a process.
 *
 * A session keeps variables, dataframes and files, and understands as much of Python and of a shell as tests need to
 * see what becomes of them: assignments and `print`, `raise`, files that are written, a program that never ends, one
 * that takes the interpreter down; `echo`, `cat`, `exit`. Anything else is a syntax error. A test can teach it more,
 * lose a session, and wait until something runs.
 */
import {
  type ExecRequest,
  type ExecEvent,
  lacking,
  SandboxError,
  SandboxRuntime,
  type SandboxCapabilities,
  type SandboxSession,
  type SandboxSpec
} from "@castellan/core/sandcastle/SandboxRuntime"
import type { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { mount } from "./internal/ScriptedFiles.ts"
import { operations } from "./internal/ScriptedOperations.ts"
import { end, type Session } from "./internal/ScriptedSession.ts"

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

const capabilities: SandboxCapabilities = {
  isolation: "none",
  statefulPython: true,
  realBash: false,
  packages: [],
  gentleInterrupt: true,
  persistent: false,
  limits: { cpu: "none", memory: "none", processes: "none", disk: "none", network: "none", time: "hard" }
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

      const lose = (session: Session) =>
        Effect.suspend(() => {
          session.isOpen = false
          if (open.get(session.spec.id) === session) open.delete(session.spec.id)
          return end(session, "lost")
        })

      const common = {
        teaches: options.teaches,
        stuck,
        note,
        open,
        dataframeBytes: options.dataframeBytes,
        maximumFileBytes: options.maximumFileBytes,
        rebinds: options.rebinds === true
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
          mount(session.files, spec.library)
          yield* Effect.acquireRelease(
            Effect.sync(() => open.set(spec.id, session)),
            () => lose(session)
          )
          return operations(session, yield* Semaphore.make(1), common)
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
