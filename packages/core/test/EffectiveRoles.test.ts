import * as EffectiveRoles from "@castellan/core/access/EffectiveRoles"
import { AssumedRoles } from "@castellan/core/apikey/ApiKey"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"

const Some = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))).check(Schema.isMaxLength(8))

/** Roles 0 to 4; number 5 is deleted. */
const world = Effect.gen(function* () {
  const organization = yield* Sample.organizationId
  const roles = yield* Effect.all(Array.from({ length: 6 }, () => Sample.role(organization)))
  const ids = (numbers: ReadonlyArray<number>) => numbers.flatMap((number) => roles[number]?.id ?? [])
  return { existing: roles.slice(0, 5), ids }
})

layer(layerCrypto)("EffectiveRoles", (it) => {
  it.effect.prop(
    "L5: a key's roles are among its snapshot, its owner's and those that exist, each once, and all that are in all three",
    { held: Some, assumed: Some },
    ({ assumed, held }) =>
      Effect.gen(function* () {
        const { existing, ids } = yield* world
        const key = AssumedRoles.cases.Snapshot.make({ roles: ids(assumed) })
        const effective = EffectiveRoles.ofKey(key, ids(held), existing).map((role) => role.id)
        assert.deepStrictEqual(
          effective.toSorted(),
          ids([0, 1, 2, 3, 4].filter((number) => assumed.includes(number) && held.includes(number))).toSorted()
        )
      }),
    { arbitrary: { runs: 300 } }
  )

  it.effect.prop(
    "a legacy key has what its owner holds, as far as it exists",
    { held: Some },
    ({ held }) =>
      Effect.gen(function* () {
        const { existing, ids } = yield* world
        const effective = EffectiveRoles.ofKey(AssumedRoles.cases.Live.make({}), ids(held), existing)
        assert.deepStrictEqual(
          effective.map((role) => role.id).toSorted(),
          ids([0, 1, 2, 3, 4].filter((number) => held.includes(number))).toSorted()
        )
      }),
    { arbitrary: { runs: 100 } }
  )

  it.effect.prop(
    "L3, L6: order and duplicates do not matter, and to lose a role never gains one",
    { held: Some, assumed: Some, lost: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })) },
    ({ assumed, held, lost }) =>
      Effect.gen(function* () {
        const { existing, ids } = yield* world
        const of = (roles: ReadonlyArray<number>, live: ReadonlyArray<number>) =>
          EffectiveRoles.ofKey(AssumedRoles.cases.Snapshot.make({ roles: ids(roles) }), ids(live), existing)
        const before = of(assumed, held)
        assert.deepStrictEqual(of([...assumed, ...assumed].toReversed(), [...held, ...held].toReversed()), before)
        const without = (numbers: ReadonlyArray<number>) => numbers.filter((number) => number !== lost)
        for (const role of [...of(without(assumed), held), ...of(assumed, without(held))]) {
          assert.include(before, role)
        }
      }),
    { arbitrary: { runs: 300 } }
  )
})
