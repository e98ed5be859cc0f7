import type { Decision } from "@castellan/core/access/Decision"
import { explain } from "@castellan/core/access/Explanation"
import type * as ApprovalPolicy from "@castellan/core/change/ApprovalPolicy"
import { change } from "@castellan/testing/policy/Change"
import { expectDecision } from "@castellan/testing/policy/ExpectDecision"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import { roleId } from "@castellan/testing/policy/Name"
import { type PolicyWorld, type PolicyWorldOptions, policyWorld } from "@castellan/testing/policy/PolicyWorld"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const roles = { writers: [], finance: [] }

const members = {
  boss: ["admin"],
  ana: ["member", "writers"],
  bob: ["member"],
  cleo: ["member"],
  bot: { roles: ["member"], serviceAccountOf: ["ana"] },
  /** Minted by a key that ana's own service account minted. */
  botOfBot: { roles: ["member"], serviceAccountOf: ["bot"] },
  otherBot: { roles: ["member"], serviceAccountOf: ["boss"] },
  secondBot: { roles: ["member"], serviceAccountOf: ["ana"] }
}

const everybody = { members: ["ana", "bob", "cleo", "bot", "botOfBot", "otherBot", "secondBot"] }

const organization = (...policies: NonNullable<PolicyWorldOptions["policies"]>) =>
  policyWorld({ roles, members, policies })

/** `docs` is everybody's, and asks for this. */
const docs = (options: Parameters<typeof folderPolicy>[1] = {}) =>
  folderPolicy("docs", { owners: everybody, ...options })

const page = ["docs/page.md"]
const byAna = change({ by: "ana", paths: page })

type Question = (world: PolicyWorld) => Decision

