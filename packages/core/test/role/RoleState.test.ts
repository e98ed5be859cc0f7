import { ModelNumber } from "@castellan/core/model/Model"
import { RoleOrigin } from "@castellan/core/role/Role"
import { RoleEvent, transition } from "@castellan/core/role/RoleState"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Option, Result, Schema } from "effect"

const at = DateTime.makeUnsafe("2030-01-01T00:00:00.000Z")
const { ConfigureModels, Delete, Describe, Rename, SetPermissions } = RoleEvent.cases

const origins = [
  RoleOrigin.cases.System.make({ name: "admin" }),
  RoleOrigin.cases.System.make({ name: "member" }),
  RoleOrigin.cases.Custom.make({}),
  RoleOrigin.cases.Scim.make({})
]

const models = { allowModelChoice: false, allowedModels: [ModelNumber.make(3)] }

const events = [
  [Rename.make({ name: "new" }), { name: "new" }],
  [Describe.make({ description: "what for" }), { description: "what for" }],
  [ConfigureModels.make({ models }), { models }],
  [
    SetPermissions.make({ permissions: ["chat:read", "app:read", "chat:read"] }),
    { permissions: ["chat:read", "app:read"] }
  ],
  [Delete.make({}), undefined]
] as const

/** Every pair that is refused, and with what words. */
const refusals: { readonly [pair: string]: string } = {
  "System Rename": "a system role cannot be renamed",
  "System SetPermissions": "a system role cannot be given other permissions",
  "System Delete": "a system role cannot be deleted",
  "Scim Rename": "a role that the identity provider keeps cannot be renamed",
  "Scim Describe": "a role that the identity provider keeps cannot be described anew"
}

layer(layerCrypto)("RoleState", (it) => {
  it.effect("answers every pair of origin and event", () =>
    Effect.gen(function* () {
      const seen = new Set<string>()
      for (const origin of origins) {
        for (const [event, change] of events) {
          const role = yield* Sample.role(yield* Sample.organizationId, { origin, permissions: ["audit:read"] })
          const pair = `${origin._tag} ${event._tag}`
          const outcome = transition(role, event, at)
          const refused = refusals[pair]
          if (refused === undefined) {
            const next = Option.getOrUndefined(Result.getOrThrow(outcome))
            assert.deepStrictEqual(
              next === undefined ? undefined : { ...next },
              change === undefined ? undefined : { ...role, ...change, updatedAt: at },
              pair
            )
          } else {
            seen.add(pair)
            const refusal = Result.getOrThrow(Result.flip(outcome))
            assert.strictEqual(refusal.message, refused)
            assert.deepStrictEqual([refusal.origin, refusal.event], [origin._tag, event._tag])
          }
        }
      }
      assert.sameMembers([...seen], Object.keys(refusals))
    })
  )

  it.effect.prop(
    "whatever happens to a system role, its name and permissions stay and it is there",
    [Schema.Array(RoleEvent)],
    ([drawn]) =>
      Effect.gen(function* () {
        let role = yield* Sample.role(yield* Sample.organizationId, {
          origin: RoleOrigin.cases.System.make({ name: "admin" }),
          name: "admin",
          permissions: ["role:write"]
        })
        for (const event of drawn) {
          const outcome = transition(role, event, at)
          if (Result.isFailure(outcome)) continue
          assert.isTrue(Option.isSome(outcome.success))
          role = Option.getOrElse(outcome.success, () => role)
        }
        assert.deepStrictEqual([role.name, role.permissions, role.isAdmin], ["admin", ["role:write"], true])
      }),
    { arbitrary: { runs: 200 } }
  )
})
