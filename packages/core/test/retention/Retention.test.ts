import * as RetentionModule from "@castellan/core/retention/Retention"
import { IdempotencyStore } from "@castellan/core/idempotency/IdempotencyStore"
import { ExecutionStore } from "@castellan/core/sandcastle/ExecutionStore"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Ref } from "effect"
import { TestClock } from "effect/testing"

const { Retention } = RetentionModule

/** What a store was asked to remove. */
interface Asked {
  readonly what: "executions" | "requests"
  readonly before: string
  readonly limit: number
}

/** Stores that hold so many old rows, and note what they are asked; the first `failures` purges of requests die. */
const counting = Effect.fnUntraced(function* (old: { executions: number; requests: number; failures?: number }) {
  const asked = yield* Ref.make<ReadonlyArray<Asked>>([])
  const left = { executions: old.executions, requests: old.requests }
  let failures = old.failures ?? 0
  const purge = (what: Asked["what"]) => (before: DateTime.Utc, limit: number) =>
    Effect.gen(function* () {
      yield* Ref.update(asked, (all) => [...all, { what, before: DateTime.formatIso(before), limit }])
      if (what === "requests" && failures > 0) {
        failures -= 1
        return yield* Effect.die(new Error("the storage is gone"))
      }
      const removed = Math.min(limit, left[what])
      left[what] -= removed
      return removed
    })
  const unused = () => Effect.die(new Error("retention only purges"))
  const layer = Layer.mergeAll(
    Layer.succeed(ExecutionStore, {
      save: unused,
      end: unused,
      get: unused,
      list: unused,
      unfinished: unused,
      purge: purge("executions")
    }),
    Layer.succeed(IdempotencyStore, {
      claim: unused,
      commit: unused,
      renew: unused,
      answer: unused,
      release: unused,
      purge: purge("requests")
    })
  )
  return { asked: Ref.getAndSet(asked, []), left, layer }
})

const at = (text: string) => TestClock.setTime(DateTime.toEpochMillis(DateTime.makeUnsafe(text)))

describe("Retention", () => {
  it.effect("removes executions after 30 days and idempotent requests after 24 hours, in batches of 1000", () =>
    Effect.gen(function* () {
      yield* at("2030-03-31T12:00:00Z")
      const { asked, layer } = yield* counting({ executions: 2500, requests: 1000 })
      const purged = yield* Effect.provide(
        Retention.use((retention) => retention.purge),
        Layer.provide(RetentionModule.layer, layer)
      )
      assert.deepStrictEqual(purged, { executions: 2500, idempotentRequests: 1000 })
      const executions: Asked = { what: "executions", before: "2030-03-01T12:00:00.000Z", limit: 1000 }
      const requests: Asked = { what: "requests", before: "2030-03-30T12:00:00.000Z", limit: 1000 }
      assert.deepStrictEqual(yield* asked, [executions, executions, executions, requests, requests])
    })
  )

  it.effect("is done at the start and every hour, and again after a purge that failed", () =>
    Effect.gen(function* () {
      const { asked, layer, left } = yield* counting({ executions: 1, requests: 1, failures: 2 })
      const hourly = RetentionModule.layerHourly.pipe(Layer.provide(RetentionModule.layer), Layer.provide(layer))
      yield* Layer.build(hourly)
      yield* TestClock.adjust(0)
      assert.strictEqual((yield* asked).length, 2)
      assert.deepStrictEqual(left, { executions: 0, requests: 1 })
      yield* TestClock.adjust("59 minutes")
      assert.deepStrictEqual(yield* asked, [])
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* asked).length, 2)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* asked).length, 2)
      assert.deepStrictEqual(left, { executions: 0, requests: 0 })
    })
  )
})
