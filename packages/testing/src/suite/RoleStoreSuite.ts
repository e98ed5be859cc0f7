/**
 * What every store of roles keeps to.
 */
import { ModelNumber } from "@castellan/core/model/Model"
import { Role, RoleOrigin } from "@castellan/core/role/Role"
import { RoleStore } from "@castellan/core/role/RoleStore"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/testing/TestClock"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

/** Runs the contract of `RoleStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<RoleStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`RoleStore (${name})`, (it) => {
    it.effect("lists nothing for an organization without a role", () =>
      Effect.gen(function* () {
        const store = yield* RoleStore
        assertSame(yield* store.list(yield* Sample.organizationId), [])
      })
    )

    it.effect("lists the roles of one organization, in the order of their creation, as they are now", () =>
      Effect.gen(function* () {
        const store = yield* RoleStore
        const ours = yield* Sample.organizationId
        const theirs = yield* Sample.organizationId
        const first = yield* Sample.role(ours, {
          name: "zeta",
          permissions: ["chat:read", "chat:write"],
          models: {
            allowModelChoice: false,
            defaultModel: ModelNumber.make(2),
            allowedModels: [ModelNumber.make(1), ModelNumber.make(2)]
          }
        })
        yield* TestClock.adjust("1 second")
        const second = yield* Sample.role(ours, {
          name: "alpha",
          origin: RoleOrigin.cases.System.make({ name: "member" })
        })
        yield* TestClock.adjust("1 second")
        const foreign = yield* Sample.role(theirs)
        yield* Effect.forEach([first, second, foreign], store.save)
        assertSame(yield* store.list(ours), [first, second])
        assertSame(yield* store.list(theirs), [foreign])

        const changed = new Role({ ...first, name: "changed", permissions: [], models: { allowModelChoice: true } })
        yield* store.save(changed)
        assertSame(yield* store.list(ours), [changed, second])
      })
    )

    it.effect("finds a role by its id, in its own organization alone", () =>
      Effect.gen(function* () {
        const store = yield* RoleStore
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        const role = yield* Sample.role(ours)
        yield* store.save(role)
        assertSame(yield* store.get(ours, role.id), Option.some(role))
        assertSame(yield* store.get(theirs, role.id), Option.none())
        assertSame(yield* store.get(ours, (yield* Sample.role(ours)).id), Option.none())
      })
    )

    it.effect("removes one role for good, and never one of another organization", () =>
      Effect.gen(function* () {
        const store = yield* RoleStore
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        const [role, other] = [yield* Sample.role(ours), yield* Sample.role(ours)]
        yield* Effect.forEach([role, other], store.save)
        yield* store.remove(theirs, role.id)
        assertSame(yield* store.list(ours), [role, other])
        yield* store.remove(ours, role.id)
        yield* store.remove(ours, role.id)
        assertSame(yield* store.list(ours), [other])
        assertSame(yield* store.get(ours, role.id), Option.none())
      })
    )
  })
}
