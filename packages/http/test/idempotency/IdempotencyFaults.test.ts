import { IdempotencyStore } from "@castellan/core/idempotency/IdempotencyStore"
import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Duration, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { conflict, create, idOf, isReplay, newKey, playbooks, server } from "../support/Keyed.ts"
import * as Site from "../support/Site.ts"

/** A lease that is shorter than the time that a request may take. */
const limits = { idempotencyLease: Duration.seconds(10) }

/** A server whose every word to the records goes through a test's hands. */
const serverWith = (change: (store: IdempotencyStore["Service"]) => Partial<IdempotencyStore["Service"]>) =>
  Effect.flatMap(IdempotencyStore, (store) =>
    server(Context.make(IdempotencyStore, { ...store, ...change(store) }), { limits })
  )

/** Where a server is dead: nothing that it says is heard until the test has ended. */
const grave = Effect.map(Deferred.make<never>(), (end) => {
  const silence = Deferred.await(end)
  return {
    silence,
    dead: { renew: () => silence, answer: () => silence, release: () => silence },
    /** To be done before the server is stopped, which waits for what it does. */
    opened: Effect.addFinalizer(() => Deferred.die(end, new Error("the test has ended")))
  }
})

layer(Site.layer({ limits }), { timeout: "180 seconds" })("idempotent requests and what can go wrong", (it) => {
  it.effect("a server that died before its use case committed: the next attempt carries the request out", () =>
    Effect.gen(function* () {
      const key = newKey()
      const before = yield* playbooks
      const claimed = yield* Deferred.make<void>()
      const { dead, opened, silence } = yield* grave
      const dying = yield* serverWith((store) => ({
        ...dead,
        claim: (claim) =>
          Effect.andThen(store.claim(claim), Effect.andThen(Deferred.succeed(claimed, undefined), silence))
      }))
      yield* opened
      yield* Effect.forkChild(Effect.provideService(create(key), Site.Site, dying))
      yield* Deferred.await(claimed)
      conflict(yield* create(key), /still being carried out/)
      yield* TestClock.adjust("10 seconds")
      const next = yield* create(key)
      assert.deepStrictEqual([next.status, isReplay(next)], [201, false])
      assert.strictEqual(yield* playbooks, before + 1)
    }).pipe(Effect.scoped)
  )

  it.effect("a server that died between commit and answer: nobody does it again, and who asks is told", () =>
    Effect.gen(function* () {
      const key = newKey()
      const before = yield* playbooks
      const answering = yield* Deferred.make<void>()
      const { dead, opened, silence } = yield* grave
      const dying = yield* serverWith(() => ({
        ...dead,
        answer: () => Effect.andThen(Deferred.succeed(answering, undefined), silence)
      }))
      yield* opened
      yield* Effect.forkChild(Effect.provideService(create(key), Site.Site, dying))
      yield* Deferred.await(answering)
      assert.strictEqual(yield* playbooks, before + 1)
      conflict(yield* create(key), /still being carried out/)
      for (const time of ["10 seconds", "23 hours"] as const) {
        yield* TestClock.adjust(time)
        conflict(yield* create(key), /was carried out, and its answer is lost/)
      }
      assert.strictEqual(yield* playbooks, before + 1)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "a server that was only slow does nothing after another has taken over, and gives no answer over its own",
    () =>
      Effect.gen(function* () {
        const key = newKey()
        const before = yield* playbooks
        const [claimed, woken] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const slow = yield* serverWith((store) => ({
          renew: () => Effect.succeed(true),
          claim: (claim) =>
            Effect.tap(store.claim(claim), () =>
              Effect.andThen(Deferred.succeed(claimed, undefined), Deferred.await(woken))
            )
        }))
        const late = yield* Effect.forkChild(Effect.provideService(create(key), Site.Site, slow))
        yield* Deferred.await(claimed)
        yield* TestClock.adjust("10 seconds")
        const taken = yield* create(key)
        assert.strictEqual(taken.status, 201)
        yield* Deferred.succeed(woken, undefined)
        conflict(yield* Fiber.join(late), /another attempt at the request has taken over/)
        assert.strictEqual(yield* playbooks, before + 1)
        const again = yield* Effect.provideService(create(key), Site.Site, slow)
        assert.deepStrictEqual([isReplay(again), idOf(again)], [true, idOf(taken)])
      }).pipe(Effect.scoped)
  )

  it.effect("a server that is slow and alive keeps its request", () =>
    Effect.gen(function* () {
      const key = newKey()
      const [claimed, woken] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const slow = yield* serverWith((store) => ({
        commit: (attempt) =>
          Effect.andThen(
            Effect.andThen(Deferred.succeed(claimed, undefined), Deferred.await(woken)),
            store.commit(attempt)
          )
      }))
      const first = yield* Effect.forkChild(Effect.provideService(create(key), Site.Site, slow))
      yield* Deferred.await(claimed)
      for (let step = 0; step < 5; step++) {
        yield* TestClock.adjust("5 seconds")
        conflict(yield* create(key), /still being carried out/)
      }
      yield* Deferred.succeed(woken, undefined)
      const made = yield* Fiber.join(first)
      assert.strictEqual(made.status, 201)
      assert.strictEqual((yield* create(key)).text, made.text)
    }).pipe(Effect.scoped)
  )

  it.effect("a client that leaves while its request is claimed leaves it to the next", () =>
    Effect.gen(function* () {
      const key = newKey()
      const before = yield* playbooks
      const [claimed, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const slow = yield* serverWith((store) => ({
        // The records answer once the server has noticed that the client is gone.
        claim: (claim) =>
          Effect.tap(store.claim(claim), () =>
            Effect.andThen(Deferred.succeed(claimed, undefined), Effect.exit(Effect.interruptible(Effect.never)))
          ),
        release: (attempt, now) => Effect.tap(store.release(attempt, now), () => Deferred.succeed(released, undefined))
      }))
      const first = yield* Effect.forkChild(Effect.provideService(create(key), Site.Site, slow))
      yield* Deferred.await(claimed)
      yield* Fiber.interrupt(first)
      yield* Deferred.await(released)
      const next = yield* create(key)
      assert.deepStrictEqual([next.status, isReplay(next)], [201, false])
      assert.strictEqual(yield* playbooks, before + 1)
    }).pipe(Effect.scoped)
  )

  it.effect("records that do not take the answer keep nobody from it", () =>
    Effect.gen(function* () {
      const key = newKey()
      const before = yield* playbooks
      const failing = yield* serverWith(() => ({
        answer: () => Effect.die(new Error("the records are away")),
        release: () => Effect.die(new Error("the records are away"))
      }))
      assert.strictEqual((yield* Effect.provideService(create(key), Site.Site, failing)).status, 201)
      assert.strictEqual(yield* playbooks, before + 1)
      yield* TestClock.adjust("10 seconds")
      conflict(yield* create(key), /its answer is lost/)
    }).pipe(Effect.scoped)
  )

  it.effect("what a server is asked to keep does not give away what only the answer holds", () =>
    Effect.gen(function* () {
      const kept: Array<Uint8Array> = []
      const watched = yield* serverWith((store) => ({
        answer: (attempt, answer) => {
          kept.push(answer)
          return store.answer(attempt, answer)
        }
      }))
      const body = { name: "once", inheritAllRoles: true }
      const made = yield* Effect.provideService(
        Site.post("/v2/api-keys", body, { headers: { "idempotency-key": newKey() } }),
        Site.Site,
        watched
      )
      const { key } = JSON.parse(made.text)
      const bytes = Buffer.concat(kept)
      assert.isAbove(bytes.length, made.body.length)
      assert.isFalse(bytes.includes(String(key)))
      assert.isFalse(bytes.includes("once"))
    }).pipe(Effect.scoped)
  )

  it.effect("a deployment whose secret is another one now knows the key, and does nothing again", () =>
    Effect.gen(function* () {
      const key = newKey()
      assert.strictEqual((yield* create(key)).status, 201)
      const other = yield* server(undefined, { http: { assetSecret: Redacted.make("x".repeat(32)) } })
      conflict(yield* Effect.provideService(create(key), Site.Site, other), /another request/)
    }).pipe(Effect.scoped)
  )
})