describe("Approvals", () => {
  const x = folderPolicy("x", { owners: { members: ["bob"] } })
  const y = folderPolicy("y", { owners: { members: ["cleo"] } })
  const writersOnly = { authorRoles: ["writers"] }

  // The case, the policies, the question, and the reason of the answer.
  const rows: ReadonlyArray<
    readonly [string, NonNullable<PolicyWorldOptions["policies"]>, Question, Decision["reason"]]
  > = [
    [
      "A1 the author approves where approvers need not be distinct",
      [docs({ distinctApprovers: false })],
      (of) => of.approve("ana", byAna),
      "ownership"
    ],
    [
      "A1 and that is enough",
      [docs({ distinctApprovers: false })],
      (of) => of.merge({ ...byAna, approvals: change({ paths: page, approvedBy: ["ana"] }).approvals }),
      "approved"
    ],
    ["A2 the author may not where they must be", [docs()], (of) => of.approve("ana", byAna), "self_approval"],
    [
      "A2 and does not count",
      [docs()],
      (of) => of.merge(change({ by: "ana", paths: page, approvedBy: ["ana"] })),
      "approvals_missing"
    ],
    [
      "A3 not even an administrator",
      [docs()],
      (of) => of.approve("boss", change({ by: "boss", paths: page })),
      "self_approval"
    ],
    [
      "A4 nor through a second key of the same member",
      [docs()],
      (of) => of.approve(of.principal("ana", { throughKeyWith: ["member"] }), byAna),
      "self_approval"
    ],
    [
      "A5 nor a service account whose key the author minted",
      [docs()],
      (of) => of.approve("bot", byAna),
      "controlled_by_author"
    ],
    ["A5 nor one whose key that one minted", [docs()], (of) => of.approve("botOfBot", byAna), "controlled_by_author"],
    ["A5 but a service account of somebody else", [docs()], (of) => of.approve("otherBot", byAna), "ownership"],
    [
      "A5 nor one of two accounts in the same hands what the other wrote",
      [docs()],
      (of) => of.approve("secondBot", change({ by: "bot", paths: page })),
      "controlled_by_author"
    ],
    [
      "A5 nor does that count at the merge",
      [docs()],
      (of) => of.merge(change({ by: "bot", paths: page, approvedBy: ["secondBot"] })),
      "approvals_missing"
    ],
    [
      "A5 but whoever set an account up reviews what it wrote",
      [docs()],
      (of) => of.approve("ana", change({ by: "bot", paths: page })),
      "ownership"
    ],
    [
      "A5 where it does not matter, the author's own may",
      [docs({ distinctApprovers: false })],
      (of) => of.approve("bot", byAna),
      "ownership"
    ],
    [
      "A5 and at the merge it does not count",
      [docs()],
      (of) => of.merge(change({ by: "ana", paths: page, approvedBy: ["bot"] })),
      "approvals_missing"
    ],
    [
      "A6 the same approver twice is one",
      [docs({ requiredApprovals: 2 })],
      (of) => of.merge(change({ by: "ana", paths: page, approvedBy: ["bob", "bob"] })),
      "approvals_missing"
    ],
    [
      "A9 an approval of an earlier changeset does not count",
      [docs()],
      (of) => of.merge(change({ by: "ana", paths: page, onceApprovedBy: ["bob"] })),
      "approvals_missing"
    ],
    [
      "A10 whoever pushed the latest changeset may not approve it",
      [docs()],
      (of) => of.approve("bob", change({ by: "ana", pushedBy: "bob", paths: page })),
      "self_approval"
    ],
    [
      "A10 nor may the author's own account then",
      [docs()],
      (of) => of.approve("bot", change({ by: "ana", pushedBy: "bob", paths: page })),
      "controlled_by_author"
    ],
    [
      "A10 nor does the author then",
      [docs()],
      (of) => of.approve("ana", change({ by: "ana", pushedBy: "bob", paths: page })),
      "self_approval"
    ],
    [
      "A10 a third one may",
      [docs()],
      (of) => of.approve("cleo", change({ by: "ana", pushedBy: "bob", paths: page })),
      "ownership"
    ],
    ["A11 an author whom nobody knows", [docs()], (of) => of.approve("bob", change({ paths: page })), "unattributed"],
    [
      "A11 a reviser whom nobody knows",
      [docs()],
      (of) => of.approve("bob", change({ by: "ana", pushedBy: "unknown", paths: page })),
      "unattributed"
    ],
    [
      "A11 at the merge too",
      [docs()],
      (of) => of.merge(change({ paths: page, approvedBy: ["bob", "boss"] })),
      "unsatisfiable"
    ],
    [
      "A12 an owner of one of two folders may not approve",
      [x, y],
      (of) => of.approve("bob", change({ by: "ana", paths: ["x/1", "y/1"] })),
      "not_owned"
    ],
    [
      "A13 nor the owner of the other",
      [x, y],
      (of) => of.approve("cleo", change({ by: "ana", paths: ["x/1", "y/1"] })),
      "not_owned"
    ],
    [
      "A13 an administrator may",
      [x, y],
      (of) => of.approve("boss", change({ by: "ana", paths: ["x/1", "y/1"] })),
      "administrator"
    ],
    [
      "A14 an administrator who is not listed counts",
      [x],
      (of) => of.merge(change({ by: "ana", paths: ["x/1"], approvedBy: ["boss"] })),
      "approved"
    ],
    [
      "A15 a rule for roles that the author lacks does not govern",
      [docs({ requiredApprovals: 2, ...writersOnly })],
      (of) => of.merge(change({ by: "bob", paths: page, approvedBy: ["bob"] })),
      "ungoverned"
    ],
    [
      "A15 the author may approve then",
      [docs({ requiredApprovals: 2, ...writersOnly })],
      (of) => of.approve("bob", change({ by: "bob", paths: page })),
      "ownership"
    ],
    [
      "A16 a key without the role changes nothing",
      [docs(writersOnly)],
      (of) => of.approve(of.principal("ana", { throughKeyWith: ["member"] }), byAna),
      "self_approval"
    ],
    [
      "A17 an author who held the role when the change was created",
      [docs(writersOnly)],
      (of) => of.approve("bob", change({ by: "bob", rolesThen: ["writers"], paths: page })),
      "self_approval"
    ],
    [
      "a changeset that was pushed by a holder of the role",
      [docs(writersOnly)],
      (of) => of.approve("bob", change({ by: "bob", pushedBy: "ana", paths: page })),
      "self_approval"
    ],
    [
      "A11 an author whom nobody knows may have held the role",
      [docs(writersOnly)],
      (of) => of.approve("bob", change({ paths: page })),
      "unattributed"
    ],
    [
      "A18 a rule for no roles governs everyone",
      [docs({ authorRoles: [] })],
      (of) => of.approve("bob", change({ by: "bob", paths: page })),
      "self_approval"
    ],
    [
      "A19 a rule for a role that is gone governs everyone",
      [docs({ authorRoles: ["deleted"] })],
      (of) => of.approve("bob", change({ by: "bob", paths: page })),
      "self_approval"
    ],
    [
      "A19 and so does one that names it among others",
      [docs({ authorRoles: ["writers", "deleted"] })],
      (of) => of.approve("bob", change({ by: "bob", paths: page })),
      "self_approval"
    ],
    [
      "A20 an author without the role and without OWNERS cannot approve",
      [folderPolicy("docs", { owners: { members: ["cleo"] }, ...writersOnly })],
      (of) => of.approve("bob", change({ by: "bob", paths: page })),
      "not_owned"
    ],
    [
      "A20 somebody who owns every path can",
      [folderPolicy("docs", { owners: { members: ["cleo"] }, ...writersOnly })],
      (of) => of.approve("cleo", change({ by: "bob", paths: page })),
      "ownership"
    ],
    [
      "A22 three of a population of two can never be met",
      [folderPolicy("docs", { owners: { members: ["ana"] }, requiredApprovals: 3 })],
      (of) => of.merge(change({ by: "bob", paths: page, approvedBy: ["ana", "boss"] })),
      "unsatisfiable"
    ],
    [
      "A22 nor is it approved by an exception",
      [
        folderPolicy("docs", {
          owners: { members: ["ana"] },
          requiredApprovals: 3,
          autoApprove: [{ pathGlobs: ["**"] }]
        })
      ],
      (of) => of.autoApprove("ana", byAna),
      "unsatisfiable"
    ],
    [
      "A25 the nearest policy governs: parent 1, child 2",
      [docs(), docs({ requiredApprovals: 2 })].map((one, index) =>
        index === 0 ? one : { ...one, path: folderPolicy("docs/sub").path }
      ),
      (of) => of.merge(change({ by: "ana", paths: ["docs/sub/x"], approvedBy: ["bob"] })),
      "approvals_missing"
    ],
    [
      "A25 the nearest policy governs: parent 3, child 1",
      [docs({ requiredApprovals: 3 }), folderPolicy("docs/sub")],
      (of) => of.merge(change({ by: "ana", paths: ["docs/sub/x"], approvedBy: ["bob"] })),
      "approved"
    ],
    [
      "A26 an approver who has lost ownership since does not count",
      [folderPolicy("docs", { owners: { members: ["bob"] }, requiredApprovals: 2 })],
      (of) => of.merge(change({ by: "ana", paths: page, approvedBy: ["cleo", "bob"] })),
      "approvals_missing"
    ],
    [
      "A27 nor an administrator who was demoted",
      [folderPolicy("docs", { owners: { members: ["bob"] } })],
      (of) => of.merge(change({ by: "ana", paths: page, approvedBy: ["otherBot"] })),
      "approvals_missing"
    ],
    [
      "a member's approval counts in the folders that they own",
      [x, y],
      (of) => of.merge(change({ by: "ana", paths: ["x/1", "y/1"], approvedBy: ["bob", "cleo"] })),
      "approved"
    ],
    [
      "and in no other",
      [x, folderPolicy("y", { owners: { members: ["cleo"] }, requiredApprovals: 2 })],
      (of) => of.merge(change({ by: "ana", paths: ["x/1", "y/1"], approvedBy: ["bob", "cleo"] })),
      "approvals_missing"
    ],
    [
      "approving needs the permission of the key",
      [docs()],
      (of) => of.approve(of.principal("bob", { throughKeyWith: [] }), byAna),
      "permission"
    ]
  ]
  for (const [name, policies, ask, reason] of rows) {
    it(name, () => {
      const decision = ask(organization(...policies))
      assert.strictEqual(decision.reason, reason, explain(decision))
    })
  }

  it("A21 a stored number that is none asks for one approval", () => {
    // What cannot be read stands at its strictest, which for a number of approvals is never zero.
    const { furthest } = organization(docs()).standing(byAna)
    assert.strictEqual(furthest.required, 1)
  })

  it("A22 the refusal says that the rule can never be met, and why", () => {
    const world = organization(folderPolicy("docs", { owners: { members: ["ana"] }, requiredApprovals: 3 }))
    assert.strictEqual(
      explain(world.merge(change({ by: "bob", paths: page }))),
      "Denied: docs asks for 3 approvals, and only 2 members could give one (approvals: 0; folder: docs; folders: 1; population: 2; required: 3)."
    )
  })

  it("the folder that is shown is the one furthest from its number, and of several the one that asks for most", () => {
    const world = organization(
      folderPolicy("a", { owners: everybody, requiredApprovals: 1 }),
      folderPolicy("b", { owners: everybody, requiredApprovals: 3 }),
      folderPolicy("c", { owners: everybody, requiredApprovals: 2 })
    )
    const shown = (approvedBy: ReadonlyArray<string>) => {
      const { furthest } = world.standing(change({ by: "ana", paths: ["a/1", "b/1", "c/1"], approvedBy }))
      return [furthest.folder.path, furthest.approvers.length, furthest.required]
    }
    assert.deepStrictEqual(shown([]), ["b", 0, 3])
    assert.deepStrictEqual(shown(["bob"]), ["b", 1, 3])
    assert.deepStrictEqual(shown(["bob", "cleo", "boss"]), ["b", 3, 3])
  })

  it("a rule that does not govern asks for none", () => {
    const { furthest, met } = organization(docs({ requiredApprovals: 2, authorRoles: ["writers"] })).standing(
      change({ by: "bob", paths: page })
    )
    assert.strictEqual(furthest.required, 0)
    assert.isFalse(furthest.governed)
    assert.isTrue(met)
  })
})

