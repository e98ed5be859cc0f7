import type { Access } from "@castellan/core/access/Access"
import type { Principal } from "@castellan/core/access/Principal"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import { type Connector, ConnectorId, ConnectorName, ConnectorSource } from "@castellan/core/connector/Connector"
import { Connectors } from "@castellan/core/connector/Connectors"
import { ConnectorStore } from "@castellan/core/connector/ConnectorStore"
import { HostFolders } from "@castellan/core/connector/HostFolders"
import { RowPolicyStore } from "@castellan/core/rowpolicy/RowPolicyStore"
import { Secrets } from "@castellan/core/secret/Secrets"
import { as, refused } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { rowPolicy } from "@castellan/testing/fixture/RowPolicySample"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"

const server = { host: "db.example", database: "shop", user: "reader" }
const postgres = ConnectorSource.cases.Postgres.make(server)
const files = (folder: string) => ConnectorSource.cases.Files.make({ folder })
const secret = (text: string) => Redacted.make(text)

const orders = { name: ConnectorName.make("orders"), source: postgres, secret: secret("correct horse") }

const revealed = (connector: Connector) =>
  Effect.gen(function* () {
    if (connector.secretId === undefined) return undefined
    const found = yield* Secrets.use((secrets) =>
      secrets.reveal(connector.organizationId, connector.secretId ?? assert.fail())
    )
    return Option.getOrUndefined(Option.map(found, Redacted.value))
  })

const layer = Deployment.layer().pipe(Layer.provide(Layer.succeed(HostFolders, ["/srv/data"])))

