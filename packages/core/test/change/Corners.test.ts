/** Corners of the rules, each of which some slip of the hand would turn. */
import { Change, ChangeId, ChangeNumber, ChangeStatus, ChangeTitle } from "@castellan/core/change/Change"
import { capabilities } from "@castellan/core/change/ChangePolicy"
import { advance, ChangeEvent, outcomeOf, transition } from "@castellan/core/change/ChangeState"
import * as FolderPolicyPolicy from "@castellan/core/folderpolicy/FolderPolicyPolicy"
import * as OwnersPolicy from "@castellan/core/folderpolicy/OwnersPolicy"
import * as Population from "@castellan/core/folderpolicy/Population"
import { FolderPolicy } from "@castellan/core/folderpolicy/FolderPolicy"
import { Principal } from "@castellan/core/access/Principal"
import { MemberStatus } from "@castellan/core/member/Member"
import { change } from "@castellan/testing/policy/Change"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import * as Name from "@castellan/testing/policy/Name"
import { type PolicyWorldOptions, policyWorld } from "@castellan/testing/policy/PolicyWorld"
import { principal, role, since } from "@castellan/testing/policy/Principal"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Result } from "effect"

const world = (...policies: NonNullable<PolicyWorldOptions["policies"]>) =>
  policyWorld({
    roles: { writers: [], finance: [], readers: ["organization:read", "library:read"] },
    members: {
      boss: ["admin"],
      ana: ["member", "writers"],
      bob: ["member"],
      dan: ["member", "deleted"],
      rita: ["readers"],
      gone: { roles: ["member", "writers"], deactivated: true },
      bot: { roles: ["member"], serviceAccountOf: ["ana"] }
    },
    policies
  })

const everybody = { members: ["ana", "bob", "bot", "gone"] }
const docs = folderPolicy("docs", { owners: everybody })
const paths = ["docs/a"]

describe("Approvals", () => {
  it("A5 an account in the hands of whoever pushed does not approve", () => {
    const of = change({ by: "bob", pushedBy: "ana", paths })
    assert.strictEqual(world(docs).approve("bot", of).reason, "controlled_by_author")
  })

  it("A11 an author whom nobody knows, pushed by somebody known", () => {
    assert.strictEqual(world(docs).approve("bob", change({ paths, pushedBy: "ana" })).reason, "unattributed")
  })

  it("an authority that the key lacks is none, though the member has it", () => {
    const of = world(folderPolicy("docs", { owners: { roles: ["writers"] } }))
    const narrow = of.principal("ana", { throughKeyWith: ["member"] })
    assert.strictEqual(of.approve(narrow, change({ by: "bob", paths })).reason, "not_owned")
    assert.strictEqual(of.approve("ana", change({ by: "bob", paths })).reason, "ownership")
  })

  it("a member who left does not approve, whatever their key says", () => {
    const decision = world(docs).approve("gone", change({ by: "ana", paths }))
    assert.deepStrictEqual(
      [decision._tag, decision.reason, decision.facts],
      ["Deny", "not_owned", { member: Name.memberId("gone") }]
    )
  })

  it("a role that is gone owns nothing, and counts for nobody", () => {
    const of = world(folderPolicy("docs", { owners: { roles: ["deleted"] } }))
    const { furthest } = of.standing(change({ by: "bob", paths, approvedBy: ["dan"] }))
    assert.deepStrictEqual([furthest.approvers.length, furthest.population], [0, 1])
  })

  it("owners who left are no population", () => {
    const { furthest } = world(docs).standing(change({ by: "rita", paths }))
    assert.strictEqual(furthest.population, 4)
  })

  it("what is governed in one folder and not in another is approved, not ungoverned", () => {
    const of = world(docs, folderPolicy("x", { owners: everybody, authorRoles: ["finance"] }))
    const both = change({ by: "ana", paths: ["docs/a", "x/1"], approvedBy: ["bob"] })
    assert.strictEqual(of.merge(both).reason, "approved")
  })

  it("where no rule governs, an author's own approval is counted like any other", () => {
    const of = world(folderPolicy("x", { owners: everybody, authorRoles: ["finance"] }))
    const { furthest } = of.standing(change({ by: "ana", paths: ["x/1"], approvedBy: ["ana", "bob"] }))
    assert.deepStrictEqual([furthest.governed, furthest.required, furthest.approvers.length], [false, 0, 2])
  })

  it("of folders that are equally far, the one that asks for most is shown, wherever it stands", () => {
    const of = world(
      folderPolicy("a", { owners: everybody, requiredApprovals: 2 }),
      folderPolicy("b", { owners: everybody }),
      folderPolicy("c", { owners: everybody, requiredApprovals: 2 })
    )
    const standing = of.standing(change({ by: "ana", paths: ["c/1", "b/1", "a/1"], approvedBy: ["boss", "bob"] }))
    assert.deepStrictEqual(
      standing.folders.map((one) => [String(one.folder.path), one.required]),
      [
        ["a", 2],
        ["b", 1],
        ["c", 2]
      ]
    )
    assert.strictEqual(standing.furthest.folder.path, "a")
    const [first] = standing.folders
    assert.deepStrictEqual(first?.approvers, [Name.memberId("boss"), Name.memberId("bob")].toSorted())
    const turned = of.standing(change({ by: "ana", paths: ["a/1"], approvedBy: ["bob", "boss"] }))
    assert.deepStrictEqual(turned.furthest.approvers, first?.approvers)
  })

  it("people are controlled by nobody, whoever made a key for them", () => {
    const one = {
      id: Name.memberId("ana"),
      roles: [],
      status: MemberStatus.cases.Active.make({}),
      isServiceAccount: false
    }
    const made = Population.make([one], [], new Map([[one.id, [Name.memberId("bob")]]]))
    assert.strictEqual(made.member(one.id)?.controllers.size, 0)
    assert.isEmpty(made.serviceAccounts)
  })
})

