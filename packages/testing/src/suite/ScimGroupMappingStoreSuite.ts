/**
 * What every store of SCIM group mappings keeps to.
 */
import { ScimGroupMapping, ScimGroupTarget } from "@castellan/core/scim/ScimGroupMapping"
import { ScimGroupMappingStore } from "@castellan/core/scim/ScimGroupMappingStore"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as AdministrationSample from "../fixture/AdministrationSample.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

/** Runs the contract of `ScimGroupMappingStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<ScimGroupMappingStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`ScimGroupMappingStore (${name})`, (it) => {
    it.effect("lists the mappings of one organization, in the order of their creation, as they are now", () =>
      Effect.gen(function* () {
        const store = yield* ScimGroupMappingStore
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        assertSame(yield* store.list(ours), [])
        const role = yield* Sample.role(ours)
        const first = yield* AdministrationSample.scimGroupMapping(ours, { group: "Zürich" })
        yield* TestClock.adjust("1 second")
        const second = yield* AdministrationSample.scimGroupMapping(ours, {
          group: "Analysts",
          target: ScimGroupTarget.cases.Role.make({ id: role.id })
        })
        const foreign = yield* AdministrationSample.scimGroupMapping(theirs)
        yield* Effect.forEach([first, second, foreign], store.save)
        assertSame(yield* store.list(ours), [first, second])
        assertSame(yield* store.list(theirs), [foreign])

        const moved = new ScimGroupMapping({ ...first, target: ScimGroupTarget.cases.Role.make({ id: role.id }) })
        yield* store.save(moved)
        assertSame(yield* store.list(ours), [moved, second])
      })
    )
  })
}
