/**
 * What decisions about members, roles, models, playbooks and sandcastles say beside yes and no: the reason and the facts
 * that they rested on; and the bounds of what a row policy is made of.
 */
import type { Decision } from "@castellan/core/access/Decision"
import { Member, MemberStatus } from "@castellan/core/member/Member"
import * as MemberPolicy from "@castellan/core/member/MemberPolicy"
import { Model, ModelId, ModelNumber } from "@castellan/core/model/Model"
import * as ModelPolicy from "@castellan/core/model/ModelPolicy"
import { PlaybookStatus } from "@castellan/core/playbook/Playbook"
import * as PlaybookPolicy from "@castellan/core/playbook/PlaybookPolicy"
import { Role, RoleOrigin } from "@castellan/core/role/Role"
import * as RolePolicy from "@castellan/core/role/RolePolicy"
import { RoleEvent } from "@castellan/core/role/RoleState"
import { AttributeName, ColumnName, PolicyTable } from "@castellan/core/rowpolicy/RowPolicy"
import * as SandcastlePolicy from "@castellan/core/sandcastle/SandcastlePolicy"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { assert, describe, it } from "vitest"
import * as World from "../oracle/World.ts"

const now = World.moment(World.now)

const grants: World.Grants = {
  admin: ["organization:write", "member:write", "role:write", "playbook:read", "playbook:run", "playbook:write"],
  red: ["role:write", "chat:read", "sandcastle:read", "sandcastle:execute"],
  blue: ["member:write"],
  green: ["organization:write"]
}

const principal = (...roles: ReadonlyArray<World.RoleName>) =>
  World.principalOf(
    {
      member: "ann",
      roles,
      by: "session",
      keys: [],
      restricted: false,
      ceiling: false,
      client: "",
      superadmin: false
    },
    grants
  )

const role = (name: World.RoleName) => World.roleOf(name, grants)
const originally = (name: World.RoleName, origin: RoleOrigin) => new Role({ ...role(name), origin })

const said = ({ _tag, facts, reason }: Decision) => ({ is: _tag, reason, facts })
const allowed = (reason: string, facts: Decision["facts"]) => ({ is: "Allow", reason, facts })
const denied = (reason: string, facts: Decision["facts"]) => ({ is: "Deny", reason, facts })

describe("members", () => {
  const member = (name: World.MemberName, ...roles: ReadonlyArray<World.RoleName>) =>
    new Member({
      id: World.memberId(name),
      organizationId: World.organizationId("here"),
      email: `${name}@example.com`,
      roles: roles.map(World.roleId),
      isServiceAccount: false,
      status: MemberStatus.cases.Active.make({}),
      createdAt: now
    })

  it("are shown to who administers them, without a look at the whole organization", () => {
    assert.deepStrictEqual(
      said(MemberPolicy.read(principal("blue"))),
      allowed("permission", { permission: "member:write", role: "blue" })
    )
    assert.strictEqual(MemberPolicy.read(principal("red"))._tag, "Deny")
  })

  it("see their own roles, because they are their own", () => {
    assert.deepStrictEqual(said(MemberPolicy.readRoles(principal(), member("ann"))), allowed("own", {}))
    assert.strictEqual(MemberPolicy.readRoles(principal(), member("bob"))._tag, "Deny")
  })

  it("are invited by nobody who does not administer members, though the role could be handed on", () => {
    for (const origin of [RoleOrigin.cases.Custom.make({}), RoleOrigin.cases.System.make({ name: "member" })]) {
      assert.deepStrictEqual(
        said(MemberPolicy.invite(principal("red"), originally("red", origin))),
        denied("admin_required", { permission: "member:write", roles: ["red"] })
      )
    }
  })

  it("are removed with member:write, and the denial says that it is what is missing, also where it is an admin", () => {
    const remove = (...roles: ReadonlyArray<World.RoleName>) =>
      said(MemberPolicy.remove(principal("red"), member("bob", ...roles), role("admin")))
    const missing = denied("admin_required", { permission: "member:write", roles: ["red"] })
    assert.deepStrictEqual([remove("admin"), remove("green")], [missing, missing])
    assert.deepStrictEqual(
      said(MemberPolicy.remove(principal("blue"), member("bob", "admin"), role("admin"))),
      denied("admin_required", { roles: ["blue"] })
    )
  })
})

