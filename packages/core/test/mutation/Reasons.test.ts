/**
 * What decisions say beside yes and no: the reason, the facts that they rested on, and, where it names the object, the
 * sentence. Nothing else would notice that they are lost.
 */
import type { Access } from "@castellan/core/access/Access"
import { decide, reach } from "@castellan/core/access/AccessPolicy"
import type { Decision } from "@castellan/core/access/Decision"
import { requires, requiresAdmin } from "@castellan/core/access/PermissionPolicy"
import { may } from "@castellan/core/agent/AgentPolicy"
import { actorOf, AuditEvent, AuditEventId, AuditOutcome } from "@castellan/core/audit/AuditEvent"
import * as AuditPolicy from "@castellan/core/audit/AuditPolicy"
import * as ChatPolicy from "@castellan/core/chat/ChatPolicy"
import { ConnectorId } from "@castellan/core/connector/Connector"
import type { Permission } from "@castellan/core/role/Permission"
import { assert, describe, it } from "vitest"
import * as World from "../oracle/World.ts"

const now = World.moment(World.now)

const grants: World.Grants = {
  admin: ["app:write", "agent:read", "agent:write", "agent:trigger", "chat:read", "chat:write", "audit:read"],
  red: ["app:write", "agent:read", "agent:write", "chat:read", "chat:write"],
  blue: ["app:write"],
  green: []
}

const principal = (roles: ReadonlyArray<World.RoleName>, more: Partial<World.Caller> = {}) =>
  World.principalOf(
    {
      member: "ann",
      roles,
      by: "session",
      keys: [],
      restricted: false,
      ceiling: false,
      client: "",
      superadmin: false,
      ...more
    },
    grants
  )

const hidden: Access = { isPublic: false, grants: [] }
const open: Access = { isPublic: true, grants: [] }
const hers: Access = { isPublic: false, grants: [], creator: { memberId: World.memberId("ann") } }

const need = { permission: "app:write", access: "editor", object: "app" } as const

const said = ({ facts, reason }: Decision) => ({ reason, facts })

describe("an object that carries access", () => {
  it("is not found, and the decision knows that it is hidden", () => {
    const decision = decide(principal(["red"]), hidden, need, now)
    assert.deepStrictEqual(said(decision), { reason: "hidden", facts: { reach: "hidden" } })
    assert.strictEqual(decision.message, "app not found")
  })

  it("is reached, but not far enough", () => {
    const decision = decide(principal(["red"]), open, need, now)
    assert.deepStrictEqual(said(decision), { reason: "access", facts: { reach: "viewer", required: "editor" } })
  })

  it("is reached far enough", () => {
    const decision = decide(principal(["red"]), hers, need, now)
    assert.deepStrictEqual(said(decision), {
      reason: "access",
      facts: { permission: "app:write", reach: "owner" }
    })
    assert.strictEqual(reach(principal([]), hers, now), "owner")
  })

  it("was not made by a restricted principal without a key", () => {
    const made: Access = { ...hers, creator: { memberId: World.memberId("ann"), apiKeyId: World.keyId("ann first") } }
    assert.strictEqual(reach(principal([], { restricted: true }), made, now), "hidden")
  })
})

describe("a permission", () => {
  it("is by the first role by name that grants it, in whatever order they come, and however often", () => {
    for (const roles of [
      ["red", "blue"],
      ["blue", "red"],
      ["blue", "red", "blue"]
    ] as const) {
      assert.deepStrictEqual(said(requires(principal(roles), "app:write")), {
        reason: "permission",
        facts: { permission: "app:write", role: "blue" }
      })
    }
  })

  it("is missing from the roles that are named once each, in order", () => {
    assert.deepStrictEqual(said(requires(principal(["red", "green", "red"]), "audit:read")), {
      reason: "permission",
      facts: { permission: "audit:read", roles: ["green", "red"] }
    })
  })

  it("of administration is by the admin role alone", () => {
    assert.deepStrictEqual(said(requiresAdmin(principal(["admin"]))), { reason: "administrator", facts: {} })
    assert.deepStrictEqual(said(requiresAdmin(principal(["red"]))), {
      reason: "admin_required",
      facts: { roles: ["red"] }
    })
  })
})

describe("an agent", () => {
  const [one, two] = [ConnectorId.make(1), ConnectorId.make(2)]
  const agent = (access: Access) => ({ access, connectorIds: [one, two] })

  it("is not found by those who lack a connector of it", () => {
    const decision = may(principal(["red"]), "read", agent(hers), [one], now)
    assert.deepStrictEqual(said(decision), { reason: "hidden", facts: { lackingConnectors: ["2"] } })
    assert.strictEqual(decision.message, "agent not found")
  })

  it("says how far it has to be reached", () => {
    const decisions = (["read", "update", "delete", "trigger"] as const).map((action) =>
      may(principal(["admin"]), action, agent(hidden), [one, two], now)
    )
    assert.deepStrictEqual(
      decisions.map(({ facts, reason }) => [reason, facts["required"]]),
      [
        ["access", "viewer"],
        ["access", "editor"],
        ["access", "owner"],
        ["access", "viewer"]
      ]
    )
    assert.strictEqual(decisions[1]?.message, "permission denied: editor access to this agent is required")
  })
})

it("a chat says how far it has to be reached", () => {
  const required = (["read", "ask", "cancel", "update", "delete", "feedback"] as const).map((action) => {
    const { facts, message } = ChatPolicy.decide(principal(["admin"]), { access: hidden }, action, now)
    return [facts["required"], message]
  })
  const sentence = (access: string) => `permission denied: ${access} access to this chat is required`
  assert.deepStrictEqual(
    required,
    ["viewer", "editor", "editor", "editor", "owner", "viewer"].map((access) => [access, sentence(access)])
  )
})

it("an audit event of another organization is not found; one of the same needs the permission", () => {
  const of = (organization: string) =>
    new AuditEvent({
      id: AuditEventId.make(World.uuid("event")),
      organizationId: World.organizationId(organization),
      at: now,
      actor: actorOf(principal([])),
      action: "create",
      target: { type: "chat" },
      outcome: AuditOutcome.cases.Succeeded.make({})
    })
  const permission: Permission = "audit:read"
  assert.strictEqual(AuditPolicy.see(principal(["admin"]), of("elsewhere")).reason, "hidden")
  assert.deepStrictEqual(said(AuditPolicy.see(principal(["red"]), of("here"))), {
    reason: "permission",
    facts: { permission, roles: ["red"] }
  })
})