describe("Exceptions", () => {
  const forWriters = { autoApprove: [{ authorRoles: ["writers"], pathGlobs: ["docs/*.md"] }] }
  const rows: ReadonlyArray<
    readonly [string, NonNullable<PolicyWorldOptions["policies"]>, Question, Decision["reason"]]
  > = [
    [
      "A37 not where the author does not own a path",
      [folderPolicy("docs", { owners: { members: ["bob"] }, autoApprove: [{ pathGlobs: ["**"] }] })],
      (of) => of.autoApprove("ana", byAna),
      "not_owned"
    ],
    [
      "A38 where the policy matches, distinct approvers or not",
      [docs(forWriters)],
      (of) => of.autoApprove("ana", byAna),
      "auto_approved"
    ],
    [
      "A38 for its authors only",
      [docs(forWriters)],
      (of) => of.autoApprove("bob", change({ by: "bob", paths: page })),
      "approvals_missing"
    ],
    [
      "A38 for its paths only",
      [docs(forWriters)],
      (of) => of.autoApprove("ana", change({ by: "ana", paths: ["docs/page.md", "docs/a.txt"] })),
      "approvals_missing"
    ],
    [
      "A38 one folder of two makes none",
      [docs(forWriters), folderPolicy("x", { owners: everybody })],
      (of) => of.autoApprove("ana", change({ by: "ana", paths: ["docs/page.md", "x/1"] })),
      "approvals_missing"
    ],
    [
      "A38 both do",
      [docs(forWriters), folderPolicy("x", { owners: everybody, autoApprove: [{ pathGlobs: ["x/**"] }] })],
      (of) => of.autoApprove("ana", change({ by: "ana", paths: ["docs/page.md", "x/1"] })),
      "auto_approved"
    ],
    [
      "A38 two exceptions of a policy add up",
      [docs({ autoApprove: [{ pathGlobs: ["docs/a"] }, { pathGlobs: ["docs/b"] }] })],
      (of) => of.autoApprove("ana", change({ by: "ana", paths: ["docs/a", "docs/b"] })),
      "auto_approved"
    ],
    [
      "an exception of the folder above is not this folder's",
      [folderPolicy("/", { owners: everybody, autoApprove: [{ pathGlobs: ["**"] }] }), docs()],
      (of) => of.autoApprove("ana", byAna),
      "approvals_missing"
    ],
    [
      "A41 a pattern that is none matches nothing",
      [docs({ autoApprove: [{ pathGlobs: ["docs//**", "**a"] }] })],
      (of) => of.autoApprove("ana", byAna),
      "approvals_missing"
    ],
    [
      "A41 one bad pattern does not spoil another",
      [docs({ autoApprove: [{ pathGlobs: ["docs//**", "docs/**"] }] })],
      (of) => of.autoApprove("ana", byAna),
      "auto_approved"
    ],
    [
      "A41 a role that is gone is nobody's",
      [docs({ autoApprove: [{ authorRoles: ["deleted"], pathGlobs: ["**"] }] })],
      (of) => of.autoApprove("ana", byAna),
      "approvals_missing"
    ],
    [
      "A41 a policy that cannot be read makes none",
      [{ ...docs({ autoApprove: [{ pathGlobs: ["**"] }] }), malformations: ["owners"] }],
      (of) => of.autoApprove("ana", byAna),
      "unsatisfiable"
    ],
    [
      "O11 nor one whose owners are gone, not even for an administrator",
      [folderPolicy("docs", { owners: { members: ["nobody"] }, autoApprove: [{ pathGlobs: ["**"] }] })],
      (of) => of.autoApprove("boss", change({ by: "boss", paths: page })),
      "unsatisfiable"
    ],
    [
      "an author whom nobody knows has none",
      [docs({ autoApprove: [{ pathGlobs: ["**"] }] })],
      (of) => of.autoApprove("ana", change({ paths: page, pushedBy: "ana" })),
      "unattributed"
    ],
    [
      "a grant needs the role of the key",
      [docs(forWriters)],
      (of) => of.autoApprove(of.principal("ana", { throughKeyWith: ["member"] }), byAna),
      "approvals_missing"
    ],
    [
      "a grant is for the author, whoever pushes",
      [docs(forWriters)],
      (of) => of.autoApprove("ana", change({ by: "bob", pushedBy: "ana", paths: page })),
      "approvals_missing"
    ],
    [
      "and for who pushes, whoever wrote",
      [docs(forWriters)],
      (of) => of.autoApprove("bob", change({ by: "ana", pushedBy: "bob", paths: page })),
      "approvals_missing"
    ]
  ]
  for (const [name, policies, ask, reason] of rows) {
    it(name, () => {
      const decision = ask(organization(...policies))
      assert.strictEqual(decision.reason, reason, explain(decision))
    })
  }
})