describe("roles", () => {
  const { Delete, Describe, Rename, SetPermissions } = RoleEvent.cases

  it("are given permissions that are held", () => {
    const give = (permissions: Role["permissions"]) =>
      said(RolePolicy.change(principal("red"), role("blue"), SetPermissions.make({ permissions })))
    assert.deepStrictEqual(give(["chat:read", "member:write"]), allowed("permission", { role: "blue" }))
    assert.deepStrictEqual(
      give(["audit:read", "chat:read", "app:write", "audit:read"]),
      denied("not_held", { permissions: ["audit:read", "app:write"] })
    )
  })

  it("are changed otherwise by the permission to", () => {
    for (const event of [Rename.make({ name: "other" }), Describe.make({ description: "other" }), Delete.make({})]) {
      assert.deepStrictEqual(
        said(RolePolicy.change(principal("red"), role("blue"), event)),
        allowed("permission", { permission: "role:write", role: "red" })
      )
    }
  })

  it("are not changed where another keeps them, and the denial says who", () => {
    const rename = (origin: RoleOrigin) =>
      said(RolePolicy.change(principal("red"), originally("blue", origin), Rename.make({ name: "other" })))
    assert.deepStrictEqual(
      [rename(RoleOrigin.cases.Scim.make({})), rename(RoleOrigin.cases.System.make({ name: "member" }))],
      [
        denied("scim_managed", { role: "blue", origin: "Scim" }),
        denied("system_role", { role: "blue", origin: "System" })
      ]
    )
  })

  it("are handed on by who holds them, or is an administrator", () => {
    assert.deepStrictEqual(said(RolePolicy.hand(principal("red"), role("red"))), allowed("permission", { role: "red" }))
    assert.deepStrictEqual(
      said(RolePolicy.hand(principal("admin"), role("red"))),
      allowed("administrator", { role: "red" })
    )
    assert.deepStrictEqual(said(RolePolicy.hand(principal("blue"), role("red"))), denied("not_held", { role: "red" }))
  })

  it("are taken with role:write, and the denial says that it is what is missing, also where it is admin", () => {
    const missing = denied("admin_required", { permission: "role:write", roles: ["blue"] })
    for (const name of ["admin", "green"] as const) {
      assert.deepStrictEqual(said(RolePolicy.unassign(principal("blue"), role(name))), missing)
    }
    assert.deepStrictEqual(
      said(RolePolicy.unassign(principal("red"), role("admin"))),
      denied("admin_required", { roles: ["red"] })
    )
  })
})

describe("models", () => {
  const model = (id: string, number: number, name = id) =>
    new Model({
      id: ModelId.make(id),
      number: ModelNumber.make(number),
      provider: "vendor",
      name,
      supportsFastMode: false
    })
  const preferring = (id: string, name: string, number: number) =>
    new Role({
      ...role("red"),
      id: World.roleId(id),
      name,
      models: { defaultModel: ModelNumber.make(number), allowModelChoice: true }
    })
  const facts = (
    models: ReadonlyArray<Model>,
    roles: ReadonlyArray<Role>,
    organizationDefault?: ModelNumber
  ): ModelPolicy.ModelFacts => ({ models, roles, organizationDefault })

  it("of a chat go on because they are allowed", () => {
    const given = facts([model("best", 1)], [role("red")])
    assert.deepStrictEqual(said(ModelPolicy.permits(given, ModelId.make("best"))), allowed("model", { model: "best" }))
    assert.deepStrictEqual(said(ModelPolicy.permits(given, ModelId.make("other"))), denied("model_choice", {}))
  })

  it("of roles that bear one name are preferred by the role with the lowest id, in whatever order they come", () => {
    const [first, second, third] = [
      preferring("preferred 1", "same", 1),
      preferring("preferred 2", "same", 2),
      preferring("preferred 3", "same", 3)
    ]
    const models = [model("c", 3), model("b", 2), model("a", 1)]
    for (const roles of [
      [first, second, third],
      [third, second, first],
      [second, first, third],
      [second, third, first]
    ]) {
      assert.strictEqual(ModelPolicy.defaultModel(facts(models, roles))?.id, "a")
    }
  })

  it("that are listed twice are the better of the two", () => {
    const models = [model("top", 2), model("twin", 1, "better"), model("twin", 1, "worse")]
    const given = facts(models, [role("red")], ModelNumber.make(1))
    assert.strictEqual(ModelPolicy.defaultModel(given)?.name, "better")
    const choosing = facts(models, [preferring("chooser", "chooser", 2)])
    assert.strictEqual(Result.getOrThrow(ModelPolicy.choose(choosing, ModelId.make("twin"))).name, "better")
  })
})

