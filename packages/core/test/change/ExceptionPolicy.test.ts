import type { Decision } from "@castellan/core/access/Decision"
import { explain } from "@castellan/core/access/Explanation"
import { change } from "@castellan/testing/policy/Change"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import type { PolicyWorldOptions } from "@castellan/testing/policy/PolicyWorld"
import { assert, describe, it } from "@effect/vitest"
import { byAna, docs, everybody, organization, page, type Question } from "./ApprovalWorld.ts"

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
