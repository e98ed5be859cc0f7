/**
 * What the use cases of sandcastles have in common: how one is found and decided about, and how its session is used.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { enforce } from "../access/Decision.ts"
import { CurrentPrincipal, type Principal } from "../access/Principal.ts"
import type { AuditAction, AuditEntry, AuditTarget } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import { Conflict, ExecutionFailed, InvalidRequest, NotFound, type PermissionDenied } from "../error/Failure.ts"
import { SandboxError, type SandboxSession } from "./SandboxRuntime.ts"
import { type LibraryMount, Sandcastle, type SandcastleId } from "./Sandcastle.ts"
import { decide, type SandcastleAction } from "./SandcastlePolicy.ts"
import { SandcastleSessions } from "./SandcastleSessions.ts"
import { SandcastleEvent, transition } from "./SandcastleState.ts"
import { SandcastleStore } from "./SandcastleStore.ts"

/** How a use case of sandcastles fails. */
export type SandcastleFailure = Conflict | ExecutionFailed | InvalidRequest | NotFound | PermissionDenied

/** A sandcastle as the audit log names it. */
export const target = (id: SandcastleId): AuditTarget => ({ type: "sandcastle", id })

const notFound = new NotFound({ message: "sandcastle not found" })

/** The session of a sandcastle is not here, or no more. */
export const noSession: Conflict = new Conflict({
  message: "the sandcastle's session does not answer: start it again"
})

/** The session of a sandcastle is on another server, which is there. */
export const elsewhere: Conflict = new Conflict({
  message:
    "the sandcastle's session is on another server: start it again to have one here, without its variables and files"
})

/** How a use of a session fails: as its work does, with the sandbox's failures in the caller's terms. */
export type Told<E> = Exclude<E, SandboxError> | SandcastleFailure

const isToldAsIs = <E>(error: E): error is Exclude<E, SandboxError> => !(error instanceof SandboxError)

/** A sandbox's failure as the caller is told of it. */
export const failureOf = (error: SandboxError): SandcastleFailure => {
  switch (error.reason) {
    case "not_found":
      return new NotFound({ message: error.message })
    case "invalid":
      return new InvalidRequest({ message: error.message })
    case "lost":
      return noSession
    case "exhausted":
    case "unavailable":
      return new ExecutionFailed({ message: error.message })
  }
}

/** A sandcastle after an event; a refusal is a conflict that says the state. */
export const after = (
  sandcastle: Sandcastle,
  event: SandcastleEvent,
  at: DateTime.Utc
): Result.Result<Sandcastle, Conflict> =>
  Result.mapBoth(transition(sandcastle.status, event, at), {
    onSuccess: (status) => new Sandcastle({ ...sandcastle, status }),
    onFailure: ({ message }) => new Conflict({ message })
  })

/** How a session is used. */
export interface How {
  readonly action: AuditAction
  /** `read` for whatever leaves the session and its files as they are. */
  readonly needs: Exclude<SandcastleAction, "stop">
  /** What else the principal must be permitted, beside the use of the sandcastle: asked before anything is changed. */
  readonly permit?: (principal: Principal) => Effect.Effect<void, PermissionDenied | NotFound>
  /** What goes on the record with it, in the same transaction. */
  readonly record?: (principal: Principal) => Effect.Effect<ReadonlyArray<AuditEntry>>
}

