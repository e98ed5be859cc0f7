/**
 * The sessions that are open in this process, by sandcastle. A session is open until it is closed, or until the
 * process ends; it belongs to no request.
 */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { RateLimitExceeded } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import { count } from "../text/Count.ts"
import { type SandcastleId, ServerId } from "./Sandcastle.ts"
import { SandcastleLimits } from "./SandcastleLimits.ts"
import { type SandboxError, SandboxRuntime, type SandboxSession, type SandboxSpec } from "./SandboxRuntime.ts"

/** A session that is open here. */
export interface OpenSession {
  readonly id: SandcastleId
  readonly organizationId: OrganizationId
  /** When it was asked for. */
  readonly openedAt: DateTime.Utc
  /** When it was opened, or a use of it ended, last. */
  readonly usedAt: DateTime.Utc
}

/** Whether a sandcastle has a session, as far as is kept. */
export type IsAlive = (tag: Pick<SandboxSpec, "id" | "organizationId">) => Effect.Effect<boolean>

/** Keeps sessions open. */
export class SandcastleSessions extends Context.Service<
  SandcastleSessions,
  {
    /** This process, as sandcastles name it. */
    readonly serverId: ServerId
    /** Whether this deployment has sandboxes at all. */
    readonly isAvailable: boolean
    /**
     * Opens a session in place of the one that the sandcastle has here. Fails at once where as many are open, or being
     * opened, as may be.
     */
    readonly open: (spec: SandboxSpec) => Effect.Effect<SandboxSession, SandboxError | RateLimitExceeded>
    /** Ends the sessions that were left behind elsewhere: those that are not alive. See `SandboxRuntime`. */
    readonly reap: (isAlive: IsAlive) => Effect.Effect<void, SandboxError>
    /** Whether another session could be opened now, in place of the one that the sandcastle has here. */
    readonly hasRoom: (id: SandcastleId) => Effect.Effect<boolean>
    /** Uses the session of a sandcastle; nothing where none is open here. */
    readonly use: <A, E, R>(
      id: SandcastleId,
      use: (session: SandboxSession) => Effect.Effect<A, E, R>
    ) => Effect.Effect<Option.Option<A>, E, R>
    /** The sessions that are open here. */
    readonly all: Effect.Effect<ReadonlyArray<OpenSession>>
    /** Whether the session of a sandcastle is open here. */
    readonly isOpen: (id: SandcastleId) => Effect.Effect<boolean>
    /** Whether somebody is using the session of a sandcastle here. */
    readonly isBusy: (id: SandcastleId) => Effect.Effect<boolean>
    /** Closes the session of a sandcastle with all that runs in it; nothing where none is open here. */
    readonly close: (id: SandcastleId) => Effect.Effect<void>
  }
>()("@castellan/core/sandcastle/SandcastleSessions") {}

/** Seconds after which it is worth trying again where there is no room: the sweep makes some by the minute. */
const retryAfterSeconds = 60

/** An open session with how many are using it. */
interface Kept extends OpenSession {
  readonly session: SandboxSession
  readonly scope: Scope.Closeable
  usedAt: DateTime.Utc
  users: number
}

/** Keeps sessions open in this process. */
export const layer: Layer.Layer<SandcastleSessions, never, SandboxRuntime | SecureRandom.SecureRandom> = Layer.effect(
  SandcastleSessions,
  Effect.gen(function* () {
    const runtime = yield* SandboxRuntime
    const parent = yield* Effect.scope
    const { perServer } = yield* SandcastleLimits
    const serverId = ServerId.make(yield* Uuid.next)
    const open = new Map<SandcastleId, Kept>()
    let opening = 0

    const hasRoom = (id: SandcastleId): boolean => open.size + opening - (open.has(id) ? 1 : 0) < perServer
    const noRoom = new RateLimitExceeded({
      message: `this server has ${count(perServer, "sandcastle")} open, as many as it may: stop one, or try again in a minute`,
      retryAfterSeconds
    })

    const release = (kept: Kept | undefined) => (kept === undefined ? Effect.void : Scope.close(kept.scope, Exit.void))

    const close = (id: SandcastleId) =>
      Effect.suspend(() => {
        const kept = open.get(id)
        open.delete(id)
        return release(kept)
      })

    /** Opens a session in place of the one that is here. Only the opening itself can be interrupted. */
    const replaced = Effect.fnUntraced(function* (
      spec: SandboxSpec,
      restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    ) {
      const openedAt = yield* DateTime.now
      const { id, organizationId } = spec
      yield* close(id)
      const scope = yield* Scope.fork(parent)
      const session = yield* restore(runtime.open(spec)).pipe(
        Scope.provide(scope),
        Effect.onExit((exit) => (Exit.isFailure(exit) ? Scope.close(scope, exit) : Effect.void))
      )
      // Another may have been opened meanwhile: the later one stays.
      const other = open.get(id)
      open.set(id, { id, organizationId, openedAt, usedAt: yield* DateTime.now, session, scope, users: 0 })
      yield* release(other)
      return session
    })

    return SandcastleSessions.of({
      serverId,
      isAvailable: runtime.isAvailable ?? true,
      open: (spec) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            if (!hasRoom(spec.id)) return yield* noRoom
            opening += 1
            return yield* Effect.ensuring(
              replaced(spec, restore),
              Effect.sync(() => {
                opening -= 1
              })
            )
          })
        ),
      use: (id, use) =>
        Effect.suspend(() => {
          const kept = open.get(id)
          if (kept === undefined) return Effect.succeedNone
          return Effect.acquireUseRelease(
            Effect.sync(() => {
              kept.users += 1
            }),
            () => Effect.asSome(use(kept.session)),
            () =>
              Effect.map(DateTime.now, (now) => {
                kept.users -= 1
                kept.usedAt = now
              })
          )
        }),
      reap: (isAlive) => (runtime.reap === undefined ? Effect.void : Effect.asVoid(runtime.reap(isAlive))),
      hasRoom: (id) => Effect.sync(() => hasRoom(id)),
      all: Effect.sync(() => [...open.values()]),
      isOpen: (id) => Effect.sync(() => open.has(id)),
      isBusy: (id) => Effect.sync(() => (open.get(id)?.users ?? 0) > 0),
      close
    })
  })
)
