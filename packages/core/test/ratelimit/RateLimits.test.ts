import * as CutShort from "@castellan/testing/fixture/CutShort"
import * as Sample from "@castellan/testing/fixture/Sample"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, DateTime, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { StorageUnavailable } from "../../src/error/StorageUnavailable.ts"
import { Organization, type OrganizationId, type RateLimit } from "../../src/organization/Organization.ts"
import * as OrganizationStore from "../../src/organization/OrganizationStore.ts"
import * as RateLimits from "../../src/ratelimit/RateLimits.ts"
import * as RateLimitStore from "../../src/ratelimit/RateLimitStore.ts"

/** The store, and how often it was asked. */
const counted = Effect.gen(function* () {
  const store = yield* RateLimitStore.RateLimitStore
  const asked = { times: 0 }
  return {
    asked,
    store: RateLimitStore.RateLimitStore.of({
      take: (...of) => {
        asked.times += 1
        // Others come while it thinks.
        return Effect.andThen(Effect.yieldNow, store.take(...of))
      }
    })
  }
})

/** A server of the deployment. */
const serverOn = (store: RateLimitStore.RateLimitStore["Service"]) =>
  Effect.map(
    Layer.build(Layer.fresh(RateLimits.layer).pipe(Layer.provide(Layer.succeed(RateLimitStore.RateLimitStore, store)))),
    (built) => Context.get(built, RateLimits.RateLimits)
  )

const organization = (rateLimit?: RateLimit) =>
  Effect.gen(function* () {
    const id = yield* Sample.organizationId
    const store = yield* OrganizationStore.OrganizationStore
    const save = (limit: RateLimit | undefined) =>
      Effect.flatMap(DateTime.now, (createdAt) =>
        store.save(
          new Organization({ id, name: "Acme", createdAt, ...(limit === undefined ? {} : { rateLimit: limit }) })
        )
      )
    yield* save(rateLimit)
    return { id, save }
  })

const passes = (server: RateLimits.RateLimits["Service"], id: OrganizationId) =>
  Effect.map(server.count(id), ({ exceeded }) => exceeded === undefined)

/** How many of so many requests that come one after the other may go on. */
const passing = (server: RateLimits.RateLimits["Service"], id: OrganizationId, requests: number) =>
  Effect.map(
    Effect.forEach(Array.from({ length: requests }), () => passes(server, id)),
    (all) => all.filter((passed) => passed).length
  )

const layer = Layer.mergeAll(OrganizationStore.layerMemory, RateLimitStore.layerMemory, layerCrypto)

