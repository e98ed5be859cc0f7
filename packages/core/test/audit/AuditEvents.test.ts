import * as AuditPolicy from "@castellan/core/audit/AuditPolicy"
import { AuditEvents } from "@castellan/core/audit/AuditEvents"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import { as, failure, trail } from "@castellan/testing/fixture/Acting"
import * as AdministrationSample from "@castellan/testing/fixture/AdministrationSample"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"

const deployment = Deployment.layer()

const scene = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const other = yield* Fixture.tenant("Globex")
  const auditing = yield* Fixture.role(tenant.organizationId, { permissions: ["audit:read"] })
  return {
    tenant,
    admin: Fixture.adminOf(tenant),
    foreignAdmin: Fixture.adminOf(other),
    auditor: yield* Fixture.someone(tenant, { roles: [auditing] }),
    somebody: yield* Fixture.someone(tenant)
  }
})

const list = (limit: number) => AuditEvents.use((events) => events.list({ limit }))

describe("AuditEvents.list", () => {
  it.effect("shows the organization's events to who may read them, page by page", () =>
    Effect.gen(function* () {
      const { admin, auditor, foreignAdmin } = yield* scene
      const store = yield* AuditStore
      const first = yield* AdministrationSample.auditEvent(admin)
      yield* TestClock.adjust("1 second")
      const second = yield* AdministrationSample.auditEvent(auditor)
      const foreign = yield* AdministrationSample.auditEvent(foreignAdmin)
      yield* Effect.forEach([first, second, foreign], store.append)
      for (const reader of [admin, auditor]) {
        const page = yield* as(reader)(list(1))
        assert.deepStrictEqual(page, { items: [second], next: { at: second.at, id: second.id } })
        const rest = yield* as(reader)(
          AuditEvents.use((events) => events.list({ limit: 1, after: { at: second.at, id: second.id } }))
        )
        assert.deepStrictEqual(rest, { items: [first] })
        assert.deepStrictEqual(
          yield* as(reader)(AuditEvents.use((events) => events.list({ limit: 9, memberId: auditor.memberId }))),
          { items: [second] }
        )
      }
      assert.deepStrictEqual(yield* as(foreignAdmin)(list(9)), { items: [foreign] })
    }).pipe(Effect.provide(deployment))
  )

  it.effect("refuses all others, and has that on the record", () =>
    Effect.gen(function* () {
      const { somebody, tenant } = yield* scene
      assert.strictEqual(
        yield* as(somebody)(failure(list(1))),
        "PermissionDenied: permission denied: audit:read is required"
      )
      assert.deepStrictEqual(yield* trail(tenant.organizationId), ["list audit_log refused"])
    }).pipe(Effect.provide(deployment))
  )
})

describe("AuditPolicy.see", () => {
  it.effect("another organization's event is not there, one's own needs audit:read", () =>
    Effect.gen(function* () {
      const { admin, auditor, foreignAdmin, somebody } = yield* scene
      const event = yield* AdministrationSample.auditEvent(somebody)
      const told = [admin, auditor, somebody, foreignAdmin].map((principal) => {
        const decision = AuditPolicy.see(principal, event)
        return `${decision._tag} ${decision.reason}`
      })
      assert.deepStrictEqual(told, ["Allow permission", "Allow permission", "Deny permission", "Deny hidden"])
    }).pipe(Effect.provide(deployment))
  )
})
