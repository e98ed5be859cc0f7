import type { ClientMetadata } from "@castellan/core/access/ClientMetadata"
import type { Principal } from "@castellan/core/access/Principal"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import { ConnectorQueries } from "@castellan/core/connector/ConnectorQueries"
import type { Connector } from "@castellan/core/connector/Connector"
import { ConnectorStore } from "@castellan/core/connector/ConnectorStore"
import { RowPolicies } from "@castellan/core/rowpolicy/RowPolicies"
import { as, words } from "@castellan/testing/fixture/Acting"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { ownRegion } from "@castellan/testing/fixture/RowPolicySample"
import * as Sample from "@castellan/testing/fixture/Sample"
import { ScriptedDriver } from "@castellan/testing/scripted/ScriptedDriver"
import { calls, says } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"

const north: ClientMetadata = { text: '{"region":"north"}', attributes: { region: "north" } }

const limits = { timeout: Duration.seconds(10), maxRows: 100, maxBytes: 100_000 }

const query = (principal: Principal, connector: Connector, statement: string) =>
  ConnectorQueries.use((queries) => queries.query(principal, connector, statement, limits))

/** A tenant with a connector that its administrator made, and a reader of it for the region north. */
const policed = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const admin = Fixture.adminOf(tenant)
  const connector = yield* Fixture.connector(tenant.organizationId, {
    access: { isPublic: true, grants: [], creator: { memberId: tenant.adminId } }
  })
  const reader = yield* Fixture.someone(tenant, { clientMetadata: north })
  const stranger = yield* Fixture.someone(tenant)
  return { admin, connector, reader, stranger, tenant }
})

