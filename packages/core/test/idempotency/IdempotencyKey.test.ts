import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as Sample from "@castellan/testing/fixture/Sample"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { ClientMetadata } from "../../src/access/ClientMetadata.ts"
import { IdempotencyKey, sharedBy } from "../../src/idempotency/IdempotencyKey.ts"

describe("an idempotency key", () => {
  const is = Schema.is(IdempotencyKey)

  it("is 1 to 255 visible ASCII characters", () => {
    for (const good of ["a", "!", "~", "x".repeat(255), '"quoted"', "0197c0de-0000-7000-8000-000000000000"]) {
      assert.isTrue(is(good), good)
    }
    for (const bad of ["", " ", "a b", "a\t", "\u007f", "é", "x".repeat(256), "a\n", 1, undefined]) {
      assert.isFalse(is(bad), String(bad))
    }
  })
})

describe("whom keys are shared with", () => {
  const client = (attributes: ClientMetadata["attributes"]): { readonly clientMetadata: ClientMetadata } => ({
    clientMetadata: { text: JSON.stringify(attributes), attributes }
  })

  it.effect("the owner's whole keys and sessions; a restricted key's own line; an end user's keys alone", () =>
    Effect.gen(function* () {
      const organizationId = yield* Sample.organizationId
      const role = yield* Sample.role(organizationId)
      const owner = yield* Sample.member(organizationId, { roles: [role] })
      const principal = (options: Sample.KeyOptions) =>
        Effect.map(Sample.key(owner, options), ({ apiKey }) => Fixture.principalOf(owner, [role], apiKey))
      const [whole, alike] = [
        yield* principal({ fullMemberAccess: true }),
        yield* principal({ fullMemberAccess: true })
      ]
      assert.strictEqual(sharedBy(whole), sharedBy(alike))

      const restricted = yield* principal({})
      const first = restricted.key?.id
      const rotated = yield* principal(first === undefined ? {} : { rotatedFrom: [first] })
      const again = yield* principal(
        first === undefined || rotated.key === undefined ? {} : { rotatedFrom: [rotated.key.id, first] }
      )
      assert.strictEqual(sharedBy(restricted), sharedBy(rotated))
      assert.strictEqual(sharedBy(restricted), sharedBy(again))

      const anna = yield* principal(client({ id: "anna", tier: 1 }))
      const annaAgain = yield* principal(client({ tier: 1, id: "anna" }))
      const annaWhole = yield* principal({ ...client({ id: "anna", tier: 1 }), fullMemberAccess: true })
      assert.strictEqual(sharedBy(anna), sharedBy(annaAgain))
      assert.strictEqual(sharedBy(anna), sharedBy(annaWhole))

      const apart = [
        whole,
        restricted,
        yield* principal({}),
        anna,
        yield* principal(client({ id: "ben", tier: 1 })),
        yield* principal(client({ id: "anna", tier: "1" })),
        // Metadata that says nothing is none.
        yield* principal(client({}))
      ]
      assert.strictEqual(new Set(apart.map(sharedBy)).size, apart.length)
      const other = yield* Sample.member(organizationId, { roles: [role] })
      const { apiKey } = yield* Sample.key(other, { fullMemberAccess: true })
      assert.notStrictEqual(sharedBy(Fixture.principalOf(other, [role], apiKey)), sharedBy(whole))
    }).pipe(Effect.provide(layerCrypto))
  )
})
