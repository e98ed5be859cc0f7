import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, Option } from "effect"
import { CurrentPrincipal } from "../../src/access/Principal.ts"
import * as AuditStore from "../../src/audit/AuditStore.ts"
import * as UseCase from "../../src/audit/UseCase.ts"
import { Conflict, PermissionDenied } from "../../src/error/Failure.ts"
import { CurrentAttempt } from "../../src/idempotency/CurrentAttempt.ts"
import * as MemoryTransaction from "../../src/memory/MemoryTransaction.ts"
import { Organization } from "../../src/organization/Organization.ts"
import * as OrganizationStore from "../../src/organization/OrganizationStore.ts"

const layer = UseCase.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(AuditStore.layerMemory, OrganizationStore.layerMemory, MemoryTransaction.layerMemory, layerCrypto)
  )
)

const attempt = { action: "update", target: { type: "organization" } } as const

describe("the attempt behind a use case", () => {
  it.effect("is noted in the transaction of what the use case does, and stops it where it was superseded", () =>
    Effect.gen(function* () {
      const useCase = yield* UseCase.UseCase
      const organizations = yield* OrganizationStore.OrganizationStore
      const id = yield* Sample.organizationId
      const principal = yield* Sample.principal(id)
      const createdAt = yield* DateTime.now
      const save = useCase
        .run(attempt, () =>
          Effect.as(organizations.save(new Organization({ id, name: "Acme", createdAt })), {
            answer: "done",
            entries: [attempt]
          })
        )
        .pipe(Effect.provideService(CurrentPrincipal, principal))
      const kept = Effect.map(organizations.get(id), Option.isSome)
      const events = AuditStore.AuditStore.use((store) => store.list(id, { limit: 10 }))

      const superseded = { commit: Effect.die(new Conflict({ message: "superseded" })) }
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.provideService(save, CurrentAttempt, superseded))))
      assert.isFalse(yield* kept)
      assert.isEmpty((yield* events).items)

      // It is noted after the rest, and before anybody else sees any of it.
      const seen: Array<boolean> = []
      const noting = {
        commit: Effect.asVoid(
          Effect.tap(Effect.provideService(kept, MemoryTransaction.CurrentMemoryTransaction, undefined), (visible) =>
            Effect.sync(() => seen.push(visible))
          )
        )
      }
      assert.strictEqual(yield* Effect.provideService(save, CurrentAttempt, noting), "done")
      assert.deepStrictEqual(seen, [false])
      assert.isTrue(yield* kept)
      assert.lengthOf((yield* events).items, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("has done nothing where the use case was refused", () =>
    Effect.gen(function* () {
      const useCase = yield* UseCase.UseCase
      const principal = yield* Sample.principal(yield* Sample.organizationId)
      let noted = 0
      const commit = Effect.sync(() => {
        noted += 1
      })
      const refused = useCase.run(attempt, () => Effect.fail(new PermissionDenied({ message: "no" })))
      yield* Effect.exit(refused).pipe(
        Effect.provideService(CurrentPrincipal, principal),
        Effect.provideService(CurrentAttempt, { commit })
      )
      assert.strictEqual(noted, 0)
    }).pipe(Effect.provide(layer))
  )
})