describe("Exceptions", () => {
  it("one of the roles of an exception is enough", () => {
    const of = world(
      folderPolicy("docs", {
        owners: everybody,
        autoApprove: [{ authorRoles: ["finance", "writers"], pathGlobs: ["**"] }]
      })
    )
    assert.strictEqual(of.autoApprove("ana", change({ by: "ana", paths })).reason, "auto_approved")
  })

  it("a rule that takes everybody there is can be met", () => {
    const all = { owners: { members: ["ana"] }, autoApprove: [{ pathGlobs: ["**"] }] }
    const asked = (requiredApprovals: number) =>
      world(folderPolicy("docs", { ...all, requiredApprovals })).autoApprove("ana", change({ by: "ana", paths }))
    assert.strictEqual(asked(2).reason, "auto_approved")
    assert.deepStrictEqual(asked(3).facts, { folder: "docs", because: "its rule can never be met" })
  })
})

describe("OWNERS as facts", () => {
  const of = world(docs, folderPolicy("x", { owners: { members: ["ana"] } }))
  const { tree } = of.situation
  const holder = (name: string) => OwnersPolicy.holderOf(of.principal(name))

  it("one path", () => {
    assert.deepStrictEqual(OwnersPolicy.decide(tree, holder("ana"), "docs/a").facts, { path: "docs/a", folder: "docs" })
    assert.deepStrictEqual(OwnersPolicy.decide(tree, holder("rita"), "docs/a").facts, {
      path: "docs/a",
      folder: "docs"
    })
    const boss = OwnersPolicy.decide(tree, holder("boss"), "docs/a")
    assert.deepStrictEqual([boss.reason, boss.facts], ["administrator", { path: "docs/a" }])
  })

  it("many paths", () => {
    assert.deepStrictEqual(of.own("ana", "docs/a", "docs/b", "x/1").facts, { paths: 3, folders: ["docs", "x"] })
    assert.deepStrictEqual(of.own("boss", "docs/a", "docs/a").facts, { paths: 1 })
    const missing = Array.from({ length: 12 }, (_, index) => `y/${index + 10}`)
    const decision = of.own("ana", "docs/a", ...missing)
    assert.deepStrictEqual(decision.facts, { paths: 13, missing: missing.slice(0, 10), missingCount: 12 })
    assert.include(decision.message, "is missing on y/10 and 11 more")
    assert.isTrue(of.own("ana", "y/1").message.endsWith("is missing on y/1"))
  })

  it("policies are read by readers of the organization, and by owners as far as they own", () => {
    const policies = [docs, folderPolicy("z")].map(
      (terms) => new FolderPolicy({ ...terms, organizationId: Name.organizationId, updatedAt: since })
    )
    const read = (name: string) => FolderPolicyPolicy.readable(tree, of.principal(name), policies).length
    assert.deepStrictEqual(["boss", "rita", "ana", "dan"].map(read), [2, 2, 1, 0])
  })
})