/** Finds sandcastles and uses their sessions, over the stores and the sessions of this process. */
export const make = Effect.gen(function* () {
  const store = yield* SandcastleStore
  const sessions = yield* SandcastleSessions
  const useCase = yield* UseCase

  /** The sandcastle, where the principal may do this with it. */
  const load = Effect.fnUntraced(function* (principal: Principal, id: SandcastleId, action: SandcastleAction) {
    const found = yield* store.get(principal.organizationId, id)
    if (Option.isNone(found)) return yield* notFound
    yield* enforce(decide(principal, found.value, action))
    return found.value
  })

  /** Keeps what became of a sandcastle, where its state allows it; what is not news is not kept. */
  const note = Effect.fnUntraced(function* (id: SandcastleId, event: SandcastleEvent) {
    yield* useCase.run(
      { action: "update", target: target(id) },
      Effect.fnUntraced(function* (principal) {
        const found = yield* store.get(principal.organizationId, id)
        if (Option.isSome(found)) {
          const changed = after(found.value, event, yield* DateTime.now)
          if (Result.isSuccess(changed)) yield* store.save(changed.success)
        }
        return { answer: undefined, entries: [] }
      })
    )
  })

  /** Keeps what of the library a session holds from now on. */
  const remounted = Effect.fnUntraced(function* (id: SandcastleId, library: LibraryMount | undefined) {
    yield* useCase.run(
      { action: "update", target: target(id) },
      Effect.fnUntraced(function* (principal) {
        const found = yield* store.get(principal.organizationId, id)
        if (Option.isSome(found) && library !== undefined) {
          yield* store.save(new Sandcastle({ ...found.value, library }))
        }
        return { answer: undefined, entries: [] }
      })
    )
  })

  /** Whether the session of a sandcastle is on another server, which is there: then nothing is known of it here. */
  const isElsewhere = Effect.fnUntraced(function* ({ id, organizationId, serverId }: Sandcastle) {
    if (serverId === undefined || serverId === sessions.serverId) return false
    return yield* store.isHeld(organizationId, id, yield* DateTime.now)
  })

  const lost = (id: SandcastleId) =>
    Effect.andThen(note(id, SandcastleEvent.cases.Lose.make({})), Effect.fail(noSession))

  /**
   * Uses the open session of a sandcastle, which is then not idle: when the use begins, and again when it ends. What
   * goes on the record is there before the session is touched.
   */
  const use = <A, E, R>(
    id: SandcastleId,
    how: How,
    work: (session: SandboxSession, sandcastle: Sandcastle, principal: Principal) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, Told<E>, R | CurrentPrincipal> =>
    Effect.gen(function* () {
      const principal = yield* CurrentPrincipal
      const attempt = { action: how.action, target: target(id) }
      const isOpen = yield* sessions.isOpen(id)
      const sandcastle = yield* useCase.run(
        attempt,
        Effect.fnUntraced(function* () {
          const found = yield* load(principal, id, how.needs)
          if (how.permit !== undefined) yield* how.permit(principal)
          if (!isOpen && found.status._tag !== "Stopped" && (yield* isElsewhere(found))) return yield* elsewhere
          // A session that answers again is found; one that is not here cannot be used.
          const answering =
            found.status._tag === "Unknown" && isOpen
              ? yield* Effect.fromResult(after(found, SandcastleEvent.cases.Find.make({}), yield* DateTime.now))
              : found
          if (answering.status._tag !== "Unknown" && answering.status._tag !== "Stopped" && !isOpen) {
            return { answer: found, entries: [] }
          }
          const used = yield* Effect.fromResult(
            after(answering, SandcastleEvent.cases.Use.make({}), yield* DateTime.now)
          )
          yield* store.save(used)
          return { answer: used, entries: how.record === undefined ? [] : yield* how.record(principal) }
        })
      )
      if (!isOpen) return yield* lost(id)
      const done = yield* sessions
        .use(id, (session) =>
          Effect.ensuring(
            work(session, sandcastle, principal),
            Effect.provideService(note(id, SandcastleEvent.cases.Use.make({})), CurrentPrincipal, principal)
          )
        )
        .pipe(
          Effect.catch((error): Effect.Effect<never, Told<E>, CurrentPrincipal> => {
            if (error instanceof SandboxError) return error.reason === "lost" ? lost(id) : Effect.fail(failureOf(error))
            return isToldAsIs(error) ? Effect.fail(error) : Effect.die(error)
          })
        )
      return Option.isSome(done) ? done.value : yield* lost(id)
    })

  return { isElsewhere, load, note, remounted, use }
})

/** Finds sandcastles and uses their sessions. */
export type SessionUse = Effect.Success<typeof make>
