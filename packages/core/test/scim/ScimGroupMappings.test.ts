import { RoleOrigin } from "@castellan/core/role/Role"
import { RoleStore } from "@castellan/core/role/RoleStore"
import { type ScimGroupMapping, ScimGroupTarget } from "@castellan/core/scim/ScimGroupMapping"
import * as UseCase from "@castellan/core/audit/UseCase"
import * as Stores from "@castellan/core/memory/Stores"
import { layer as layerScimGroupMappings, ScimGroupMappings } from "@castellan/core/scim/ScimGroupMappings"
import { ScimGroupMappingStore } from "@castellan/core/scim/ScimGroupMappingStore"
import { plan } from "@castellan/core/scim/ScimMigration"
import { as, audited, failure, trail } from "@castellan/testing/fixture/Acting"
import * as AdministrationSample from "@castellan/testing/fixture/AdministrationSample"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"

const deployment = Deployment.layer()
const { Role: ToRole, RoleName } = ScimGroupTarget.cases

const scene = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const { organizationId } = tenant
  const analyst = yield* Fixture.role(organizationId, { name: "analyst", permissions: ["chat:read"] })
  const mapping = (group: string, target: ScimGroupTarget) =>
    Effect.tap(AdministrationSample.scimGroupMapping(organizationId, { group, target }), (made) =>
      ScimGroupMappingStore.use((store) => store.save(made))
    )
  return { tenant, organizationId, analyst, mapping, admin: Fixture.adminOf(tenant) }
})

const migrateAll = ScimGroupMappings.use((mappings) => mappings.migrateAll)
const targets = ScimGroupMappings.use((mappings) =>
  Effect.map(mappings.list, (all) => all.map(({ group, target }) => [group, target] as const))
)

