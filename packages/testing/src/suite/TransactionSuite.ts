/**
 * What every adapter of `Transaction` keeps to, shown over the audit log and the organizations of the same deployment.
 */
import type { AuditEvent } from "@castellan/core/audit/AuditEvent"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import { Organization } from "@castellan/core/organization/Organization"
import { OrganizationStore } from "@castellan/core/organization/OrganizationStore"
import { Transaction } from "@castellan/core/transaction/Transaction"
import { assert, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as AdministrationSample from "../fixture/AdministrationSample.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"

/** Runs the contract of `Transaction` against an adapter and two of its stores. */
export const suite = <E>(name: string, layer: Layer.Layer<AuditStore | OrganizationStore | Transaction, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`Transaction (${name})`, (it) => {
    /** Two events of an organization of their own. */
    const events = Effect.gen(function* () {
      const actor = yield* Sample.principal(yield* Sample.organizationId)
      return [yield* AdministrationSample.auditEvent(actor), yield* AdministrationSample.auditEvent(actor)] as const
    })

    const kept = (event: AuditEvent): Effect.Effect<boolean, never, AuditStore> =>
      AuditStore.use((store) =>
        Effect.map(store.list(event.organizationId, { limit: 100 }), ({ items }) =>
          items.some(({ id }) => id === event.id)
        )
      )

    it.effect("keeps everything when it succeeds, and answers with what the effect answers", () =>
      Effect.gen(function* () {
        const store = yield* AuditStore
        const transaction = yield* Transaction
        const [first, second] = yield* events
        const answer = yield* transaction.run(
          Effect.as(Effect.andThen(store.append(first), store.append(second)), "answer")
        )
        assert.strictEqual(answer, "answer")
        assert.deepStrictEqual([yield* kept(first), yield* kept(second)], [true, true])
      })
    )

    it.effect("sees what it wrote itself", () =>
      Effect.gen(function* () {
        const store = yield* AuditStore
        const transaction = yield* Transaction
        const [event] = yield* events
        assert.isTrue(yield* transaction.run(Effect.andThen(store.append(event), kept(event))))
      })
    )

    for (const [how, end] of [
      ["fails", Effect.fail("no")],
      ["dies", Effect.die("no")],
      ["is interrupted", Effect.interrupt]
    ] as const) {
      it.effect(`keeps nothing when it ${how}, and ends as the effect ended`, () =>
        Effect.gen(function* () {
          const store = yield* AuditStore
          const organizations = yield* OrganizationStore
          const transaction = yield* Transaction
          const [event] = yield* events
          const organization = yield* Sample.organization()
          const exit = yield* Effect.exit(
            transaction.run(Effect.andThen(Effect.andThen(organizations.save(organization), store.append(event)), end))
          )
          const expected = yield* Effect.exit(end)
          assert.deepStrictEqual(
            Exit.isFailure(exit) && exit.cause.reasons.map((reason) => reason._tag),
            Exit.isFailure(expected) && expected.cause.reasons.map((reason) => reason._tag)
          )
          assert.isFalse(yield* kept(event))
          assert.isTrue(Option.isNone(yield* organizations.get(organization.id)))
        })
      )
    }

    it.effect("keeps nothing when it is interrupted from outside while it waits", () =>
      Effect.gen(function* () {
        const store = yield* AuditStore
        const transaction = yield* Transaction
        const [event, later] = yield* events
        const written = yield* Deferred.make<void>()
        const running = yield* Effect.forkChild(
          transaction.run(
            store.append(event).pipe(Effect.andThen(Deferred.succeed(written, undefined)), Effect.andThen(Effect.never))
          )
        )
        yield* Deferred.await(written)
        yield* Fiber.interrupt(running)
        assert.isFalse(yield* kept(event))
        // And it is in nobody's way.
        yield* transaction.run(store.append(later))
        assert.isTrue(yield* kept(later))
      })
    )

    it.effect("shows nothing to others before it commits: they see nothing, or wait until it has", () =>
      Effect.gen(function* () {
        const store = yield* AuditStore
        const transaction = yield* Transaction
        const [event] = yield* events
        let isEnding = false
        const written = yield* Deferred.make<void>()
        const looking = yield* Deferred.make<Fiber.Fiber<boolean>>()
        const running = yield* Effect.forkChild(
          transaction.run(
            Effect.gen(function* () {
              yield* store.append(event)
              yield* Deferred.succeed(written, undefined)
              const reader = yield* Deferred.await(looking)
              // Time enough for whoever has a connection of their own to be answered.
              const answered = Effect.sync(() => reader.pollUnsafe() !== undefined)
              yield* Effect.repeat(Effect.andThen(kept(event), answered), { until: (is) => is, times: 100 })
              isEnding = true
            })
          )
        )
        yield* Deferred.await(written)
        const looked = yield* Effect.forkChild(
          Effect.map(kept(event), (isSeen) => isSeen && !isEnding),
          { startImmediately: true }
        )
        yield* Deferred.succeed(looking, looked)
        assert.isFalse(yield* Fiber.join(looked), "seen while the transaction went on")
        yield* Fiber.join(running)
        assert.isTrue(yield* kept(event))
      })
    )

    it.effect("a transaction within another is part of it: a later failure of the outer one undoes both", () =>
      Effect.gen(function* () {
        const store = yield* AuditStore
        const transaction = yield* Transaction
        const [inner, outer] = yield* events
        const exit = yield* Effect.exit(
          transaction.run(
            transaction
              .run(store.append(inner))
              .pipe(Effect.andThen(store.append(outer)), Effect.andThen(Effect.fail("no")))
          )
        )
        assert.deepStrictEqual(exit, Exit.fail("no"))
        assert.deepStrictEqual([yield* kept(inner), yield* kept(outer)], [false, false])
      })
    )

    it.effect("two at once that each read and then write are as one after the other", () =>
      Effect.gen(function* () {
        const store = yield* AuditStore
        const transaction = yield* Transaction
        const [one, other] = yield* events
        const count = Effect.map(store.list(one.organizationId, { limit: 100 }), ({ items }) => items.length)
        const once = Effect.fnUntraced(function* (event: AuditEvent) {
          const before = yield* count
          yield* Effect.yieldNow
          if (before === 0) yield* store.append(event)
        })
        yield* Effect.all([transaction.run(once(one)), transaction.run(once(other))], { concurrency: "unbounded" })
        assert.strictEqual(yield* count, 1)
      })
    )

    it.effect("what it has read is still so when it commits, also where somebody else writes without one", () =>
      Effect.gen(function* () {
        const organizations = yield* OrganizationStore
        const transaction = yield* Transaction
        const organization = yield* Sample.organization({ name: "a" })
        yield* organizations.save(organization)
        const hasRead = yield* Deferred.make<void>()
        const hasWritten = yield* Deferred.make<void>()
        const append = Effect.gen(function* () {
          const found = yield* organizations.get(organization.id)
          const before = Option.getOrThrow(found).name
          yield* Deferred.succeed(hasRead, undefined)
          yield* Deferred.await(hasWritten)
          yield* organizations.save(new Organization({ ...organization, name: `${before}c` }))
        })
        const running = yield* Effect.forkChild(transaction.run(append))
        yield* Deferred.await(hasRead)
        // Another writer, who may have to wait until the transaction has ended.
        const writing = yield* Effect.forkChild(organizations.save(new Organization({ ...organization, name: "b" })), {
          startImmediately: true
        })
        yield* Effect.yieldNow
        yield* Deferred.succeed(hasWritten, undefined)
        yield* Fiber.join(running)
        yield* Fiber.join(writing)
        const after = Option.getOrThrow(yield* organizations.get(organization.id)).name
        assert.include(["b", "bc"], after, "one after the other, in either order")
      })
    )
  })
}
