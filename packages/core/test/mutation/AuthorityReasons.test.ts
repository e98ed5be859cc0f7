/**
 * What the decisions on shared objects, keys and usage say beside yes and no: how far somebody had to reach, why a key
 * was not minted, which budget stands in the way.
 */
import type { Access, AccessType } from "@castellan/core/access/Access"
import { ownership } from "@castellan/core/access/AccessPolicy"
import type { Decision } from "@castellan/core/access/Decision"
import * as ApiKeyPolicy from "@castellan/core/apikey/ApiKeyPolicy"
import { ApiKey, ApiKeyHash } from "@castellan/core/apikey/ApiKey"
import type { KeyTerms } from "@castellan/core/apikey/KeyRequest"
import * as MintPolicy from "@castellan/core/apikey/MintPolicy"
import * as AppPolicy from "@castellan/core/app/AppPolicy"
import * as ChatPolicy from "@castellan/core/chat/ChatPolicy"
import * as ConnectorPolicy from "@castellan/core/connector/ConnectorPolicy"
import { Member } from "@castellan/core/member/Member"
import { Budget, BudgetId, type BudgetScope } from "@castellan/core/usage/Budget"
import * as BudgetPolicy from "@castellan/core/usage/BudgetPolicy"
import * as UsagePolicy from "@castellan/core/usage/UsagePolicy"
import { DateTime, Duration, Result } from "effect"
import { assert, describe, it } from "vitest"
import * as World from "../oracle/World.ts"

const now = World.moment(World.now)
const later = DateTime.add(now, { hours: 1 })