describe("RateLimits", () => {
  it.effect("lets a burst pass, and what comes back: 100 at once and 600 a minute unless it is set", () =>
    Effect.gen(function* () {
      const server = yield* serverOn(yield* RateLimitStore.RateLimitStore)
      const { id } = yield* organization()
      const first = yield* server.count(id)
      assert.deepStrictEqual(first, {
        limit: { requestsPerMinute: 600, burst: 100 },
        remaining: 99,
        resetSeconds: 1
      })
      assert.strictEqual(yield* passing(server, id, 150), 99)
      const refused = yield* server.count(id)
      assert.deepInclude(refused, { remaining: 0, resetSeconds: 10 })
      assert.deepInclude(refused.exceeded, { code: "rate_limit_exceeded", retryAfterSeconds: 1 })
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual(yield* passing(server, id, 20), 10)
      yield* TestClock.adjust("1 hours")
      assert.strictEqual(yield* passing(server, id, 150), 100)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("a store that takes longer to answer than its tokens hold delays requests, and refuses none for it", () =>
    Effect.gen(function* () {
      const { asked, store } = yield* counted
      const server = yield* serverOn({ take: (...of) => Effect.delay(store.take(...of), "2 seconds") })
      const { id } = yield* organization({ requestsPerMinute: 60, burst: 5 })
      for (const time of [1, 2, 3]) {
        const counting = yield* Effect.forkChild(server.count(id), { startImmediately: true })
        yield* TestClock.adjust("2 seconds")
        assert.isDefined(counting.pollUnsafe(), `the request ${time}`)
        assert.isUndefined((yield* Fiber.join(counting)).exceeded, `the request ${time}`)
        assert.strictEqual(asked.times, time)
        yield* TestClock.adjust("10 seconds")
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("never tells of more requests than a burst has, whatever a server has at hand", () =>
    Effect.gen(function* () {
      const server = yield* serverOn(yield* RateLimitStore.RateLimitStore)
      const { id } = yield* organization({ requestsPerMinute: 6000, burst: 100 })
      for (let round = 0; round < 30; round++) {
        for (let request = 0; request < 5; request++) {
          assert.isAtMost((yield* server.count(id)).remaining, 100, `round ${round}, request ${request}`)
        }
        yield* TestClock.adjust("120 millis")
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("says when it is worth trying again", () =>
    Effect.gen(function* () {
      const server = yield* serverOn(yield* RateLimitStore.RateLimitStore)
      const { id } = yield* organization({ requestsPerMinute: 2, burst: 1 })
      assert.isTrue(yield* passes(server, id))
      assert.strictEqual((yield* server.count(id)).exceeded?.retryAfterSeconds, 30)
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual((yield* server.count(id)).exceeded?.retryAfterSeconds, 1)
      yield* TestClock.adjust("1 seconds")
      assert.isTrue(yield* passes(server, id))
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("counts an organization for itself, and by the limit of now, at the latest after ten seconds", () =>
    Effect.gen(function* () {
      const server = yield* serverOn(yield* RateLimitStore.RateLimitStore)
      const [one, other] = [
        yield* organization({ requestsPerMinute: 1, burst: 1 }),
        yield* organization({ requestsPerMinute: 1, burst: 3 })
      ]
      assert.deepStrictEqual([yield* passing(server, one.id, 5), yield* passing(server, other.id, 5)], [1, 3])
      yield* one.save({ requestsPerMinute: 6000, burst: 50 })
      yield* TestClock.adjust("10 seconds")
      // What came back since was counted by the new limit.
      assert.strictEqual(yield* passing(server, one.id, 100), 50)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("asks the store for many that come at once together, and gives each its own", () =>
    Effect.gen(function* () {
      const { asked, store } = yield* counted
      const server = yield* serverOn(store)
      const { id } = yield* organization({ requestsPerMinute: 600, burst: 50 })
      const all = yield* Effect.forEach(Array.from({ length: 80 }), () => passes(server, id), { concurrency: 80 })
      assert.strictEqual(all.filter((passed) => passed).length, 50)
      assert.isAtMost(asked.times, 3)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("asks the store twice a second for a steady crowd, and not at all while there is nothing", () =>
    Effect.gen(function* () {
      const { asked, store } = yield* counted
      const server = yield* serverOn(store)
      const { id } = yield* organization({ requestsPerMinute: 60_000, burst: 2_000 })
      for (let step = 0; step < 100; step++) {
        yield* TestClock.adjust("10 millis")
        if (step === 50) asked.times = 0
        assert.strictEqual(yield* passing(server, id, 5), 5)
      }
      assert.isAtMost(asked.times, 3)
      const { id: poor } = yield* organization({ requestsPerMinute: 1, burst: 1 })
      yield* passes(server, poor)
      asked.times = 0
      assert.strictEqual(yield* passing(server, poor, 1_000), 0)
      assert.isAtMost(asked.times, 1)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("keeps no tokens for later", () =>
    Effect.gen(function* () {
      const server = yield* serverOn(yield* RateLimitStore.RateLimitStore)
      const { id } = yield* organization({ requestsPerMinute: 60_000, burst: 100 })
      // The bucket is full again by then; what was taken out of it and not spent does not come on top.
      for (const time of ["500 millis", "1 minutes"] as const) {
        assert.strictEqual(yield* passing(server, id, 40), 40)
        yield* TestClock.adjust(time)
        assert.strictEqual(yield* passing(server, id, 200), 100)
        yield* TestClock.adjust("1 minutes")
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("asks the store once a request at most, where few come", () =>
    Effect.gen(function* () {
      const { asked, store } = yield* counted
      const server = yield* serverOn(store)
      const { id } = yield* organization({ requestsPerMinute: 60, burst: 5 })
      for (let time = 0; time < 20; time++) {
        assert.isTrue(yield* passes(server, id))
        yield* TestClock.adjust("1 seconds")
      }
      assert.strictEqual(asked.times, 20)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  for (const [servers, limit] of [
    [1, { requestsPerMinute: 600, burst: 100 }],
    [4, { requestsPerMinute: 600, burst: 100 }],
    [4, { requestsPerMinute: 6_000, burst: 10 }],
    [9, { requestsPerMinute: 60, burst: 1 }]
  ] as const) {
    it.effect(
      `passes no more than 1 % above a limit of ${limit.requestsPerMinute} a minute, over ${servers} servers`,
      () =>
        Effect.gen(function* () {
          const store = yield* RateLimitStore.RateLimitStore
          const fleet = yield* Effect.forEach(Array.from({ length: servers }), () => serverOn(store))
          const { id } = yield* organization(limit)
          const passed: Array<number> = []
          // Crowds come and go: leases are taken, lapse, and buckets fill up in between.
          for (let now = 0; now < 130_000; now += 50) {
            const crowd = now % 20_000 < 12_000 ? 3 : now % 700 === 0 ? 1 : 0
            for (const server of fleet)
              passed.push(...Array.from({ length: yield* passing(server, id, crowd) }, () => now))
            yield* TestClock.adjust("50 millis")
          }
          for (let from = 0; from <= 70_000; from += 500) {
            const within = passed.filter((at) => at >= from && at < from + 60_000).length
            assert.isAtMost(within, limit.burst + limit.requestsPerMinute * 1.01)
          }
          // And hardly anything is lost on the way: whoever asks all the time gets what there is.
          const crowded = passed.filter((at) => at < 12_000).length
          assert.isAtLeast(crowded, (limit.burst + limit.requestsPerMinute / 5) * 0.9)
        }).pipe(Effect.scoped, Effect.provide(layer))
    )
  }

  it.effect("a client that leaves while the store is asked keeps nobody waiting", () =>
    Effect.gen(function* () {
      const store = yield* RateLimitStore.RateLimitStore
      const gate = yield* Deferred.make<void>()
      const asked = yield* Deferred.make<void>()
      const server = yield* serverOn(
        RateLimitStore.RateLimitStore.of({
          take: (...of) =>
            Effect.andThen(Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(gate)), store.take(...of))
        })
      )
      const { id } = yield* organization()
      const leaving = yield* Effect.forkChild(server.count(id))
      yield* Deferred.await(asked)
      const staying = yield* Effect.forkChild(passes(server, id), { startImmediately: true })
      const left = yield* Effect.forkChild(Fiber.interrupt(leaving), { startImmediately: true })
      yield* Effect.yieldNow
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(left)
      assert.isTrue(yield* Fiber.join(staying))
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("a client that leaves at any step keeps nobody waiting, and is not waited for", () =>
    Effect.gen(function* () {
      const store = yield* RateLimitStore.RateLimitStore
      let most = 0
      const server = yield* serverOn(
        RateLimitStore.RateLimitStore.of({
          take: (id, limit, tokens, now) => {
            most = tokens
            return store.take(id, limit, tokens, now)
          }
        })
      )
      const yields = (times: number) => Effect.forEach(Array.from({ length: times }), () => Effect.yieldNow)
      for (let step = 0; step < 40; step++) {
        const { id } = yield* organization()
        yield* CutShort.at(step, server.count(id))
        // What is expected goes by what came lately.
        yield* TestClock.adjust("2 seconds")
        const staying = yield* Effect.forkChild(passes(server, id))
        yield* yields(100)
        assert.isDefined(staying.pollUnsafe(), `step ${step}`)
        assert.strictEqual(most, 1, `step ${step}`)
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("a store that never answers is as one that is away, and asked again by the next", () =>
    Effect.gen(function* () {
      const store = yield* RateLimitStore.RateLimitStore
      let times = 0
      const server = yield* serverOn(
        RateLimitStore.RateLimitStore.of({ take: (...of) => ((times += 1) === 1 ? Effect.never : store.take(...of)) })
      )
      const { id } = yield* organization()
      const waiting = yield* Effect.forkChild(Effect.exit(server.count(id)), { startImmediately: true })
      yield* TestClock.adjust("4 seconds")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 seconds")
      const exit = yield* Fiber.join(waiting)
      assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof StorageUnavailable)
      assert.isTrue(yield* passes(server, id))
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("a store that is away is told to all who wait, and asked again by the next", () =>
    Effect.gen(function* () {
      const store = yield* RateLimitStore.RateLimitStore
      const state = { isAway: true }
      const server = yield* serverOn(
        RateLimitStore.RateLimitStore.of({
          take: (...of) =>
            Effect.andThen(
              Effect.yieldNow,
              Effect.suspend(() =>
                state.isAway ? Effect.die(new StorageUnavailable({ cause: new Error("gone") })) : store.take(...of)
              )
            )
        })
      )
      const { id } = yield* organization()
      const exits = yield* Effect.forEach([1, 2, 3], () => Effect.exit(server.count(id)), { concurrency: 3 })
      assert.isTrue(exits.every(Exit.isFailure))
      state.isAway = false
      assert.isTrue(yield* passes(server, id))
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
