import type { Decision } from "@castellan/core/access/Decision"
import { explain } from "@castellan/core/access/Explanation"
import { change } from "@castellan/testing/policy/Change"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import type { PolicyWorldOptions } from "@castellan/testing/policy/PolicyWorld"
import { assert, describe, it } from "@effect/vitest"
import { byAna, docs, everybody, organization, page, type Question } from "./ApprovalWorld.ts"

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
