import { ModelNumber } from "@castellan/core/model/Model"
import { defaultKeyExpiry, defaultRateLimit, KeyExpiry } from "@castellan/core/organization/Organization"
import type { OrganizationPatch } from "@castellan/core/organization/OrganizationPatch"
import { Organizations } from "@castellan/core/organization/Organizations"
import { OrganizationStore } from "@castellan/core/organization/OrganizationStore"
import { as, audited, failure, trail } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"

const deployment = Deployment.layer()
const { After, Never } = KeyExpiry.cases

const scene = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const reader = yield* Fixture.role(tenant.organizationId, { permissions: ["organization:read"] })
  return {
    organizationId: tenant.organizationId,
    admin: Fixture.adminOf(tenant),
    reader: yield* Fixture.someone(tenant, { roles: [reader] }),
    somebody: yield* Fixture.someone(tenant)
  }
})

const get = Organizations.use((organizations) => organizations.get)
const patch = (change: OrganizationPatch) => Organizations.use((organizations) => organizations.patch(change))

describe("Organizations", () => {
  it.effect("starts with the specification's settings", () =>
    Effect.gen(function* () {
      const { reader } = yield* scene
      const organization = yield* as(reader)(get)
      assert.deepStrictEqual(
        [organization.name, organization.defaultModel, organization.rateLimit, organization.keyExpiry],
        ["Acme", undefined, { requestsPerMinute: 600, burst: 100 }, { _tag: "After", seconds: 7_776_000 }]
      )
      assert.deepStrictEqual([defaultRateLimit, defaultKeyExpiry], [organization.rateLimit, organization.keyExpiry])
    }).pipe(Effect.provide(deployment))
  )

  it.effect("changes a part, and leaves the rest", () =>
    Effect.gen(function* () {
      const { admin, organizationId } = yield* scene
      const before = yield* as(admin)(get)
      const steps: ReadonlyArray<readonly [OrganizationPatch, object]> = [
        [{ name: " Acme Ltd " }, { name: "Acme Ltd" }],
        [{ defaultModel: ModelNumber.make(1) }, { defaultModel: 1 }],
        [{ rateLimit: { burst: 7 } }, { rateLimit: { requestsPerMinute: 600, burst: 7 } }],
        [{ rateLimit: { requestsPerMinute: 60 } }, { rateLimit: { requestsPerMinute: 60, burst: 7 } }],
        [{ keyExpiry: Never.make({}) }, { keyExpiry: { _tag: "Never" } }],
        [{ keyExpiry: After.make({ seconds: 60 }) }, { keyExpiry: { _tag: "After", seconds: 60 } }]
      ]
      const expected = { ...before }
      for (const [change, changed] of steps) {
        Object.assign(expected, changed)
        assert.deepStrictEqual({ ...(yield* as(admin)(patch(change))) }, expected)
      }
      const cleared = yield* as(admin)(patch({ defaultModel: 0 }))
      assert.isFalse("defaultModel" in cleared)
      assert.deepStrictEqual(yield* OrganizationStore.use((store) => store.get(organizationId)), Option.some(cleared))
      assert.strictEqual((yield* trail(organizationId)).length, steps.length + 1)
      const [first] = yield* audited(organizationId)
      assert.deepStrictEqual(
        [first?.action, first?.target, first?.before, first?.after],
        [
          "update",
          { type: "organization", id: organizationId },
          {
            name: "Acme",
            rateLimit: { requestsPerMinute: 600, burst: 100 },
            keyExpirySeconds: 7_776_000
          },
          {
            name: "Acme Ltd",
            rateLimit: { requestsPerMinute: 600, burst: 100 },
            keyExpirySeconds: 7_776_000
          }
        ]
      )
    }).pipe(Effect.provide(deployment))
  )

  it.effect("changes nothing where all is so already", () =>
    Effect.gen(function* () {
      const { admin, organizationId } = yield* scene
      const before = yield* as(admin)(get)
      const after = yield* as(admin)(
        patch({ name: "Acme", defaultModel: 0, rateLimit: {}, keyExpiry: defaultKeyExpiry })
      )
      assert.deepStrictEqual(after, before)
      assert.deepStrictEqual(yield* trail(organizationId), [])
    }).pipe(Effect.provide(deployment))
  )

  it.effect("refuses what cannot be, and then changes nothing", () =>
    Effect.gen(function* () {
      const { admin, organizationId, reader, somebody } = yield* scene
      const before = yield* as(admin)(get)
      const rateLimit =
        "InvalidRequest: rate_limit: requests_per_minute must be 1 to 1,000,000 and burst 1 to 100,000, in whole numbers"
      const keyExpiry = "InvalidRequest: key_expiry: must be never, or 60 to 31,536,000 seconds in whole numbers"
      const name = "InvalidRequest: name: must have 1 to 200 characters"
      const expiring = (seconds: number): OrganizationPatch => ({ keyExpiry: { _tag: "After", seconds } })
      const cases: ReadonlyArray<readonly [OrganizationPatch, string]> = [
        [{ name: "  " }, name],
        [{ name: "x".repeat(201) }, name],
        [{ rateLimit: { burst: 0 } }, rateLimit],
        [{ rateLimit: { burst: 100_001 } }, rateLimit],
        [{ rateLimit: { requestsPerMinute: 1.5 } }, rateLimit],
        [{ rateLimit: { requestsPerMinute: 1_000_001 } }, rateLimit],
        [expiring(59), keyExpiry],
        [expiring(60.5), keyExpiry],
        [expiring(31_536_001), keyExpiry],
        [expiring(Number.NaN), keyExpiry],
        [{ defaultModel: ModelNumber.make(2) }, "InvalidRequest: default_model_id: there is no model 2"],
        [{ name: "fine", rateLimit: { burst: 0 } }, rateLimit]
      ]
      for (const [change, expected] of cases) {
        assert.strictEqual(yield* as(admin)(failure(patch(change))), expected)
      }
      const denied = (permission: string) => `PermissionDenied: permission denied: ${permission} is required`
      assert.strictEqual(yield* as(reader)(failure(patch({ name: "mine" }))), denied("organization:write"))
      assert.strictEqual(yield* as(somebody)(failure(get)), denied("organization:read"))
      assert.strictEqual(
        yield* as(somebody)(failure(patch({ name: "" }))),
        name,
        "the shape comes before the permission"
      )
      assert.deepStrictEqual(yield* as(admin)(get), before)
      assert.deepStrictEqual(yield* trail(organizationId), ["update organization refused", "read organization refused"])
    }).pipe(Effect.provide(deployment))
  )
})