describe("A change's life", () => {
  const at = DateTime.makeUnsafe("2031-01-01T00:00:00.000Z")
  const reviewed = change({ by: "ana", paths, approvedBy: ["bob"] })
  const made = (status: ChangeStatus, by = reviewed.author) =>
    new Change({
      id: ChangeId.make(Name.memberId("change")),
      organizationId: Name.organizationId,
      number: ChangeNumber.make(1),
      author: by,
      title: ChangeTitle.make("A change"),
      description: "",
      status,
      changesets: [
        {
          revision: 1,
          gitRef: Name.gitRef("latest"),
          base: Name.gitRef("base"),
          pusher: by,
          paths: reviewed.paths,
          files: [],
          createdAt: since
        }
      ],
      approvals: [{ memberId: Name.memberId("bob"), gitRef: Name.gitRef("latest"), at: since }],
      aiGenerated: false,
      createdAt: since,
      updatedAt: since
    })
  const open = ChangeStatus.cases.Open.make({})
  const denied = ChangeStatus.cases.Denied.make({ from: "Open", by: Name.memberId("ana"), at: since })

  it("refusals say what was asked and the state", () => {
    const messages = [
      [denied, ChangeEvent.cases.Submit.make({}), "cannot submit a change that is denied"],
      [
        denied,
        ChangeEvent.cases.Revise.make({ outcome: outcomeOf(false, []) }),
        "cannot revise a change that is denied"
      ],
      [denied, ChangeEvent.cases.Approve.make({}), "cannot approve a change that is denied"],
      [denied, ChangeEvent.cases.Deny.make({ by: Name.memberId("ana") }), "cannot deny a change that is denied"],
      [denied, ChangeEvent.cases.ConflictAtMerge.make({ conflicts: [] }), "cannot merge a change that is denied"],
      [open, ChangeEvent.cases.Restore.make({ conflicts: [] }), "cannot restore a change that is open"],
      [
        ChangeStatus.cases.Draft.make({}),
        ChangeEvent.cases.Merge.make({
          merge: { commit: Name.gitRef("m"), at, automatic: false, approvals: 1, required: 1 }
        }),
        "cannot merge a change that is draft"
      ]
    ] as const
    for (const [status, event, expected] of messages) {
      const refused = transition(status, event, at)
      assert.strictEqual(Result.isFailure(refused) ? refused.failure.message : "", expected)
    }
  })

  it("what becomes of a change is noted with its time, and nothing else is changed", () => {
    const before = made(open)
    const after = Result.getOrThrow(advance(before, ChangeEvent.cases.Approve.make({}), at))
    assert.deepStrictEqual(after, new Change({ ...before, updatedAt: at }))
  })

  it("capabilities are by rule and by state, and nobody approves twice", () => {
    const of = world(docs)
    const may = (name: string, status: ChangeStatus) => {
      const found = capabilities(of.situation, of.principal(name), made(status), at)
      return [found.canApprove, found.canDeny, found.canRestore, found.callerApproved]
    }
    assert.deepStrictEqual(may("bob", open), [false, true, false, true])
    assert.deepStrictEqual(may("boss", open), [true, true, false, false])
    assert.deepStrictEqual(may("rita", open), [false, false, false, false])
    assert.deepStrictEqual(may("rita", denied), [false, false, false, false])
    assert.deepStrictEqual(may("boss", denied), [false, false, true, false])
  })

  it("an author restores, revises and submits with the permission to propose, and denies without any", () => {
    const of = world(docs)
    const powerless = principal("ana", [])
    const proposing = principal("ana", [role("proposers", ["library:propose"])])
    assert.deepStrictEqual(
      [of.restore(powerless, reviewed), of.revise(powerless, reviewed), of.deny(powerless, reviewed)].map(
        (one) => one.reason
      ),
      ["permission", "permission", "own"]
    )
    assert.deepStrictEqual(
      [of.restore(proposing, reviewed), of.revise(proposing, reviewed)].map((one) => one.reason),
      ["own", "own"]
    )
    assert.strictEqual(of.deny(principal("bob", []), reviewed).reason, "permission")
    assert.strictEqual(of.see(principal("bob", []), change({ paths })).reason, "permission")
    assert.strictEqual(of.see(principal("zoe"), change({ paths })).reason, "hidden")
  })

  it("metadata without a field is none", () => {
    const of = world(docs)
    const author = { ...reviewed.author, clientMetadata: { text: "{}", attributes: {} } }
    const restricted = new Principal({ ...principal("ana"), restricted: true })
    assert.strictEqual(of.deny(restricted, { ...reviewed, author }).reason, "own")
  })
})