const grants: World.Grants = {
  admin: ["app:read", "app:write", "chat:read", "connector:read", "connector:query", "connector:write"],
  red: ["app:read", "app:write", "connector:read", "organization:write"],
  blue: ["organization:read"]
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

const said = ({ _tag, facts, reason }: Decision) => ({ _tag, reason, facts })

const nobodys: Access = { isPublic: false, grants: [] }

const grantedTo = (accessType: AccessType, expiresAt?: DateTime.Utc): Access => ({
  isPublic: false,
  grants: [
    {
      grantee: { _tag: "Member", id: World.memberId("ann") },
      accessType,
      ...(expiresAt === undefined ? {} : { expiresAt })
    }
  ]
})

const sentence = (access: AccessType, object: string) =>
  `permission denied: ${access} access to this ${object} is required`

describe("how long an object is owned", () => {
  it("is for good by its maker, and by a grant without an end", () => {
    const made: Access = { ...nobodys, creator: { memberId: World.memberId("ann") } }
    assert.deepStrictEqual(ownership(principal([]), made, now), { _tag: "Lasting" })
    assert.deepStrictEqual(ownership(principal([]), grantedTo("owner"), now), { _tag: "Lasting" })
  })

  it("is to the end of a grant that has one, and not at all without", () => {
    assert.deepStrictEqual(ownership(principal([]), grantedTo("owner", later), now), { _tag: "Until", at: later })
    assert.deepStrictEqual(ownership(principal([]), grantedTo("owner", now), now), { _tag: "None" })
    assert.deepStrictEqual(ownership(principal([]), grantedTo("editor"), now), { _tag: "None" })
  })
})

describe("an app", () => {
  const may = (action: AppPolicy.AppAction, access: Access, roles: ReadonlyArray<World.RoleName>) =>
    AppPolicy.may(principal(roles), action, { access, chatCreator: { memberId: World.memberId("ann") } }, now)

  it("says to an administrator who reaches none of it how far it has to be reached", () => {
    for (const [action, required] of [
      ["read", "viewer"],
      ["update", "editor"],
      ["delete", "owner"]
    ] as const) {
      const decision = may(action, nobodys, ["admin"])
      assert.deepStrictEqual(said(decision), { _tag: "Deny", reason: "access", facts: { reach: "visible", required } })
      assert.strictEqual(decision.message, sentence(required, "app"))
    }
  })

  it("is changed by its editors, and removed by its owners alone", () => {
    assert.deepStrictEqual(
      (["viewer", "editor", "owner"] as const).map((accessType) =>
        (["read", "update", "delete"] as const).map((action) => may(action, grantedTo(accessType), ["red"])._tag)
      ),
      [
        ["Allow", "Deny", "Deny"],
        ["Allow", "Allow", "Deny"],
        ["Allow", "Allow", "Allow"]
      ]
    )
  })
})

it("a chat of another end user is hidden, and the decision knows that its rows are why", () => {
  const access: Access = { isPublic: true, grants: [], creator: { memberId: World.memberId("bob") } }
  const decision = ChatPolicy.decide(principal(["admin"], { client: "acme" }), { access }, "read", now)
  assert.deepStrictEqual(said(decision), {
    _tag: "Deny",
    reason: "hidden",
    facts: { clientMetadata: "another end user's" }
  })
})

describe("a connector", () => {
  const actions = [
    ["read", "viewer", "connector:read"],
    ["query", "viewer", "connector:query"],
    ["update", "editor", "connector:write"],
    ["delete", "owner", "connector:write"]
  ] as const

  it("is not found by those who reach none of it", () => {
    for (const [action] of actions) {
      const decision = ConnectorPolicy.decide(principal([]), { access: nobodys }, action, now)
      assert.deepStrictEqual(said(decision), { _tag: "Deny", reason: "hidden", facts: { reach: "hidden" } })
      assert.strictEqual(decision.message, "connector not found")
    }
  })

  it("says which permission is missing, and by which it is used", () => {
    for (const [action, access, permission] of actions) {
      const decide = (roles: ReadonlyArray<World.RoleName>) =>
        said(ConnectorPolicy.decide(principal(roles), { access: grantedTo(access) }, action, now))
      assert.deepStrictEqual(decide([]), { _tag: "Deny", reason: "permission", facts: { permission, roles: [] } })
      assert.deepStrictEqual(decide(["admin"]), {
        _tag: "Allow",
        reason: "access",
        facts: { permission, reach: access }
      })
    }
  })

  it("says how far it has to be reached", () => {
    for (const [action, required] of actions) {
      const decision = ConnectorPolicy.decide(principal(["admin"]), { access: nobodys }, action, now)
      assert.deepStrictEqual(said(decision), { _tag: "Deny", reason: "access", facts: { reach: "visible", required } })
      assert.strictEqual(decision.message, sentence(required, "connector"))
    }
  })
})

describe("keys", () => {
  it("are listed by their owner as its own, and all of them by a role", () => {
    assert.deepStrictEqual(said(ApiKeyPolicy.list(principal(["blue"]), "personal")), {
      _tag: "Allow",
      reason: "own",
      facts: { scope: "personal" }
    })
    for (const scope of ["all", "service_accounts"] as const) {
      assert.deepStrictEqual(said(ApiKeyPolicy.list(principal(["blue"]), scope)), {
        _tag: "Allow",
        reason: "permission",
        facts: { permission: "organization:read", role: "blue" }
      })
    }
  })

  const member = (name: World.MemberName, isServiceAccount = false) =>
    new Member({
      id: World.memberId(name),
      organizationId: World.organizationId("here"),
      email: `${name}@example.com`,
      roles: [],
      isServiceAccount,
      isScimManaged: false,
      standing: "ordinary",
      status: { _tag: "Active" },
      createdAt: World.moment(0)
    })

  const parent = new ApiKey({
    id: World.keyId("ann first"),
    organizationId: World.organizationId("here"),
    owner: World.memberId("ann"),
    assumedRoles: { _tag: "Snapshot", roles: [] },
    fullMemberAccess: true,
    hash: ApiKeyHash.make("0".repeat(64)),
    status: { _tag: "Active" },
    rotatedFrom: [],
    ancestors: [],
    createdAt: World.moment(0)
  })

  const terms: KeyTerms = { roles: { _tag: "Inherited" }, fullMemberAccess: false }

  const facts: MintPolicy.MintFacts = {
    principal: principal([]),
    owner: member("ann"),
    parent: undefined,
    now,
    defaultLifetime: undefined
  }

  it("are not minted for a person, nor for nobody, and both read the same", () => {
    const forBob: KeyTerms = { ...terms, target: World.memberId("bob") }
    const writer = principal(["red"])
    const denials = [member("bob"), undefined].map((owner) =>
      Result.getOrThrow(Result.flip(MintPolicy.decide(forBob, { ...facts, principal: writer, owner })))
    )
    for (const { message, reason } of denials) {
      assert.strictEqual(reason, "target_member")
      assert.strictEqual(message, "permission denied: targetMemberId must be a service account")
    }
    const minted = MintPolicy.decide(forBob, { ...facts, principal: writer, owner: member("bob", true) })
    assert.strictEqual(Result.getOrThrow(minted).owner, World.memberId("bob"))
  })

  it("K26: end with the key that mints them, and sooner where the terms say so", () => {
    const ending = new ApiKey({ ...parent, expiresAt: later })
    const end = (minutes: number | undefined, key: ApiKey | undefined) =>
      Result.getOrThrow(
        MintPolicy.decide(minutes === undefined ? terms : { ...terms, lifetime: Duration.minutes(minutes) }, {
          ...facts,
          parent: key
        })
      ).expiresAt
    assert.strictEqual(end(undefined, undefined), undefined)
    assert.deepStrictEqual(end(undefined, ending), later)
    assert.deepStrictEqual(end(61, ending), later)
    assert.deepStrictEqual(end(59, ending), DateTime.add(now, { minutes: 59 }))
    assert.deepStrictEqual(end(61, parent), DateTime.add(now, { minutes: 61 }))
  })

  it("K19: get full member access from nobody who is restricted, whatever key is behind them", () => {
    const full: KeyTerms = { ...terms, fullMemberAccess: true }
    for (const key of [undefined, parent]) {
      const restricted = { ...facts, principal: principal([], { restricted: true }), parent: key }
      const denial = Result.getOrThrow(Result.flip(MintPolicy.decide(full, restricted)))
      assert.strictEqual(denial.reason, "full_member_access")
      assert.isTrue(Result.getOrThrow(MintPolicy.decide(full, { ...facts, parent: key })).fullMemberAccess)
    }
  })
})

describe("usage", () => {
  const filter = { memberId: World.memberId("ann") }

  it("is seen as one's own, or by a role", () => {
    assert.deepStrictEqual(said(UsagePolicy.read(principal(["red"]), filter)), {
      _tag: "Allow",
      reason: "own",
      facts: {}
    })
    assert.strictEqual(UsagePolicy.read(principal(["blue"]), filter).reason, "permission")
  })

  it("is otherwise not seen for want of the permission", () => {
    const refused = {
      _tag: "Deny",
      reason: "permission",
      facts: { permission: "organization:read", roles: ["red"] }
    } as const
    assert.deepStrictEqual(said(UsagePolicy.read(principal(["red"]), {})), refused)
    assert.deepStrictEqual(said(UsagePolicy.read(principal(["red"], { restricted: true }), filter)), refused)
  })

  const span = BudgetPolicy.spanOf("day", now)
  const budget = (name: string, scope: BudgetScope = { _tag: "Organization" }) =>
    new Budget({
      id: BudgetId.make(World.uuid(`budget ${name}`)),
      organizationId: World.organizationId("here"),
      name,
      scope,
      measure: "tokens",
      amount: 5,
      period: "day",
      createdAt: World.moment(0),
      updatedAt: World.moment(0)
    })

  it("counts for a budget in its span alone, and for its role or member", () => {
    const [role, member] = [World.roleId("red"), World.memberId("ann")]
    assert.deepStrictEqual(BudgetPolicy.filterOf(budget("all"), span), { ...span })
    assert.deepStrictEqual(BudgetPolicy.filterOf(budget("role", { _tag: "Role", id: role }), span), {
      ...span,
      roleId: role
    })
    assert.deepStrictEqual(BudgetPolicy.filterOf(budget("member", { _tag: "Member", id: member }), span), {
      ...span,
      memberId: member
    })
  })

  it("is within every budget, and the decision knows how many", () => {
    const standings = ["one", "two"].map((name) => ({ budget: budget(name), used: 4, span }))
    assert.deepStrictEqual(said(BudgetPolicy.check(standings)), {
      _tag: "Allow",
      reason: "permission",
      facts: { budgets: 2 }
    })
    assert.deepStrictEqual(said(BudgetPolicy.check([])), { _tag: "Allow", reason: "permission", facts: { budgets: 0 } })
  })

  it("is stopped by the first by id of the budgets that last equally long", () => {
    const standingOf = (name: string) => ({ budget: budget(name), used: 5, span })
    const [one, two, three] = [standingOf("one"), standingOf("two"), standingOf("three")]
    for (const standings of [
      [one, two, three],
      [three, two, one],
      [two, one, three],
      [two, three, one]
    ]) {
      assert.strictEqual(BudgetPolicy.check(standings).facts["budget"], "one")
    }
  })
})
