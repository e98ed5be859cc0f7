/**
 * What every store of organizations keeps to.
 */
import { ModelNumber } from "@castellan/core/model/Model"
import { KeyExpiry, Organization } from "@castellan/core/organization/Organization"
import { OrganizationStore } from "@castellan/core/organization/OrganizationStore"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

/** Runs the contract of `OrganizationStore` against an adapter. It may hold other organizations already. */
export const suite = <E>(name: string, layer: Layer.Layer<OrganizationStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`OrganizationStore (${name})`, (it) => {
    it.effect("knows nothing of an id that was never saved", () =>
      Effect.gen(function* () {
        const store = yield* OrganizationStore
        assert.isTrue(Option.isNone(yield* store.get(yield* Sample.organizationId)))
      })
    )

    it.effect("gives back what was saved", () =>
      Effect.gen(function* () {
        const store = yield* OrganizationStore
        const one = yield* Sample.organization({ name: 'Żółć & "Sons" \u0000\ud800 🚀' })
        const other = yield* Sample.organization()
        yield* store.save(one)
        yield* store.save(other)
        assertSame(yield* store.get(one.id), Option.some(one))
        assertSame(yield* store.get(other.id), Option.some(other))
      })
    )

    it.effect("replaces the organization of the same id, and no other", () =>
      Effect.gen(function* () {
        const store = yield* OrganizationStore
        const one = yield* Sample.organization()
        const other = yield* Sample.organization()
        yield* store.save(one)
        yield* store.save(other)
        const renamed = new Organization({ ...one, name: "Renamed" })
        yield* store.save(renamed)
        assertSame(yield* store.get(one.id), Option.some(renamed))
        assertSame(yield* store.get(other.id), Option.some(other))
      })
    )

    it.effect("keeps every setting", () =>
      Effect.gen(function* () {
        const store = yield* OrganizationStore
        const organization = yield* Sample.organization()
        for (const keyExpiry of [KeyExpiry.cases.Never.make({}), KeyExpiry.cases.After.make({ seconds: 60 })]) {
          const changed = new Organization({
            ...organization,
            defaultModel: ModelNumber.make(7),
            rateLimit: { requestsPerMinute: 12, burst: 3 },
            keyExpiry
          })
          yield* store.save(changed)
          assertSame(yield* store.get(organization.id), Option.some(changed))
        }
      })
    )
  })
}