describe("playbooks", () => {
  const hidden = { access: { isPublic: false, grants: [] }, status: PlaybookStatus.cases.Draft.make({}) }

  it("say how far they have to be reached", () => {
    const required = (["read", "run", "configure", "deploy", "undeploy", "delete"] as const).map((action) => {
      const { facts, message, reason } = PlaybookPolicy.may(principal("admin"), action, hidden, now)
      return [reason, facts["required"], message]
    })
    assert.deepStrictEqual(
      required,
      ["viewer", "viewer", "editor", "editor", "editor", "owner"].map((access) => [
        "access",
        access,
        `permission denied: ${access} access to this playbook is required`
      ])
    )
  })

  it("are not found once they are deleted, and the decision knows that they are", () => {
    const deleted = { ...hidden, status: PlaybookStatus.cases.Deleted.make({ deletedAt: now }) }
    const decision = PlaybookPolicy.may(principal("admin"), "read", deleted, now)
    assert.deepStrictEqual(said(decision), denied("hidden", { state: "deleted" }))
    assert.strictEqual(decision.message, "playbook not found")
  })
})

describe("sandcastles", () => {
  const of = (member: World.MemberName) => ({ creator: { memberId: World.memberId(member) }, createdAt: now })

  it("are used because they are one's own", () => {
    for (const [action, permission] of [
      ["read", "sandcastle:read"],
      ["execute", "sandcastle:execute"],
      ["stop", "sandcastle:execute"]
    ] as const) {
      assert.deepStrictEqual(
        said(SandcastlePolicy.decide(principal("red"), of("ann"), action)),
        allowed("own", { permission, role: "red" })
      )
      assert.deepStrictEqual(
        said(SandcastlePolicy.decide(principal("green"), of("ann"), action)),
        denied("permission", { permission, roles: ["green"] })
      )
    }
  })

  it("of others are stopped by administrators of the organization, and are not found otherwise", () => {
    const decide = (action: SandcastlePolicy.SandcastleAction, ...roles: ReadonlyArray<World.RoleName>) =>
      said(SandcastlePolicy.decide(principal(...roles), of("bob"), action))
    assert.deepStrictEqual(decide("stop", "green"), allowed("administrator", { permission: "organization:write" }))
    assert.deepStrictEqual(decide("stop", "red"), denied("hidden", { action: "stop" }))
    assert.deepStrictEqual(decide("read", "green"), denied("hidden", { action: "read" }))
  })
})

describe("a row policy", () => {
  it("is about a table and columns with names of at most so many characters", () => {
    for (const [name, most] of [
      [ColumnName, 255],
      [PolicyTable, 512]
    ] as const) {
      const holds = Schema.is(name)
      assert.deepStrictEqual(
        [0, 1, most, most + 1].map((length) => holds("x".repeat(length))),
        [false, true, true, false]
      )
    }
  })

  it("reads fields whose names are identifiers from end to end", () => {
    const holds = Schema.is(AttributeName)
    const good = ["a", "_", "tenant_1", "__proto__x", "x".repeat(63)]
    const bad = ["", "1a", "a-b", "a b", "a\n", "a'", "a.b", "ä", "aä", "__proto__", "x".repeat(64)]
    assert.deepStrictEqual(good.filter(holds), good)
    assert.deepStrictEqual(bad.filter(holds), [])
  })
})
