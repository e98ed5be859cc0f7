/**
 * The sessions that are open in this process, by sandcastle. A session is open until it is closed, or until the
 * process ends; it belongs to no request.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type { OrganizationId } from "../organization/Organization.ts"
import type { SandcastleId } from "./Sandcastle.ts"
import { type SandboxError, SandboxRuntime, type SandboxSession, type SandboxSpec } from "./SandboxRuntime.ts"

/** A session that is open here. */
export interface OpenSession {
  readonly id: SandcastleId
  readonly organizationId: OrganizationId
  /** When it was asked for. */
  readonly openedAt: DateTime.Utc
}

/** Keeps sessions open. */
export class SandcastleSessions extends Context.Service<
  SandcastleSessions,
  {
    /** Whether this deployment has sandboxes at all. */
    readonly isAvailable: boolean
    /** Opens a session in place of the one that the sandcastle has here. */
    readonly open: (spec: SandboxSpec) => Effect.Effect<SandboxSession, SandboxError>
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

/** An open session with how many are using it. */
interface Kept extends OpenSession {
  readonly session: SandboxSession
  readonly scope: Scope.Closeable
  users: number
}

/** Keeps sessions open in this process. */
export const layer: Layer.Layer<SandcastleSessions, never, SandboxRuntime> = Layer.effect(
  SandcastleSessions,
  Effect.gen(function* () {
    const runtime = yield* SandboxRuntime
    const parent = yield* Effect.scope
    const open = new Map<SandcastleId, Kept>()

    const release = (kept: Kept | undefined) => (kept === undefined ? Effect.void : Scope.close(kept.scope, Exit.void))

    const close = (id: SandcastleId) =>
      Effect.suspend(() => {
        const kept = open.get(id)
        open.delete(id)
        return release(kept)
      })

    return SandcastleSessions.of({
      isAvailable: runtime.isAvailable ?? true,
      open: (spec) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const openedAt = yield* DateTime.now
            yield* close(spec.id)
            const scope = yield* Scope.fork(parent)
            const session = yield* restore(runtime.open(spec)).pipe(
              Scope.provide(scope),
              Effect.onExit((exit) => (Exit.isFailure(exit) ? Scope.close(scope, exit) : Effect.void))
            )
            // Another may have been opened meanwhile: the later one stays.
            const other = open.get(spec.id)
            open.set(spec.id, { id: spec.id, organizationId: spec.organizationId, openedAt, session, scope, users: 0 })
            yield* release(other)
            return session
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
              Effect.sync(() => {
                kept.users -= 1
              })
          )
        }),
      all: Effect.sync(() => [...open.values()]),
      isOpen: (id) => Effect.sync(() => open.has(id)),
      isBusy: (id) => Effect.sync(() => (open.get(id)?.users ?? 0) > 0),
      close
    })
  })
)