describe("ScimGroupMappings.migrateAll", () => {
  it.effect("moves every legacy mapping to the role of its name, and makes one where none has it", () =>
    Effect.gen(function* () {
      const { admin, analyst, mapping, organizationId, tenant } = yield* scene
      yield* mapping("Analysts", RoleName.make({ name: "analyst" }))
      yield* mapping("Finance", RoleName.make({ name: "finance" }))
      yield* mapping("Controllers", RoleName.make({ name: "finance" }))
      yield* mapping("Shouting", RoleName.make({ name: "Analyst" }))
      yield* mapping("Members", ToRole.make({ id: tenant.memberRole.id }))

      assert.strictEqual(yield* as(admin)(migrateAll), 4)

      const roles = yield* RoleStore.use((store) => store.list(organizationId))
      const made = roles.filter((role) => role.origin._tag === "Scim")
      assert.deepStrictEqual(
        made.map((role) => [role.name, role.permissions]),
        [
          ["finance", []],
          ["Analyst", []]
        ]
      )
      const idOf = (name: string) => {
        const found = roles.find((role) => role.name === name)
        assert.isDefined(found)
        return ToRole.make({ id: found.id })
      }
      assert.deepStrictEqual(yield* as(admin)(targets), [
        ["Analysts", ToRole.make({ id: analyst.id })],
        ["Finance", idOf("finance")],
        ["Controllers", idOf("finance")],
        ["Shouting", idOf("Analyst")],
        ["Members", ToRole.make({ id: tenant.memberRole.id })]
      ])
      assert.deepStrictEqual(yield* trail(organizationId), [
        "create role",
        "create role",
        ...Array.from({ length: 4 }, () => "migrate scim_group_mapping")
      ])
      const last = (yield* audited(organizationId)).at(-1)
      assert.deepStrictEqual(last?.before, { group: "Shouting", roleName: "Analyst" })

      assert.strictEqual(yield* as(admin)(migrateAll), 0, "done again, there is nothing to do")
      assert.deepStrictEqual(yield* RoleStore.use((store) => store.list(organizationId)), roles)
      assert.strictEqual((yield* audited(organizationId)).length, 6)
    }).pipe(Effect.provide(deployment))
  )

  it.effect("two at once move each mapping once", () =>
    Effect.gen(function* () {
      const { admin, mapping, organizationId } = yield* scene
      yield* mapping("Finance", RoleName.make({ name: "finance" }))
      const counts = yield* as(admin)(Effect.all([migrateAll, migrateAll], { concurrency: "unbounded" }))
      assert.sameMembers(counts, [1, 0])
      const roles = yield* RoleStore.use((store) => store.list(organizationId))
      assert.strictEqual(roles.filter((role) => role.name === "finance").length, 1)
    }).pipe(Effect.provide(deployment))
  )

  it.effect("needs the admin role, not its permissions, and leaves other organizations alone", () =>
    Effect.gen(function* () {
      const { admin, mapping, organizationId, tenant } = yield* scene
      yield* mapping("Finance", RoleName.make({ name: "finance" }))
      const everything = yield* Fixture.role(organizationId, { permissions: tenant.adminRole.permissions })
      const mighty = yield* Fixture.someone(tenant, { roles: [everything] })
      const other = Fixture.adminOf(yield* Fixture.tenant("Globex"))
      assert.strictEqual(yield* as(mighty)(failure(migrateAll)), "PermissionDenied: admin role required")
      assert.strictEqual(yield* as(mighty)(failure(targets)), "PermissionDenied: admin role required")
      assert.strictEqual(yield* as(other)(migrateAll), 0)
      assert.deepStrictEqual(yield* as(admin)(targets), [["Finance", RoleName.make({ name: "finance" })]])
      assert.deepStrictEqual(yield* trail(organizationId), [
        "migrate scim_group_mapping refused",
        "list scim_group_mapping refused"
      ])
    }).pipe(Effect.provide(deployment))
  )

  it.effect("is all or nothing", () =>
    Effect.gen(function* () {
      const saved: Array<ScimGroupMapping> = []
      /** A store whose second write fails. */
      const failing = Layer.effect(
        ScimGroupMappingStore,
        Effect.map(ScimGroupMappingStore, (store) =>
          ScimGroupMappingStore.of({
            ...store,
            save: (mapping) =>
              mapping.target._tag === "Role" && saved.push(mapping) > 1
                ? Effect.die("the disk is full")
                : store.save(mapping)
          })
        )
      )
      yield* Effect.gen(function* () {
        const { admin, mapping, organizationId } = yield* scene
        yield* mapping("Finance", RoleName.make({ name: "finance" }))
        yield* mapping("Sales", RoleName.make({ name: "sales" }))
        const before = yield* RoleStore.use((store) => store.list(organizationId))
        const exit = yield* Effect.exit(as(admin)(migrateAll))
        assert.strictEqual(exit._tag, "Failure")
        assert.strictEqual(saved.length, 2, "it had begun")
        assert.deepStrictEqual(yield* RoleStore.use((store) => store.list(organizationId)), before)
        assert.deepStrictEqual(
          (yield* as(admin)(targets)).map(([, target]) => target._tag),
          ["RoleName", "RoleName"]
        )
        assert.deepStrictEqual(yield* trail(organizationId), [])
      }).pipe(
        Effect.provide(
          layerScimGroupMappings.pipe(
            Layer.provide(failing),
            Layer.provideMerge(UseCase.layer),
            Layer.provideMerge(Layer.mergeAll(Stores.layerMemory, Deployment.layerCrypto))
          )
        )
      )
    })
  )
})

layer(Deployment.layerCrypto)("ScimMigration.plan", (it) => {
  const Name = Schema.Literals(["a", "b", "A", "c"])

  it.effect.prop(
    "moves the legacy mappings and no other, and misses each name that no role bears, once",
    [Schema.Array(Schema.Struct({ legacy: Schema.Boolean, name: Name })), Schema.Array(Name)],
    ([drawn, names]) =>
      Effect.gen(function* () {
        const organization = yield* Sample.organizationId
        const roles = yield* Effect.forEach([...new Set(names)], (name) =>
          Sample.role(organization, { name, origin: RoleOrigin.cases.Custom.make({}) })
        )
        const some = yield* Sample.role(organization)
        const mappings = yield* Effect.forEach(drawn, ({ legacy, name }) =>
          AdministrationSample.scimGroupMapping(organization, {
            target: legacy ? RoleName.make({ name }) : ToRole.make({ id: some.id })
          })
        )
        const { missing, moves } = plan(mappings, roles)
        assert.deepStrictEqual(
          moves.map((move) => move.mapping),
          mappings.filter(({ target }) => target._tag === "RoleName")
        )
        const wanted = drawn.filter(({ legacy }) => legacy).map(({ name }) => name)
        assert.deepStrictEqual(
          moves.map((move) => move.roleName),
          wanted
        )
        assert.sameMembers(
          [...missing],
          [...new Set(wanted)].filter((name) => !names.includes(name))
        )
      }),
    { arbitrary: { runs: 200 } }
  )
})
