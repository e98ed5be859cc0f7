/**
 * What every adapter of `RateLimitStore` keeps to.
 */
import type { OrganizationId, RateLimit } from "@castellan/core/organization/Organization"
import { RateLimitStore } from "@castellan/core/ratelimit/RateLimitStore"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"

const limit: RateLimit = { requestsPerMinute: 600, burst: 20 }

/** Runs the contract of `RateLimitStore` against an adapter. Time is the test's. */
export const suite = <E>(name: string, layer: Layer.Layer<RateLimitStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`RateLimitStore (${name})`, (it) => {
    const take = (id: OrganizationId, most: number, of: RateLimit = limit) =>
      RateLimitStore.use((store) => Effect.flatMap(DateTime.now, (now) => store.take(id, of, most, now)))

    it.effect("begins with a full bucket, and gives what there is, no more than is asked for", () =>
      Effect.gen(function* () {
        const id = yield* Sample.organizationId
        assert.deepStrictEqual(yield* take(id, 5), { granted: 5, level: 15 })
        assert.deepStrictEqual(yield* take(id, 12), { granted: 12, level: 3 })
        assert.deepStrictEqual(yield* take(id, 7), { granted: 3, level: 0 })
        assert.deepStrictEqual(yield* take(id, 1), { granted: 0, level: 0 })
        // Nobody pays for another.
        assert.deepStrictEqual(yield* take(yield* Sample.organizationId, 25), { granted: 20, level: 0 })
      })
    )

    it.effect("gets its tokens back evenly, up to its burst", () =>
      Effect.gen(function* () {
        const id = yield* Sample.organizationId
        yield* take(id, 20)
        yield* TestClock.adjust("99 millis")
        assert.strictEqual((yield* take(id, 1)).granted, 0)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual((yield* take(id, 9)).granted, 1)
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual((yield* take(id, 100)).granted, 10)
        yield* TestClock.adjust("1 hours")
        assert.deepStrictEqual(yield* take(id, 100), { granted: 20, level: 0 })
      })
    )

    it.effect("gets none back by the clock of a server that lags behind, nor afterwards", () =>
      Effect.gen(function* () {
        const id = yield* Sample.organizationId
        yield* TestClock.adjust("1 minutes")
        yield* take(id, 20)
        const lagging = DateTime.subtract(yield* DateTime.now, { seconds: 10 })
        const late = RateLimitStore.use((store) => store.take(id, limit, 1, lagging))
        assert.deepStrictEqual(yield* late, { granted: 0, level: 0 })
        assert.deepStrictEqual(yield* take(id, 1), { granted: 0, level: 0 })
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual((yield* take(id, 100)).granted, 10)
      })
    )

    it.effect("goes by the limit that it is told each time", () =>
      Effect.gen(function* () {
        const id = yield* Sample.organizationId
        yield* take(id, 20)
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual((yield* take(id, 100, { requestsPerMinute: 60, burst: 20 })).granted, 1)
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual((yield* take(id, 100, { requestsPerMinute: 6000, burst: 50 })).granted, 50)
      })
    )

    it.effect("gives no token twice, however many ask at once", () =>
      Effect.gen(function* () {
        const id = yield* Sample.organizationId
        const taken = yield* Effect.forEach(Array.from({ length: 50 }), () => take(id, 1), { concurrency: 50 })
        assert.strictEqual(
          taken.reduce((sum, { granted }) => sum + granted, 0),
          20
        )
      })
    )
  })
}
