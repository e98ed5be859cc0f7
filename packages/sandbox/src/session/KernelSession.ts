/**
 * The engine of sessions: whatever a tier starts, sessions of it behave the same. It speaks to a supervisor over the
 * control channel, believes nothing that comes back before it is checked, and holds the limits of time and size itself.
 */
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import {
  type Dataframe,
  lacking,
  type SandboxError,
  SandboxRuntime,
  type SandboxSession,
  type SandboxSpec
} from "@castellan/core/sandcastle/SandboxRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { SqlExecutor } from "../sql/SqlExecutor.ts"
import * as ArrowStream from "./ArrowStream.ts"
import { dataframeOf } from "./ExecutionEvents.ts"
import * as SessionExecutions from "./SessionExecutions.ts"
import { failure } from "./SessionFailure.ts"
import * as SessionFiles from "./SessionFiles.ts"
import * as SessionLink from "./SessionLink.ts"
import { joined } from "./Joined.ts"
import { SessionLimits } from "./SessionLimits.ts"
import type { SandboxTier } from "./SandboxProcess.ts"

/** What can be a variable of Python that nothing of the language or of ours has. */
const variable =
  /^(?!(?:False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$)[A-Za-z_][A-Za-z0-9_]{0,127}$/u

/** A session with what the port does not have. */
export interface KernelSession extends SandboxSession {
  /**
   * A dataframe of the session as an Arrow IPC stream, which nobody vetted: not to be decoded in the host's process,
   * where a hostile one takes all memory, but by the `SqlExecutor`'s. Fails as `not_found` where there is none.
   */
  readonly exportDataframe: (name: string) => Effect.Effect<Uint8Array, SandboxError>
}

/** Opens a session of a tier; it ends with its scope. `executor` answers the SQL of its programs. */
export const open: (
  tier: SandboxTier,
  spec: SandboxSpec,
  executor?: SqlExecutor["Service"]
) => Effect.Effect<KernelSession, SandboxError, Scope.Scope> = Effect.fnUntraced(function* (tier, spec, executor) {
  const lacks = lacking(tier.capabilities, spec.require ?? {})
  if (lacks.length > 0) return yield* failure("unavailable", `the sandbox lacks ${lacks.join(", ")}`)
  const link = yield* SessionLink.open(tier, spec)
  // The session's Python does one thing at a time.
  const turn = yield* Semaphore.make(1)
  const executions = yield* SessionExecutions.make(link, turn, executor)
  const files = yield* SessionFiles.make(link)
  // What was done to the library of a session that is taken up again is still to be told of. One that begins has none.
  if (!link.resumed && spec.library.length > 0) yield* files.mountLibrary(spec.library)

  const bindDataframe = Effect.fnUntraced(function* (name: string, table: ResultTable) {
    if (!variable.test(name)) return yield* failure("invalid", "the name of a dataframe must be one of a variable")
    const stream = ArrowStream.encode(table)
    const { done } = yield* turn.withPermits(1)(
      link.ask({ op: "bind", name, bytes: stream.length }, stream, { interpreter: true })
    )
    const { length: rows } = table.rows
    const { length: columns } = table.columns
    return done.dataframe === undefined ? { name, rows, columns } : dataframeOf(done.dataframe)
  })

  const limits = yield* SessionLimits

  const exportDataframe = (name: string) =>
    turn
      .withPermits(1)(link.ask({ op: "export", name }, undefined, { bytes: limits.tableBytes, interpreter: true }))
      .pipe(Effect.map(({ data }) => joined(data)))

  const session: KernelSession = {
    resumed: link.resumed,
    ...executions,
    ...files,
    bindDataframe,
    exportDataframe,
    usage: Effect.gen(function* () {
      const { done } = yield* link.ask({ op: "usage" })
      const memoryBytes = (yield* link.memoryBytes) ?? done.memory
      const dataframes: ReadonlyArray<Dataframe> = (done.dataframes ?? []).map(dataframeOf)
      return { ...(memoryBytes === undefined ? {} : { memoryBytes }), dataframes }
    })
  }
  return session
})

/**
 * The sandboxes of a tier. Where a `SqlExecutor` is provided to the layer, programs can ask for SQL over their
 * dataframes (`castellan.sql`).
 */
export const layer = (tier: SandboxTier): Layer.Layer<SandboxRuntime> =>
  Layer.effect(
    SandboxRuntime,
    Effect.gen(function* () {
      const executor = yield* Effect.serviceOption(SqlExecutor)
      const limits = yield* SessionLimits
      return SandboxRuntime.of({
        capabilities: tier.capabilities,
        open: (spec) => Effect.provideService(open(tier, spec, Option.getOrUndefined(executor)), SessionLimits, limits)
      })
    })
  )
