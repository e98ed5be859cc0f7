import type { AuditEntry } from "@castellan/core/audit/AuditEvent"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import { RequestOrigin } from "@castellan/core/audit/RequestOrigin"
import { layer as layerUseCase, UseCase } from "@castellan/core/audit/UseCase"
import { Conflict, NotFound, PermissionDenied } from "@castellan/core/error/Failure"
import { CurrentMemoryTransaction } from "@castellan/core/memory/MemoryTransaction"
import * as Stores from "@castellan/core/memory/Stores"
import { OrganizationStore } from "@castellan/core/organization/OrganizationStore"
import { Transaction } from "@castellan/core/transaction/Transaction"
import { as, audited, failure, trail, wordsOf } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it } from "@effect/vitest"
import { Cause, DateTime, Effect, Layer, Option, Ref, Schema } from "effect"
import { TestClock } from "effect/testing"

const stores = Layer.mergeAll(Stores.layerMemory, Deployment.layerCrypto)
const everything = layerUseCase.pipe(Layer.provideMerge(stores))

const attempt = { action: "update", target: { type: "organization", id: "o-1" } } as const
const entry = (id: string): AuditEntry => ({ action: "update", target: { type: "organization", id } })

/** Somebody, and an organization that nothing has kept yet. */
const scene = Effect.gen(function* () {
  return {
    actor: yield* Sample.principal(yield* Sample.organizationId, {
      roles: [yield* Sample.role(yield* Sample.organizationId)],
      clientMetadata: { text: '{"t":1}', attributes: { t: 1 } }
    }),
    organization: yield* Sample.organization()
  }
})
type Scene = Effect.Success<typeof scene>

const isKept = ({ organization }: Scene) =>
  OrganizationStore.use((store) => Effect.map(store.get(organization.id), Option.isSome))

/** A use case that saves the organization, and then ends as told. */
const saving = <E>(given: Scene, end: Effect.Effect<ReadonlyArray<AuditEntry>, E>) =>
  Effect.gen(function* () {
    const useCase = yield* UseCase
    const store = yield* OrganizationStore
    return yield* useCase.run(attempt, () =>
      Effect.gen(function* () {
        yield* store.save(given.organization)
        return { answer: "done", entries: yield* end }
      })
    )
  }).pipe(as(given.actor))

