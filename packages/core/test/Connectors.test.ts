import type { Access } from "@castellan/core/access/Access"
import { CurrentPrincipal, type Principal } from "@castellan/core/access/Principal"
import { ConnectorId } from "@castellan/core/connector/Connector"
import { Connectors } from "@castellan/core/connector/Connectors"
import { ModelId, ModelNumber } from "@castellan/core/model/Model"
import { Models } from "@castellan/core/model/Models"
import { Organization } from "@castellan/core/organization/Organization"
import { OrganizationStore } from "@castellan/core/organization/OrganizationStore"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { servedModel } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"

const hidden: Access = { isPublic: false, grants: [] }

const listed = (principal: Principal) =>
  Connectors.use((connectors) => connectors.list).pipe(
    Effect.map((found) => found.map((connector) => Number(connector.id))),
    Effect.provideService(CurrentPrincipal, principal)
  )

describe("Connectors", () => {
  it.effect("lists what the caller may use, in the order of their ids, and needs leave to list", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const { organizationId } = tenant
      const member = yield* Fixture.someone(tenant, { fullMemberAccess: true })
      const powerless = yield* Fixture.someone(tenant, { roles: [] })
      yield* Fixture.connector(organizationId, { id: 30, name: "open" })
      yield* Fixture.connector(organizationId, { id: 4, name: "hidden", access: hidden })
      yield* Fixture.connector(organizationId, {
        id: 5,
        name: "shared",
        access: {
          isPublic: false,
          grants: [{ grantee: { _tag: "Member", id: member.memberId }, accessType: "viewer" }]
        }
      })
      assert.deepStrictEqual(yield* listed(member), [5, 30])
      // An administrator sees that it is there, and uses what is shared with them.
      assert.deepStrictEqual(yield* listed(Fixture.adminOf(tenant)), [30])
      const refused = yield* Effect.flip(listed(powerless))
      assert.strictEqual(refused.message, "permission denied: connector:read is required")
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("a run may query all that its asker may, or what it names, each once", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      yield* Fixture.connector(tenant.organizationId, { id: 1, name: "one" })
      yield* Fixture.connector(tenant.organizationId, { id: 2, name: "two" })
      const usable = (...ids: ReadonlyArray<number>) =>
        Connectors.use((connectors) =>
          connectors.usableBy(
            admin,
            ids.map((id) => ConnectorId.make(id))
          )
        ).pipe(Effect.map((found) => found.map((connector) => String(connector.name))))
      const all = yield* Connectors.use((connectors) => connectors.usableBy(admin, undefined))
      assert.strictEqual(all.length, 2)
      assert.deepStrictEqual(yield* usable(2, 1, 2), ["two", "one"])
      assert.deepStrictEqual(yield* usable(), [])
      assert.strictEqual((yield* Effect.flip(usable(1, 9))).code, "permission_denied")
    }).pipe(Effect.provide(Deployment.layer()))
  )
})

describe("Models", () => {
  it.effect("lists what the caller may choose, with the one that they get without choosing", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const models = (principal: Principal) =>
        Models.use((service) => service.list).pipe(
          Effect.map((found) =>
            found.map(({ isDefault, model }) => [String(model.id), Number(model.number), isDefault])
          ),
          Effect.provideService(CurrentPrincipal, principal)
        )
      const admin = Fixture.adminOf(tenant)
      assert.deepStrictEqual(yield* models(admin), [
        ["scripted/model-1", 1, true],
        ["scripted/model-2", 2, false]
      ])
      const organization = Option.getOrThrow(yield* OrganizationStore.use((store) => store.get(tenant.organizationId)))
      yield* OrganizationStore.use((store) =>
        store.save(new Organization({ ...organization, defaultModel: ModelNumber.make(2) }))
      )
      assert.deepStrictEqual(yield* models(admin), [
        ["scripted/model-1", 1, false],
        ["scripted/model-2", 2, true]
      ])
      assert.deepStrictEqual(yield* models(yield* Fixture.someone(tenant, { roles: [] })), [])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          served: [servedModel, { ...servedModel, id: ModelId.make("scripted/model-2"), name: "Second" }]
        })
      )
    )
  )
})
