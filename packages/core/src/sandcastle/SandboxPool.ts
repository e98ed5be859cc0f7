/**
 * Sessions that are opened in advance, so that whoever asks for one does not wait for it to be made. A session is handed
 * to one sandcastle, once, and nobody has used it before; what is broken by then is discarded, and another is opened in
 * the background. Where none is ready, a session is opened as it would be without a pool.
 *
 * A runtime whose sessions outlive the host finds one by its tag: there, only a new sandcastle is given a session of the
 * pool, and only where the session can be told whose it is (`SandboxSession.rebind`).
 *
 * Source: issue "Sandcastles", §2 ("a pool of pre-warmed sessions of configurable size").
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Uuid from "../identifier/Uuid.ts"
import { OrganizationId } from "../organization/Organization.ts"
import {
  lacking,
  type SandboxError,
  SandboxRuntime,
  type SandboxRequirement,
  type SandboxSession,
  type SandboxSpec
} from "./SandboxRuntime.ts"
import { SandcastleId } from "./Sandcastle.ts"

/** How a pool is kept. */
export interface SandboxPoolOptions {
  /** Sessions that are ready, at most. 0: none is opened in advance. */
  readonly size: number
  /** What every session must have: that of `SandcastleLimits`, where it requires anything. */
  readonly require?: SandboxRequirement
}

/** A pool, as whoever runs the service sees it. */
export class SandboxPool extends Context.Service<
  SandboxPool,
  {
    /** Sessions that are ready now. */
    readonly ready: Effect.Effect<number>
  }
>()("@castellan/core/sandcastle/SandboxPool") {}

const prefix = "pool-"

/** Whether a tag is that of a session that was opened in advance, and that is nobody's yet. */
export const isInAdvance = (id: SandcastleId): boolean => id.startsWith(prefix)

/** Whose sessions are before they are anybody's. */
const nobody = OrganizationId.make("00000000-0000-7000-8000-000000000000")

/** Between attempts to open a session where one could not be opened: a second, then twice as long, up to a minute. */
const backOff = Schedule.exponential("1 second").pipe(
  Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, Duration.minutes(1))))
)

/** A session that is ready, with what ends it. */
interface ReadySession {
  readonly session: SandboxSession
  readonly scope: Scope.Closeable
}

/** A pool over the sessions of a runtime, in the place of that runtime. Closing it ends every session of the runtime. */
export const layer = (
  options: SandboxPoolOptions
): Layer.Layer<SandboxPool | SandboxRuntime, never, SandboxRuntime | SecureRandom.SecureRandom> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const runtime = yield* SandboxRuntime
      const parent = yield* Effect.scope
      const random = yield* SecureRandom.SecureRandom
      const nextId = Effect.map(Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random), (id) =>
        SandcastleId.make(`${prefix}${id}`)
      )
      const ready: Array<ReadySession> = []
      /** One permit for each session that is to be opened. */
      const missing = yield* Semaphore.make(options.size)

      /** Whether a session could be given to no sandcastle: one that is found by its tag, which is not that of any. */
      const servesNobody = (session: SandboxSession): boolean =>
        runtime.capabilities.persistent && session.rebind === undefined

      /** A session that is nobody's yet. */
      const opened = Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const scope = yield* Scope.fork(parent)
          const spec: SandboxSpec = {
            id: yield* nextId,
            organizationId: nobody,
            library: [],
            isNew: true,
            ...(options.require === undefined ? {} : { require: options.require })
          }
          const session = yield* restore(runtime.open(spec)).pipe(
            Scope.provide(scope),
            Effect.onExit((exit) => (Exit.isFailure(exit) ? Scope.close(scope, exit) : Effect.void))
          )
          if (servesNobody(session)) {
            // It would wait for ever, and where sessions outlive the host they often cost by the second.
            yield* Scope.close(scope, Exit.void)
            yield* Effect.logWarning("no session is opened in advance: this runtime cannot be told later whose it is")
            return yield* restore(Effect.never)
          }
          ready.push({ session, scope })
        })
      )

      const openedInTheEnd = opened.pipe(
        // A runtime that breaks in a way that it does not foresee is tried again as well.
        Effect.catchDefect((defect) => Effect.fail(defect)),
        Effect.tapError((error) =>
          Effect.logWarning("a session could not be opened in advance; it is tried again", error)
        ),
        Effect.retry(backOff)
      )
      yield* Effect.forkIn(Effect.forever(Effect.andThen(missing.take(1), openedInTheEnd)), parent)

      /** A session of the pool, made the one that was asked for; nothing where none is ready, or all were broken. */
      const taken = (spec: SandboxSpec): Effect.Effect<SandboxSession | undefined, never, Scope.Scope> =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const next = ready.shift()
            if (next === undefined) return undefined
            const { scope, session } = next
            // From here on it ends with whoever asked for it.
            yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
            yield* missing.release(1)
            const bound = Effect.andThen(
              session.mountLibrary(spec.library),
              session.rebind === undefined ? Effect.void : session.rebind(spec)
            )
            const isBound = yield* Effect.matchEffect(restore(bound), {
              onSuccess: () => Effect.succeed(true),
              onFailure: (error) =>
                Effect.logWarning("a session that was opened in advance is discarded", error).pipe(
                  Effect.andThen(Scope.close(scope, Exit.void)),
                  Effect.as(false)
                )
            })
            return isBound ? session : yield* restore(taken(spec))
          })
        )

      /** Whether a session of the pool may be given to whoever asks with this. */
      const serves = (spec: SandboxSpec): boolean =>
        lacking(runtime.capabilities, spec.require ?? {}).length === 0 &&
        (!runtime.capabilities.persistent || spec.isNew === true)

      const open = (spec: SandboxSpec): Effect.Effect<SandboxSession, SandboxError, Scope.Scope> =>
        Effect.suspend(() => (serves(spec) ? taken(spec) : Effect.succeed(undefined))).pipe(
          Effect.flatMap((session) => (session === undefined ? runtime.open(spec) : Effect.succeed(session)))
        )

      return Context.make(SandboxRuntime, SandboxRuntime.of({ ...runtime, open })).pipe(
        Context.add(SandboxPool, { ready: Effect.sync(() => ready.length) })
      )
    })
  )
