/**
 * What is kept for a time only, and removed afterwards: executions for 30 days, requests with idempotency keys for 24
 * hours. Sessions are kept nowhere: their tokens expire by themselves.
 *
 * Nothing is removed in one go: each batch is small, is kept by itself, and locks nothing but its own rows, so that
 * nobody waits for it. Several servers that purge at once take different rows, and what one left, the next one finds.
 *
 * Source: decisions.md §1 (`Idempotency-Key`); api-v2.md "Limits".
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { retention as requestRetention } from "../idempotency/IdempotentRequest.ts"
import { IdempotencyStore } from "../idempotency/IdempotencyStore.ts"
import { purgedBefore } from "../sandcastle/Execution.ts"
import { ExecutionStore } from "../sandcastle/ExecutionStore.ts"

/** How many were removed, of each kind. */
export interface Purged {
  readonly executions: number
  readonly idempotentRequests: number
}

/** Removes what was kept long enough. */
export class Retention extends Context.Service<
  Retention,
  {
    /** Removes all that was kept long enough, of every organization: background work of the deployment. */
    readonly purge: Effect.Effect<Purged>
  }
>()("@castellan/core/retention/Retention") {}

/** Rows that are removed at a time: a matter of milliseconds. */
const batch = 1000

/** Removes batch after batch, until one is not full; what others hold or remove at that moment is left to them. */
const inBatches = (remove: (limit: number) => Effect.Effect<number>): Effect.Effect<number> =>
  Effect.gen(function* () {
    let total = 0
    for (;;) {
      const removed = yield* remove(batch)
      total += removed
      if (removed < batch) return total
      // Whoever waits for a connection, or for this thread, goes first.
      yield* Effect.yieldNow
    }
  })

/** Removes what was kept long enough, from the stores that keep anything for a time. */
export const layer: Layer.Layer<Retention, never, ExecutionStore | IdempotencyStore> = Layer.effect(
  Retention,
  Effect.gen(function* () {
    const executions = yield* ExecutionStore
    const requests = yield* IdempotencyStore
    return Retention.of({
      purge: Effect.gen(function* () {
        const now = yield* DateTime.now
        const forgotten = DateTime.subtractDuration(now, requestRetention)
        const purged: Purged = {
          executions: yield* inBatches((limit) => executions.purge(purgedBefore(now), limit)),
          idempotentRequests: yield* inBatches((limit) => requests.purge(forgotten, limit))
        }
        return purged
      }).pipe(Effect.withSpan("Retention.purge"))
    })
  })
)

/**
 * Purges at the start and once an hour for as long as the layer lives. A purge that fails is logged, and the next one
 * takes its place.
 */
export const layerHourly: Layer.Layer<never, never, Retention> = Layer.effectDiscard(
  Effect.gen(function* () {
    const retention = yield* Retention
    yield* retention.purge.pipe(
      Effect.tap((purged) =>
        Effect.annotateLogs(Effect.logDebug("what was kept long enough is purged"), { ...purged })
      ),
      Effect.tapCause((cause) => Effect.logError("what was kept long enough could not be purged", cause)),
      Effect.ignoreCause,
      Effect.repeat(Schedule.spaced(Duration.hours(1))),
      Effect.forkScoped
    )
  })
)