describe("RowPolicies", () => {
  it.effect("are administered by whoever may change the connector, with a record of each change", () =>
    Effect.gen(function* () {
      const policies = yield* RowPolicies
      const { admin, connector, reader, tenant } = yield* policed
      const refused = yield* Effect.flip(as(reader)(policies.create(connector.id, ownRegion)))
      assert.strictEqual(words(refused), "permission_denied: permission denied: connector:write is required")
      const invalid = yield* Effect.flip(as(admin)(policies.create(connector.id, { ...ownRegion, attributes: {} })))
      assert.strictEqual(invalid.code, "invalid_request")
      const created = yield* as(admin)(policies.create(connector.id, ownRegion))
      assert.deepStrictEqual(yield* as(admin)(policies.list(connector.id)), [created])
      const exempting = yield* as(admin)(policies.update(created.id, { exemptRoles: [tenant.adminRole.id] }))
      assert.deepStrictEqual(exempting.exemptRoles, [tenant.adminRole.id])
      assert.deepStrictEqual(exempting.predicate, ownRegion.predicate)
      const stranger = yield* Sample.role(tenant.organizationId)
      const unknown = yield* Effect.flip(as(admin)(policies.update(created.id, { exemptRoles: [stranger.id] })))
      assert.strictEqual(words(unknown), `invalid_request: exempt_role_ids: there is no role ${stranger.id}`)
      // To whoever does not see the connector, its policies are not there.
      yield* ConnectorStore.use((store) =>
        store.save({ connector, access: { isPublic: false, grants: [], creator: { memberId: tenant.adminId } } })
      )
      const hidden = yield* Effect.flip(as(reader)(policies.delete(created.id)))
      assert.strictEqual(words(hidden), "not_found: row policy not found")
      yield* as(admin)(policies.delete(created.id))
      assert.deepStrictEqual(yield* as(admin)(policies.list(connector.id)), [])
      const { items } = yield* AuditStore.use((store) =>
        store.list(tenant.organizationId, { limit: 100, targetType: "row_policy" })
      )
      assert.deepStrictEqual(items.map(({ action, outcome }) => `${action} ${outcome._tag}`).toSorted(), [
        "create Refused",
        "create Succeeded",
        "delete Succeeded",
        "update Succeeded"
      ])
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("explains what the caller would see, and why", () =>
    Effect.gen(function* () {
      const policies = yield* RowPolicies
      const { admin, connector, reader } = yield* policed
      yield* as(admin)(policies.create(connector.id, ownRegion))
      const explained = (principal: Principal, table: string) =>
        Effect.map(as(principal)(policies.explain(connector.id, [table])), ({ _tag }) => _tag)
      assert.strictEqual(yield* explained(reader, "sales"), "Filtered")
      assert.strictEqual(yield* explained(reader, "orders"), "Unfiltered")
      assert.strictEqual(yield* explained(admin, "sales"), "Denied")
    }).pipe(Effect.provide(Deployment.layer()))
  )
})

describe("ConnectorQueries", () => {
  it.effect("a statement sees the rows that its principal may see, and no other", () =>
    Effect.gen(function* () {
      const { admin, connector, reader, stranger, tenant } = yield* policed
      const whole = yield* query(stranger, connector, "select * from sales")
      assert.strictEqual(whole.rows.length, 3)
      yield* as(admin)(
        RowPolicies.use((policies) =>
          policies.create(connector.id, { ...ownRegion, exemptRoles: [tenant.adminRole.id] })
        )
      )
      const own = yield* query(reader, connector, 'select * from "sales"')
      assert.deepStrictEqual(
        own.rows.map(([region]) => region),
        ["north"]
      )
      assert.deepStrictEqual((yield* query(reader, connector, "select count(*) as n from sales")).rows, [[1]])
      assert.strictEqual((yield* query(admin, connector, "select * from sales")).rows.length, 3)
      const denied = yield* Effect.flip(query(stranger, connector, "select * from sales"))
      assert.strictEqual(denied.reason._tag, "StatementRefused")
      assert.include(denied.message, "_svc.client_attributes_json.region, which the client metadata lack")
      // What was refused did not reach the source.
      const recorded = yield* ScriptedDriver.use((driver) => driver.recorded)
      assert.strictEqual(recorded.length, 4)
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("a driver that cannot keep row policies never runs a statement that one may apply to", () =>
    Effect.gen(function* () {
      const { admin, connector, reader, tenant } = yield* policed
      assert.strictEqual((yield* query(reader, connector, "select * from sales")).rows.length, 3)
      yield* as(admin)(
        RowPolicies.use((policies) =>
          policies.create(connector.id, { ...ownRegion, exemptRoles: [tenant.adminRole.id] })
        )
      )
      const denied = yield* Effect.flip(query(reader, connector, "select * from sales"))
      assert.strictEqual(denied.message, "permission denied: the row policy of sales cannot be applied to this query")
      assert.strictEqual((yield* query(admin, connector, "select * from sales")).rows.length, 3)
    }).pipe(Effect.provide(Deployment.layer({ keepsRowPolicies: false })))
  )

  it.effect("R1 the analyst's statements go through the same door", () =>
    Effect.gen(function* () {
      const { admin, connector, reader, stranger } = yield* policed
      yield* as(admin)(RowPolicies.use((policies) => policies.create(connector.id, ownRegion)))
      const cells = (principal: Principal) =>
        Effect.gen(function* () {
          const events = yield* Conversation.events(yield* Conversation.ask(principal, "How much?"))
          return events.flatMap((event) =>
            event._tag === "Cell" && event.cell.content._tag === "Sql" && event.cell.status._tag !== "Running"
              ? [event.cell]
              : []
          )
        })
      const [own] = yield* cells(reader)
      assert.include(own?.result.dataframePreview ?? "", "north")
      assert.notInclude(own?.result.dataframePreview ?? "", "south")
      const [refused] = yield* cells(stranger)
      assert.isTrue(
        refused?.status._tag === "Failed" && refused.status.error.includes("_svc.client_attributes_json.region")
      )
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: (turn) =>
            turn.messages.at(-1)?._tag === "ToolResult"
              ? says("There.")
              : calls("run_sql", { title: "All", connector: "warehouse", sql: "select * from sales" })
        })
      )
    )
  )
})
