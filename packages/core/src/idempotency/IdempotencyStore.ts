/**
 * The port that remembers requests with idempotency keys, for all servers of a deployment. Every operation is atomic:
 * of any number of attempts that claim the same request at once, one is granted it.
 *
 * Source: decisions.md §1 (`Idempotency-Key`).
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { Attempt, AttemptId, IdempotentRequest, IdempotentRequestId } from "./IdempotentRequest.ts"
import * as IdempotentRequestState from "./IdempotentRequestState.ts"

/**
 * Remembers requests. What it answers is what `IdempotentRequestState` says; `false` means that the attempt holds the
 * request no longer, and nothing has changed.
 */
export class IdempotencyStore extends Context.Service<
  IdempotencyStore,
  {
    readonly claim: (claim: IdempotentRequestState.Claim) => Effect.Effect<IdempotentRequestState.ClaimOutcome>
    /** Notes that what the attempt does is kept. Called within the transaction that keeps it, and part of it. */
    readonly commit: (attempt: Attempt) => Effect.Effect<boolean>
    readonly renew: (attempt: Attempt, leaseUntil: DateTime.Utc) => Effect.Effect<boolean>
    /** Keeps an attempt's answer. */
    readonly answer: (attempt: Attempt, answer: Uint8Array) => Effect.Effect<boolean>
    readonly release: (attempt: Attempt, now: DateTime.Utc) => Effect.Effect<boolean>
    /**
     * Removes requests of every organization whose attempt began before a moment, and whose lease ended before it:
     * `limit` at most, so that nobody waits for long. Answers how many; fewer than `limit` means that none is left.
     */
    readonly purge: (before: DateTime.Utc, limit: number) => Effect.Effect<number>
  }
>()("@castellan/core/idempotency/IdempotencyStore") {}

/** Remembers requests in memory. */
export const layerMemory: Layer.Layer<IdempotencyStore> = Layer.effect(
  IdempotencyStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<string, IdempotentRequest>()
    const keyOf = (organizationId: OrganizationId, id: IdempotentRequestId): string => `${organizationId}/${id}`

    /** A step of an attempt that holds its request. */
    const step = (
      { attempt, id, organizationId }: Attempt,
      next: (
        request: IdempotentRequest | undefined,
        attempt: AttemptId
      ) => Result.Result<IdempotentRequest | undefined, IdempotentRequestState.AttemptSuperseded>
    ): Effect.Effect<boolean> => {
      const key = keyOf(organizationId, id)
      return table.modify((rows) => {
        const stepped = next(rows.get(key), attempt)
        return Result.isSuccess(stepped) ? [true, [[key, stepped.success]]] : [false, []]
      })
    }

    return IdempotencyStore.of({
      claim: (claim) =>
        table.modify((rows) => {
          const key = keyOf(claim.organizationId, claim.id)
          const { outcome, request } = IdempotentRequestState.claim(rows.get(key), claim)
          return [outcome, outcome._tag === "Granted" ? [[key, request]] : []]
        }),
      commit: (attempt) => step(attempt, IdempotentRequestState.commit),
      renew: (attempt, leaseUntil) =>
        step(attempt, (request, id) => IdempotentRequestState.renew(request, id, leaseUntil)),
      answer: (attempt, given) => step(attempt, (request, id) => IdempotentRequestState.answer(request, id, given)),
      release: (attempt, now) => step(attempt, (request, id) => IdempotentRequestState.release(request, id, now)),
      purge: (before, limit) =>
        Effect.flatMap(
          table.where(
            ({ createdAt, status }) =>
              DateTime.isLessThan(createdAt, before) &&
              (status._tag === "Answered" || DateTime.isLessThan(status.leaseUntil, before))
          ),
          (found) => {
            const old = found.slice(0, limit)
            return Effect.as(
              Effect.forEach(old, ({ id, organizationId }) => table.remove(keyOf(organizationId, id)), {
                discard: true
              }),
              old.length
            )
          }
        )
    })
  })
)