describe("Laws of approvals", () => {
  const people = ["boss", "ana", "bob", "cleo", "bot", "otherBot"] as const
  const folders = ["", "a", "a/b", "c"] as const
  const Person = Schema.Literals(people)
  const few = <S extends Schema.Top>(item: S, count: number) => Schema.Array(item).check(Schema.isMaxLength(count))
  const Policy = Schema.Struct({
    path: Schema.Literals(folders),
    members: few(Person, 3),
    roles: few(Schema.Literals(["writers", "finance"]), 1),
    inheritOwners: Schema.Boolean,
    requiredApprovals: Schema.Literals([1, 2, 3]),
    distinctApprovers: Schema.Boolean,
    authorRoles: few(Schema.Literals(["writers", "finance", "deleted"]), 1),
    exception: Schema.Boolean
  })
  const Drawn = Schema.Struct({
    policies: few(Policy, 4),
    by: Schema.Literals([...people, "unknown"]),
    pushedBy: Schema.Literals([...people, "unknown"]),
    rolesThen: few(Schema.Literals(["writers", "finance"]), 1),
    paths: Schema.NonEmptyArray(Schema.Literals(["x", "a/1", "a/b/1", "c/1", "c/2"])),
    approvedBy: few(Person, 4)
  })
  const worldOf = (
    drawn: typeof Drawn.Type,
    turn: <A>(items: ReadonlyArray<A>) => ReadonlyArray<A> = (items) => items
  ) => {
    const byPath = new Map(drawn.policies.map((one) => [one.path, one]))
    return organization(
      ...turn(
        [...byPath.values()].map((one) =>
          folderPolicy(one.path, {
            owners: { members: turn(one.members), roles: turn(one.roles) },
            inheritOwners: one.inheritOwners,
            requiredApprovals: one.requiredApprovals,
            distinctApprovers: one.distinctApprovers,
            authorRoles: turn(one.authorRoles),
            autoApprove: one.exception ? [{ pathGlobs: ["**"] }] : []
          })
        )
      )
    )
  }
  const changeOf = (drawn: typeof Drawn.Type, approvedBy: ReadonlyArray<string> = drawn.approvedBy) =>
    change({ by: drawn.by, pushedBy: drawn.pushedBy, rolesThen: drawn.rolesThen, paths: drawn.paths, approvedBy })
  const countsOf = (world: PolicyWorld, of: ApprovalPolicy.Reviewed) =>
    world.standing(of).folders.map((folder) => folder.approvers.length)

  it.prop(
    "L8 one more approval never lowers a count, nor is any count above the members who approved",
    [Drawn, Person],
    ([drawn, more]) => {
      const world = worldOf(drawn)
      const before = countsOf(world, changeOf(drawn))
      const after = countsOf(world, changeOf(drawn, [...drawn.approvedBy, more]))
      before.forEach((count, index) => {
        const then = after[index] ?? -1
        assert.isAtLeast(then, count)
        assert.isAtMost(then, count + 1)
      })
      for (const count of before) assert.isAtMost(count, new Set(drawn.approvedBy).size)
    }
  )

  it.prop("the population of a folder is everybody whose approval would count there", [Drawn], ([drawn]) => {
    const world = worldOf(drawn)
    const alone = [...people, "botOfBot"].map((name) => countsOf(world, changeOf(drawn, [name])))
    world.standing(changeOf(drawn)).folders.forEach((folder, index) => {
      assert.strictEqual(
        folder.population,
        alone.reduce((sum, counts) => sum + (counts[index] ?? 0), 0)
      )
    })
  })

  it.prop("L8 author and pusher never count where approvers must be distinct", [Drawn], ([drawn]) => {
    const world = worldOf(drawn)
    const of = changeOf(drawn)
    for (const folder of world.standing(of).folders) {
      if (!folder.governed || !folder.folder.terms.distinctApprovers) continue
      for (const by of [of.author, of.pusher]) {
        if (by._tag === "Unattributed") assert.isEmpty(folder.approvers)
        else assert.notInclude(folder.approvers, by.memberId)
      }
    }
  })

  it.prop(
    "L8 and A26 a member who is gone, or owns nothing there, does not count",
    [Drawn, Person],
    ([drawn, leaves]) => {
      const world = worldOf(drawn)
      for (const folder of world.standing(changeOf(drawn)).folders) {
        for (const id of folder.approvers) {
          const member = world.situation.population.member(id)
          assert.isDefined(member)
        }
      }
      const without = countsOf(
        world,
        changeOf(
          drawn,
          drawn.approvedBy.filter((name) => name !== leaves)
        )
      )
      countsOf(world, changeOf(drawn)).forEach((count, index) => assert.isAtLeast(count, without[index] ?? 0))
    }
  )

  it.prop("L3 and A42 the order of everything, and saying it twice, do not matter", [Drawn, Person], ([drawn, who]) => {
    const turned = worldOf(drawn, (items) => [...items, ...items].toReversed())
    const world = worldOf(drawn)
    const of = changeOf(drawn)
    const reversed = {
      ...of,
      paths: [...of.paths, ...of.paths].toReversed(),
      approvals: [...of.approvals, ...of.approvals].toReversed()
    }
    const tell = (decision: Decision) => [decision._tag, decision.reason, decision.message]
    assert.deepStrictEqual(tell(turned.merge(reversed)), tell(world.merge(of)))
    assert.deepStrictEqual(tell(turned.approve(who, reversed)), tell(world.approve(who, of)))
    assert.deepStrictEqual(tell(turned.autoApprove(who, reversed)), tell(world.autoApprove(who, of)))
  })

  it.prop("L4 the same question has the same answer", [Drawn, Person], ([drawn, who]) => {
    const world = worldOf(drawn)
    const of = changeOf(drawn)
    assert.deepStrictEqual(world.approve(who, of), worldOf(drawn).approve(who, of))
    assert.deepStrictEqual(world.merge(of), worldOf(drawn).merge(of))
  })

  it.prop("L7 fewer roles of a key never free a change from a rule", [Drawn, Person], ([drawn, who]) => {
    const world = worldOf(drawn)
    const of = changeOf(drawn)
    const narrow = world.approve(world.principal(who, { throughKeyWith: ["member"] }), of)
    if (narrow._tag === "Allow") expectDecision(world.approve(who, of)).toAllow()
    const narrowException = world.autoApprove(world.principal(who, { throughKeyWith: ["member"] }), of)
    if (narrowException._tag === "Allow") expectDecision(world.autoApprove(who, of)).toAllow()
  })

  it.prop("L12 a role that cannot be found restricts, and grants nothing", [Drawn, Person], ([drawn, who]) => {
    const world = worldOf(drawn)
    const broken = worldOf({
      ...drawn,
      policies: drawn.policies.map((one) => ({ ...one, authorRoles: ["deleted" as const] }))
    })
    const of = changeOf(drawn)
    if (broken.approve(who, of)._tag === "Allow") expectDecision(world.approve(who, of)).toAllow()
    broken.standing(of).folders.forEach((folder, index) => {
      assert.isTrue(folder.governed || world.standing(of).folders[index]?.folder.terms.authorRoles.length === 0)
      assert.isFalse(world.situation.population.hasRole(roleId("deleted")))
    })
  })

  it.prop("L1 what merges has an approval or a rule that asks for none, in every folder", [Drawn], ([drawn]) => {
    const world = worldOf(drawn)
    const of = changeOf(drawn)
    if (world.merge(of)._tag === "Deny") return
    for (const folder of world.standing(of).folders) {
      assert.isTrue(folder.approvers.length >= folder.required && (folder.required > 0 || !folder.governed))
    }
  })

  it.prop("an exception is never made for what its pusher does not own", [Drawn, Person], ([drawn, who]) => {
    const world = worldOf(drawn)
    const of = changeOf(drawn)
    if (world.autoApprove(who, of)._tag === "Allow") expectDecision(world.own(who, ...of.paths)).toAllow()
  })
})