describe("the administration of connectors", () => {
  it.effect("one is made by whoever may, and reached by its maker alone until it is shared", () =>
    Effect.gen(function* () {
      const connectors = yield* Connectors
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const member = yield* Fixture.someone(tenant)
      assert.strictEqual(
        yield* refused(as(member)(connectors.create(orders))),
        "permission_denied: permission denied: connector:write is required"
      )
      const made = yield* as(admin)(connectors.create({ ...orders, description: "What was ordered" }))
      assert.strictEqual(Number(made.id), 1)
      assert.strictEqual(yield* revealed(made), "correct horse")
      assert.deepStrictEqual(yield* as(admin)(connectors.list), [made])
      assert.deepStrictEqual(yield* as(member)(connectors.list), [])
      assert.strictEqual(
        yield* refused(as(member)(connectors.update(made.id, { description: "x" }))),
        "not_found: connector not found"
      )
      const { items } = yield* AuditStore.use((store) => store.list(tenant.organizationId, { limit: 100 }))
      assert.deepStrictEqual(items.map(({ action, outcome }) => `${action} ${outcome._tag}`).toReversed(), [
        "create Refused",
        "create Succeeded"
      ])
      // Neither the secret nor where it is kept is in any record.
      const record = JSON.stringify(items)
      assert.notInclude(record, "correct horse")
      assert.notInclude(record, made.secretId ?? "no secret")
    }).pipe(Effect.provide(layer))
  )

  it.effect("what does not fit is refused, in the order of checks", () =>
    Effect.gen(function* () {
      const connectors = yield* Connectors
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const member = yield* Fixture.someone(tenant)
      const name = ConnectorName.make("other")
      const create = (principal: Principal, more: Partial<Parameters<typeof connectors.create>[0]>) =>
        refused(as(principal)(connectors.create({ name, source: postgres, ...more })))
      yield* as(admin)(connectors.create(orders))
      assert.strictEqual(
        yield* create(member, {}),
        "invalid_request: secret: a connector of the type postgres needs one"
      )
      assert.strictEqual(
        yield* create(admin, { source: files("/srv/data"), secret: secret("x") }),
        "invalid_request: secret: a connector of the type files has none"
      )
      for (const folder of ["/etc", "/srv/data/../../etc", "srv/data"]) {
        assert.strictEqual(
          yield* create(admin, { source: files(folder) }),
          "invalid_request: folder: must be one that the host allows"
        )
      }
      assert.strictEqual(
        yield* create(admin, { name: ConnectorName.make("Orders"), secret: secret("x") }),
        "conflict: a connector of the name Orders exists"
      )
      const trino = ConnectorSource.cases.Trino.make({ host: "trino.example", catalog: "lake", user: "reader" })
      yield* as(admin)(connectors.create({ name, source: trino }))
      yield* as(admin)(connectors.create({ name: ConnectorName.make("local"), source: files("/srv/data/shop") }))
      assert.strictEqual((yield* as(admin)(connectors.list)).length, 3)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a change keeps what is absent; whoever points it elsewhere must know the secret", () =>
    Effect.gen(function* () {
      const connectors = yield* Connectors
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const made = yield* as(admin)(connectors.create({ ...orders, description: "What was ordered" }))
      const update = (patch: Parameters<typeof connectors.update>[1]) => as(admin)(connectors.update(made.id, patch))
      const renamed = yield* update({ name: ConnectorName.make("sales") })
      assert.deepStrictEqual({ ...renamed }, { ...made, name: "sales" })
      assert.isFalse(Object.hasOwn(yield* update({ description: "" }), "description"))
      // The same place is no other place.
      yield* update({ source: ConnectorSource.cases.Postgres.make({ ...server }) })
      const elsewhere = ConnectorSource.cases.Postgres.make({ ...server, host: "attacker.example" })
      assert.strictEqual(
        yield* refused(update({ source: elsewhere })),
        "invalid_request: secret: must be given again when the source changes"
      )
      assert.strictEqual(
        yield* refused(update({ source: files("/srv/data") })),
        "invalid_request: type: cannot be changed; make another connector"
      )
      assert.strictEqual(yield* revealed(renamed), "correct horse")
      const moved = yield* update({ source: elsewhere, secret: secret("battery") })
      assert.deepStrictEqual([moved.source, moved.secretId], [elsewhere, made.secretId])
      assert.strictEqual(yield* revealed(moved), "battery")
    }).pipe(Effect.provide(layer))
  )

  it.effect(
    "K22 an editor changes it, an owner removes it, and an administrator of whom nothing is said does neither",
    () =>
      Effect.gen(function* () {
        const connectors = yield* Connectors
        const tenant = yield* Fixture.tenant()
        const writer = yield* Fixture.role(tenant.organizationId, {
          permissions: ["connector:write", "connector:read"]
        })
        const editor = yield* Fixture.someone(tenant, { roles: [writer], fullMemberAccess: true })
        const access: Access = {
          isPublic: false,
          grants: [{ grantee: { _tag: "Member", id: editor.memberId }, accessType: "editor" }]
        }
        const connector = yield* Fixture.connector(tenant.organizationId, { access })
        const change = (principal: Principal) => as(principal)(connectors.update(connector.id, { description: "x" }))
        const remove = (principal: Principal) => as(principal)(connectors.delete(connector.id))
        assert.strictEqual((yield* change(editor)).description, "x")
        assert.strictEqual(
          yield* refused(remove(editor)),
          "permission_denied: permission denied: owner access to this connector is required"
        )
        const admin = Fixture.adminOf(tenant)
        assert.strictEqual(
          yield* refused(change(admin)),
          "permission_denied: permission denied: editor access to this connector is required"
        )
        assert.strictEqual(
          yield* refused(remove(admin)),
          "permission_denied: permission denied: owner access to this connector is required"
        )
      }).pipe(Effect.provide(layer))
  )

  it.effect("a removed one leaves neither secret nor row policies, and its number is never another's", () =>
    Effect.gen(function* () {
      const connectors = yield* Connectors
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const made = yield* as(admin)(connectors.create(orders))
      const policy = yield* rowPolicy(tenant.organizationId, { connectorId: made.id })
      yield* RowPolicyStore.use((store) => store.save(policy))
      yield* as(admin)(connectors.delete(made.id))
      assert.isUndefined(yield* revealed(made))
      assert.deepStrictEqual(yield* RowPolicyStore.use((store) => store.list(tenant.organizationId, made.id)), [])
      assert.strictEqual(yield* refused(as(admin)(connectors.delete(made.id))), "not_found: connector not found")
      const next = yield* as(admin)(connectors.create(orders))
      assert.strictEqual(Number(next.id), 2)
      const store = yield* ConnectorStore
      const stored = Option.getOrThrow(yield* store.get(tenant.organizationId, next.id))
      yield* store.save({
        ...stored,
        connector: yield* Fixture.connector(tenant.organizationId, { id: 40, name: "far" })
      })
      assert.strictEqual(Number(yield* store.nextId(tenant.organizationId)), 41)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a test says whether the source is reached, and is on the record", () =>
    Effect.gen(function* () {
      const connectors = yield* Connectors
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const draft = { _tag: "Draft", source: postgres, secret: secret("x") } as const
      assert.deepStrictEqual(yield* as(admin)(connectors.test(draft)), { success: true })
      const made = yield* as(admin)(connectors.create(orders))
      assert.deepStrictEqual(yield* as(admin)(connectors.test({ _tag: "Existing", id: made.id })), { success: true })
      const member = yield* Fixture.someone(tenant)
      assert.strictEqual(
        yield* refused(as(member)(connectors.test(draft))),
        "permission_denied: permission denied: connector:write is required"
      )
      assert.strictEqual(
        yield* refused(as(member)(connectors.test({ _tag: "Existing", id: ConnectorId.make(9) }))),
        "not_found: connector not found"
      )
      const { items } = yield* AuditStore.use((store) =>
        store.list(tenant.organizationId, { limit: 9, action: "test" })
      )
      assert.deepStrictEqual(
        items.map(({ outcome, target }) => [outcome._tag, target.id ?? "none"]),
        [
          ["Refused", "none"],
          ["Succeeded", "1"],
          ["Succeeded", "none"]
        ]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("a source that is not reached is a result, not a failure", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const outcome = yield* as(admin)(
        Connectors.use((connectors) => connectors.test({ _tag: "Draft", source: postgres, secret: secret("x") }))
      )
      assert.deepStrictEqual(outcome, { success: false, error: "no route to db.example" })
    }).pipe(Effect.provide(Deployment.layer({ unreachable: "no route to db.example" })))
  )
})