describe("UseCase.run", () => {
  it.effect("keeps what it did together with its events, which say who, when and from where", () =>
    Effect.gen(function* () {
      const given = yield* scene
      const { actor } = given
      yield* TestClock.setTime(Date.UTC(2030, 0, 1))
      const answer = yield* saving(
        given,
        Effect.succeed([
          { ...entry("a"), before: { name: "x" }, after: null },
          { action: "create", target: { type: "role" } }
        ])
      ).pipe(Effect.provideService(RequestOrigin, { requestId: "r-1", address: "192.0.2.7" }))
      assert.strictEqual(answer, "done")
      assert.isTrue(yield* isKept(given))
      const events = yield* audited(actor.organizationId)
      assert.sameMembers(events.map(wordsOf), ["update organization", "create role"])
      const event = events.find(({ action }) => action === "update")
      assert.deepStrictEqual(
        { ...event, id: undefined },
        {
          id: undefined,
          organizationId: actor.organizationId,
          at: DateTime.makeUnsafe("2030-01-01T00:00:00.000Z"),
          actor: {
            credential: actor.credential,
            memberId: actor.memberId,
            roles: actor.roles.map((role) => role.id),
            clientMetadata: { text: '{"t":1}', attributes: { t: 1 } }
          },
          action: "update",
          target: { type: "organization", id: "a" },
          before: { name: "x" },
          after: null,
          outcome: { _tag: "Succeeded" },
          requestId: "r-1",
          address: "192.0.2.7"
        }
      )
      assert.strictEqual(new Set(events.map(({ id }) => id)).size, 2)
    }).pipe(Effect.provide(everything))
  )

  it.effect("a refusal undoes all, and is on the record", () =>
    Effect.gen(function* () {
      const given = yield* scene
      const refused = saving(given, new PermissionDenied({ message: "admin role required" }))
      assert.strictEqual(yield* failure(refused), "PermissionDenied: admin role required")
      assert.isFalse(yield* isKept(given))
      const [event, ...more] = yield* audited(given.actor.organizationId)
      assert.isEmpty(more)
      assert.deepStrictEqual(
        [event?.action, event?.target, event?.outcome, event?.actor.memberId],
        [attempt.action, attempt.target, { _tag: "Refused", message: "admin role required" }, given.actor.memberId]
      )
    }).pipe(Effect.provide(everything))
  )

  it.effect("any other failure undoes all, and is not", () =>
    Effect.gen(function* () {
      for (const error of [new NotFound({ message: "no" }), new Conflict({ message: "no" })]) {
        const given = yield* scene
        assert.strictEqual(yield* failure(saving(given, Effect.fail(error))), `${error._tag}: no`)
        assert.isFalse(yield* isKept(given))
        assert.deepStrictEqual(yield* trail(given.actor.organizationId), [])
      }
      const given = yield* scene
      const exit = yield* Effect.exit(saving(given, Effect.die("a bug")))
      assert.strictEqual(exit._tag, "Failure")
      assert.isFalse(yield* isKept(given))
      assert.deepStrictEqual(yield* trail(given.actor.organizationId), [])
    }).pipe(Effect.provide(everything))
  )

  it.effect("nothing is done where the record cannot be kept", () =>
    Effect.gen(function* () {
      const given = yield* scene
      const exit = yield* Effect.exit(saving(given, Effect.succeed([entry("a")])))
      assert.strictEqual(exit._tag, "Failure")
      assert.isFalse(yield* isKept(given))
    }).pipe(
      Effect.provide(
        layerUseCase.pipe(
          Layer.provide(
            Layer.effect(
              AuditStore,
              Effect.map(AuditStore, (store) => AuditStore.of({ ...store, append: () => Effect.die("full") }))
            )
          ),
          Layer.provideMerge(stores)
        )
      )
    )
  )

  describe("over transactions that are each run again once", () => {
    /** Each transaction is first carried out in vain, as one is that meets another. */
    const again = Layer.effect(
      Transaction,
      Effect.map(Transaction, (transaction) =>
        Transaction.of({
          run: (effect) =>
            Effect.andThen(
              Effect.exit(transaction.run(Effect.andThen(effect, Effect.die("met another")))),
              transaction.run(effect)
            )
        })
      )
    )
    const twice = layerUseCase.pipe(Layer.provide(again), Layer.provideMerge(stores))

    it.effect("nothing is recorded twice", () =>
      Effect.gen(function* () {
        const given = yield* scene
        const runs = yield* Ref.make(0)
        const counted = Effect.as(
          Ref.update(runs, (count) => count + 1),
          [entry("a"), entry("b")]
        )
        assert.strictEqual(yield* saving(given, counted), "done")
        assert.strictEqual(yield* Ref.get(runs), 2)
        assert.isTrue(yield* isKept(given))
        assert.deepStrictEqual(yield* trail(given.actor.organizationId), ["update organization", "update organization"])
      }).pipe(Effect.provide(twice))
    )

    it.effect("a refusal is recorded once", () =>
      Effect.gen(function* () {
        const given = yield* scene
        yield* failure(saving(given, new PermissionDenied({ message: "no" })))
        assert.deepStrictEqual(yield* trail(given.actor.organizationId), ["update organization refused"])
      }).pipe(Effect.provide(twice))
    )
  })

  describe("within another use case", () => {
    const outer = { action: "run", target: { type: "playbook" } } as const

    it.effect("is part of it: what the outer one fails with undoes both", () =>
      Effect.gen(function* () {
        const given = yield* scene
        const useCase = yield* UseCase
        const attempted = useCase.run(outer, () =>
          Effect.andThen(saving(given, Effect.succeed([entry("a")])), Effect.fail(new Conflict({ message: "no" })))
        )
        assert.strictEqual(yield* as(given.actor)(failure(attempted)), "Conflict: no")
        assert.isFalse(yield* isKept(given))
        assert.deepStrictEqual(yield* trail(given.actor.organizationId), [])
      }).pipe(Effect.provide(everything))
    )

    it.effect("a refusal that ends both is recorded once", () =>
      Effect.gen(function* () {
        const given = yield* scene
        const useCase = yield* UseCase
        const attempted = useCase.run(outer, () =>
          Effect.map(saving(given, new PermissionDenied({ message: "no" })), (answer) => ({ answer, entries: [] }))
        )
        assert.strictEqual(yield* as(given.actor)(failure(attempted)), "PermissionDenied: no")
        assert.deepStrictEqual(yield* trail(given.actor.organizationId), ["run playbook refused"])
      }).pipe(Effect.provide(everything))
    )

    it.effect("a refusal that the outer one copes with is recorded with what the outer one did", () =>
      Effect.gen(function* () {
        const given = yield* scene
        const useCase = yield* UseCase
        yield* as(given.actor)(
          useCase.run(outer, () =>
            Effect.as(failure(saving(given, new PermissionDenied({ message: "no" }))), {
              answer: undefined,
              entries: [outer]
            })
          )
        )
        assert.sameMembers(
          [...(yield* trail(given.actor.organizationId))],
          ["run playbook", "update organization refused"]
        )
      }).pipe(Effect.provide(everything))
    )
  })
})

