/**
 * How every use case that changes something is carried out: as one transaction with its audit events, by the principal
 * of the context. A use case that is refused changes nothing, and the refusal is on the record.
 *
 * Source: architecture.md §2 ("A use case is one transaction"); decisions.md §3 ("Audit log").
 */
import * as Cause from "effect/Cause"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { CurrentPrincipal, type Principal } from "../access/Principal.ts"
import { PermissionDenied } from "../error/Failure.ts"
import { CurrentAttempt } from "../idempotency/CurrentAttempt.ts"
import * as Uuid from "../identifier/Uuid.ts"
import { Transaction } from "../transaction/Transaction.ts"
import {
  type AuditAction,
  type AuditEntry,
  AuditEvent,
  AuditEventId,
  AuditOutcome,
  type AuditTarget,
  actorOf
} from "./AuditEvent.ts"
import { AuditStore } from "./AuditStore.ts"
import { RequestOrigin } from "./RequestOrigin.ts"

/** What a use case leaves: its answer, and what it did, for the audit log. */
export interface Done<A> {
  readonly answer: A
  /** One entry for each thing that was done; none where the use case found that there was nothing to do. */
  readonly entries: ReadonlyArray<AuditEntry>
}

/** Carries out use cases. */
export class UseCase extends Context.Service<
  UseCase,
  {
    /**
     * Runs a use case's body in one transaction with its audit events, and returns its answer. `attempt` says what a
     * refusal is recorded as. The body may be run again, so it does nothing but read and write stores.
     */
    readonly run: <A, E, R>(
      attempt: { readonly action: AuditAction; readonly target: AuditTarget },
      body: (principal: Principal) => Effect.Effect<Done<A>, E, R>
    ) => Effect.Effect<A, E, R | CurrentPrincipal>
    /** Runs a use case that changes nothing: without a transaction, and with a refusal on the record all the same. */
    readonly read: <A, E, R>(
      attempt: { readonly action: AuditAction; readonly target: AuditTarget },
      body: (principal: Principal) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E, R | CurrentPrincipal>
  }
>()("@castellan/core/audit/UseCase") {}

/** Use cases over the transactions and the audit log of the deployment. */
export const layer: Layer.Layer<UseCase, never, AuditStore | SecureRandom.SecureRandom | Transaction> = Layer.effect(
  UseCase,
  Effect.gen(function* () {
    const store = yield* AuditStore
    const transaction = yield* Transaction
    const random = yield* SecureRandom.SecureRandom

    const record = Effect.fnUntraced(function* (principal: Principal, entry: AuditEntry, outcome: AuditOutcome) {
      const origin = yield* RequestOrigin
      yield* store.append(
        new AuditEvent({
          ...entry,
          ...origin,
          id: AuditEventId.make(yield* Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)),
          organizationId: principal.organizationId,
          at: yield* DateTime.now,
          actor: actorOf(principal),
          outcome
        })
      )
    })

    /** Fails as a use case did. A refusal changes nothing; that it was refused is kept on its own. */
    const recordingRefusal =
      (principal: Principal, attempt: { readonly action: AuditAction; readonly target: AuditTarget }) =>
      <E>(cause: Cause.Cause<E>): Effect.Effect<never, E> => {
        const failed = Effect.failCause(cause)
        const error = Option.getOrUndefined(Cause.findErrorOption(cause))
        if (!(error instanceof PermissionDenied)) return failed
        const outcome = AuditOutcome.cases.Refused.make({ message: error.message })
        return Effect.andThen(transaction.run(record(principal, attempt, outcome)), failed)
      }

    return UseCase.of({
      run: (attempt, body) =>
        CurrentPrincipal.use((principal) =>
          Effect.gen(function* () {
            const done = yield* body(principal)
            for (const entry of done.entries) yield* record(principal, entry, AuditOutcome.cases.Succeeded.make({}))
            // With what it did, in one transaction: a request is never done twice.
            yield* Effect.flatMap(CurrentAttempt, ({ commit }) => commit)
            return done.answer
          }).pipe(transaction.run, Effect.catchCause(recordingRefusal(principal, attempt)))
        ),
      read: (attempt, body) =>
        CurrentPrincipal.use((principal) => Effect.catchCause(body(principal), recordingRefusal(principal, attempt)))
    })
  })
)
