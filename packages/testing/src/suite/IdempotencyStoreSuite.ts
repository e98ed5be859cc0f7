/**
 * What every adapter of `IdempotencyStore` keeps to, with the transactions of the same deployment.
 */
import {
  type Attempt,
  AttemptId,
  IdempotentRequestId,
  RequestFingerprint
} from "@castellan/core/idempotency/IdempotentRequest"
import { IdempotencyStore } from "@castellan/core/idempotency/IdempotencyStore"
import type { Claim } from "@castellan/core/idempotency/IdempotentRequestState"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { Transaction } from "@castellan/core/transaction/Transaction"
import { assert, it } from "@effect/vitest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"

const digest = SecureRandom.SecureRandom.use((random) =>
  Effect.map(Effect.all([random.uuidV4(), random.uuidV4()]), (parts) => parts.join("").replaceAll("-", ""))
)

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Runs the contract of `IdempotencyStore` against an adapter. Time is the test's. */
export const suite = <E>(name: string, layer: Layer.Layer<IdempotencyStore | Transaction, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`IdempotencyStore (${name})`, (it) => {
    const request = Effect.gen(function* () {
      return {
        organizationId: yield* Sample.organizationId,
        id: IdempotentRequestId.make(yield* digest),
        fingerprint: RequestFingerprint.make(yield* digest)
      }
    })

    /** A new attempt at a request, with a lease of a minute. */
    const attempt = (at: Pick<Claim, "organizationId" | "id" | "fingerprint">) =>
      Effect.gen(function* () {
        const now = yield* DateTime.now
        return {
          ...at,
          attempt: AttemptId.make(yield* Uuid.next),
          now,
          leaseUntil: DateTime.add(now, { minutes: 1 })
        }
      })

    const claim = (claimed: Claim) =>
      Effect.flatMap(IdempotencyStore, (store) => Effect.map(store.claim(claimed), ({ _tag }) => _tag))

    const claimAnew = (at: Parameters<typeof attempt>[0]) => Effect.flatMap(attempt(at), claim)

    const commit = (of: Attempt) => IdempotencyStore.use((store) => store.commit(of))

    it.effect("grants a request to one attempt, and answers the others with what became of it", () =>
      Effect.gen(function* () {
        const store = yield* IdempotencyStore
        const asked = yield* request
        const first = yield* attempt(asked)
        assert.strictEqual(yield* claim(first), "Granted")
        assert.strictEqual(yield* claimAnew(asked), "Underway")
        assert.isTrue(yield* commit(first))
        assert.strictEqual(yield* claimAnew(asked), "Underway")
        assert.isTrue(yield* store.answer(first, bytes("the answer\u0000")))
        const outcome = yield* store.claim(yield* attempt(asked))
        assert.strictEqual(outcome._tag, "Answered")
        assert.deepStrictEqual(outcome._tag === "Answered" ? [...outcome.answer] : [], [...bytes("the answer\u0000")])
        // The first answer stays, and a commit after it is as good as one before.
        assert.isTrue(yield* store.answer(first, bytes("another")))
        assert.isTrue(yield* commit(first))
        assert.isTrue(yield* store.release(first, yield* DateTime.now))
        assert.deepStrictEqual(yield* store.claim(yield* attempt(asked)), outcome)
      })
    )

    it.effect("tells a key that was used for something else, at any time", () =>
      Effect.gen(function* () {
        const store = yield* IdempotencyStore
        const asked = yield* request
        const other = { ...asked, fingerprint: RequestFingerprint.make(yield* digest) }
        const first = yield* attempt(asked)
        yield* claim(first)
        assert.strictEqual(yield* claimAnew(other), "Differs")
        yield* TestClock.adjust("1 minutes")
        assert.strictEqual(yield* claimAnew(other), "Differs")
        yield* commit(first)
        assert.strictEqual(yield* claimAnew(other), "Differs")
        yield* store.answer(first, bytes("x"))
        assert.strictEqual(yield* claimAnew(other), "Differs")
      })
    )

    it.effect("grants one of many that claim at once", () =>
      Effect.gen(function* () {
        const asked = yield* request
        for (let round = 0; round < 3; round++) {
          const outcomes = yield* Effect.forEach(Array.from({ length: 20 }), () => claimAnew(asked), {
            concurrency: 20
          })
          assert.deepStrictEqual(outcomes.toSorted(), ["Granted", ...Array.from({ length: 19 }, () => "Underway")])
          // Once more, against a lease that has run out.
          yield* TestClock.adjust("2 minutes")
        }
      })
    )

    it.effect("gives a request that nothing was done of to the next, and refuses the one that lost it", () =>
      Effect.gen(function* () {
        const store = yield* IdempotencyStore
        const transaction = yield* Transaction
        const asked = yield* request
        const lost = yield* attempt(asked)
        yield* claim(lost)
        yield* TestClock.adjust("1 minutes")
        const next = yield* attempt(asked)
        assert.strictEqual(yield* claim(next), "Granted")
        const now = yield* DateTime.now
        const steps = [
          transaction.run(commit(lost)),
          store.renew(lost, DateTime.add(now, { hours: 1 })),
          store.answer(lost, bytes("late")),
          store.release(lost, now)
        ]
        for (const step of steps) assert.isFalse(yield* step)
        assert.strictEqual(yield* claimAnew(asked), "Underway")
        assert.isTrue(yield* transaction.run(commit(next)))
        assert.isFalse(yield* transaction.run(commit(lost)))
      })
    )

    it.effect("of a commit and a takeover at once, one wins", () =>
      Effect.gen(function* () {
        const transaction = yield* Transaction
        for (let round = 0; round < 20; round++) {
          const asked = yield* request
          const [slow, next] = [yield* attempt(asked), yield* attempt(asked)]
          yield* claim(slow)
          yield* TestClock.adjust("1 minutes")
          const later = {
            ...next,
            now: yield* DateTime.now,
            leaseUntil: DateTime.add(yield* DateTime.now, { minutes: 1 })
          }
          const committing = transaction.run(
            Effect.andThen(Effect.replicateEffect(Effect.yieldNow, round), commit(slow))
          )
          const [kept, outcome] = yield* Effect.all([committing, claim(later)], { concurrency: 2 })
          assert.strictEqual(outcome, kept ? "CarriedOut" : "Granted")
        }
      })
    )

    it.effect("never gives away a request that was carried out", () =>
      Effect.gen(function* () {
        const store = yield* IdempotencyStore
        const transaction = yield* Transaction
        const asked = yield* request
        const first = yield* attempt(asked)
        yield* claim(first)
        yield* transaction.run(commit(first))
        yield* TestClock.adjust("1 hours")
        assert.strictEqual(yield* claimAnew(asked), "CarriedOut")
        // Its own attempt may still answer.
        assert.isTrue(yield* store.answer(first, bytes("at last")))
        assert.strictEqual(yield* claimAnew(asked), "Answered")
      })
    )

    it.effect("forgets the commit of a transaction that was given up", () =>
      Effect.gen(function* () {
        const transaction = yield* Transaction
        const asked = yield* request
        const first = yield* attempt(asked)
        yield* claim(first)
        const exit = yield* Effect.exit(transaction.run(Effect.andThen(commit(first), Effect.fail("no"))))
        assert.isTrue(Exit.isFailure(exit))
        yield* TestClock.adjust("1 minutes")
        assert.strictEqual(yield* claimAnew(asked), "Granted")
      })
    )

    it.effect("keeps a lease that is renewed", () =>
      Effect.gen(function* () {
        const store = yield* IdempotencyStore
        const asked = yield* request
        const first = yield* attempt(asked)
        yield* claim(first)
        yield* TestClock.adjust("50 seconds")
        assert.isTrue(yield* store.renew(first, DateTime.add(yield* DateTime.now, { minutes: 1 })))
        yield* TestClock.adjust("50 seconds")
        assert.strictEqual(yield* claimAnew(asked), "Underway")
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(yield* claimAnew(asked), "Granted")
      })
    )

    it.effect("forgets what is released, unless it was carried out", () =>
      Effect.gen(function* () {
        const store = yield* IdempotencyStore
        const asked = yield* request
        const first = yield* attempt(asked)
        yield* claim(first)
        assert.isTrue(yield* store.release(first, yield* DateTime.now))
        // Not even what was asked is remembered.
        const other = yield* attempt({ ...asked, fingerprint: RequestFingerprint.make(yield* digest) })
        assert.strictEqual(yield* claim(other), "Granted")
        yield* commit(other)
        assert.isTrue(yield* store.release(other, yield* DateTime.now))
        assert.strictEqual(yield* claimAnew(other), "CarriedOut")
      })
    )

    it.effect("remembers for 24 hours", () =>
      Effect.gen(function* () {
        const store = yield* IdempotencyStore
        const asked = yield* request
        const first = yield* attempt(asked)
        yield* claim(first)
        yield* store.answer(first, bytes("x"))
        yield* TestClock.adjust("86399 seconds")
        assert.strictEqual(yield* claimAnew(asked), "Answered")
        yield* TestClock.adjust("1 seconds")
        const next = yield* attempt({ ...asked, fingerprint: RequestFingerprint.make(yield* digest) })
        assert.strictEqual(yield* claim(next), "Granted")
        assert.isFalse(yield* store.answer(first, bytes("late")))
      })
    )

    it.effect("keeps organizations apart", () =>
      Effect.gen(function* () {
        const store = yield* IdempotencyStore
        const ours = yield* request
        const theirs = { ...ours, organizationId: yield* Sample.organizationId }
        const first = yield* attempt(ours)
        assert.strictEqual(yield* claim(first), "Granted")
        assert.strictEqual(yield* claimAnew(theirs), "Granted")
        assert.isFalse(yield* store.answer({ ...first, organizationId: theirs.organizationId }, bytes("x")))
        // Under the same name, each is told what became of its own.
        assert.isTrue(yield* store.answer(first, bytes("x")))
        assert.strictEqual(yield* claimAnew(theirs), "Underway")
        assert.strictEqual(yield* claimAnew(ours), "Answered")
      })
    )

    it.effect("purges what is old, so many at a time, and nothing that is being carried out", () =>
      Effect.gen(function* () {
        const store = yield* IdempotencyStore
        // Whatever the tests before have left.
        while ((yield* store.purge(DateTime.add(yield* DateTime.now, { days: 3650 }), 100)) === 100);
        const old = yield* Effect.forEach(Array.from({ length: 5 }), () => Effect.flatMap(request, attempt))
        yield* Effect.forEach(old, claim)
        yield* Effect.forEach(old, (one) => store.answer(one, bytes("x")))
        const long = yield* attempt(yield* request)
        yield* claim({ ...long, leaseUntil: DateTime.add(long.now, { hours: 2 }) })
        yield* TestClock.adjust("1 hours")
        const recent = yield* attempt(yield* request)
        yield* claim(recent)
        const before = DateTime.subtract(yield* DateTime.now, { minutes: 30 })
        assert.strictEqual(yield* store.purge(before, 3), 3)
        assert.strictEqual(yield* store.purge(before, 3), 2)
        assert.strictEqual(yield* store.purge(before, 3), 0)
        assert.strictEqual(yield* claimAnew(long), "Underway")
        assert.strictEqual(yield* claimAnew(recent), "Underway")
        for (const one of old) assert.strictEqual(yield* claimAnew(one), "Granted")
      })
    )
  })
}