describe("UseCase.read", () => {
  it.effect("is no transaction, and leaves nothing on the record", () =>
    Effect.gen(function* () {
      const { actor } = yield* scene
      const useCase = yield* UseCase
      const seen = yield* as(actor)(
        useCase.read(attempt, (principal) =>
          Effect.map(CurrentMemoryTransaction, (transaction) => [principal, transaction] as const)
        )
      )
      assert.deepStrictEqual(seen, [actor, undefined])
      assert.deepStrictEqual(yield* trail(actor.organizationId), [])
    }).pipe(Effect.provide(everything))
  )

  it.effect("a refusal is on the record, any other failure is not", () =>
    Effect.gen(function* () {
      const { actor } = yield* scene
      const useCase = yield* UseCase
      const read = (error: PermissionDenied | NotFound) =>
        as(actor)(failure(useCase.read(attempt, () => Effect.fail(error))))
      assert.strictEqual(yield* read(new NotFound({ message: "no" })), "NotFound: no")
      assert.deepStrictEqual(yield* trail(actor.organizationId), [])
      assert.strictEqual(yield* read(new PermissionDenied({ message: "no" })), "PermissionDenied: no")
      assert.deepStrictEqual(yield* trail(actor.organizationId), ["update organization refused"])
    }).pipe(Effect.provide(everything))
  )

  it.effect("a body that throws before it does anything is a defect like any other", () =>
    Effect.gen(function* () {
      const { actor } = yield* scene
      const useCase = yield* UseCase
      const broken = new Error("broken")
      const thrown = useCase.read(attempt, (): Effect.Effect<never> => {
        throw broken
      })
      assert.strictEqual(Cause.squash(yield* Effect.flip(Effect.sandbox(as(actor)(thrown)))), broken)
      assert.deepStrictEqual(yield* trail(actor.organizationId), [])
    }).pipe(Effect.provide(everything))
  )
})

describe("the audit log", () => {
  const Ending = Schema.Literals(["nothing", "one", "two", "refused", "not found", "died", "read refused"])

  it.effect.prop(
    "only grows, whatever is done: by exactly what was done, and what it said it says for ever",
    [Schema.Array(Ending)],
    ([endings]) =>
      Effect.gen(function* () {
        const { actor, organization } = yield* scene
        const useCase = yield* UseCase
        const counts = { nothing: 0, one: 1, two: 2, refused: 1, "not found": 0, died: 0, "read refused": 1 }
        let before = yield* audited(actor.organizationId)
        for (const ending of endings) {
          yield* TestClock.adjust("1 second")
          const end: Effect.Effect<ReadonlyArray<AuditEntry>, PermissionDenied | NotFound> = ending === "refused" ||
          ending === "read refused"
            ? Effect.fail(new PermissionDenied({ message: "no" }))
            : ending === "not found"
              ? Effect.fail(new NotFound({ message: "no" }))
              : ending === "died"
                ? Effect.die("a bug")
                : Effect.succeed([entry("a"), entry("b")].slice(0, counts[ending]))
          const step =
            ending === "read refused"
              ? Effect.asVoid(as(actor)(useCase.read(attempt, () => end)))
              : Effect.asVoid(saving({ actor, organization }, end))
          yield* Effect.exit(step)
          const after = yield* audited(actor.organizationId)
          assert.deepStrictEqual(after.slice(0, before.length), [...before])
          assert.strictEqual(after.length, before.length + counts[ending], ending)
          before = after
        }
      }).pipe(Effect.provide(everything)),
    { arbitrary: { runs: 60 } }
  )
})
