import * as FolderPolicyReview from "@castellan/core/folderpolicy/FolderPolicyReview"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import * as Name from "@castellan/testing/policy/Name"
import { policyWorld } from "@castellan/testing/policy/PolicyWorld"
import { assert, describe, it } from "@effect/vitest"

const options = {
  roles: { writers: [], nobodys: [] },
  members: {
    boss: ["admin"],
    ana: ["member", "writers"],
    bob: ["member", "writers"],
    gone: { roles: ["member"], deactivated: true }
  }
}

describe("What is wrong with a policy", () => {
  const { population } = policyWorld(options).situation

  const problems: ReadonlyArray<readonly [string, Parameters<typeof folderPolicy>[1], ReadonlyArray<string>]> = [
    ["nothing", { owners: { members: ["ana"], roles: ["writers"] }, authorRoles: ["writers"] }, []],
    [
      "an owner nobody knows",
      { owners: { members: ["zoe"] } },
      [`owners: ${Name.memberId("zoe")} is no active member of the organization`]
    ],
    [
      "an owner who left",
      { owners: { members: ["gone"] } },
      [`owners: ${Name.memberId("gone")} is no active member of the organization`]
    ],
    [
      "a role that is none, as owner",
      { owners: { roles: ["deleted"] } },
      [`owners: there is no role ${Name.roleId("deleted")}`]
    ],
    [
      "a role that is none, of authors",
      { authorRoles: ["deleted"] },
      [`author_role_ids: there is no role ${Name.roleId("deleted")}`]
    ],
    [
      "a role that is none, of an exception",
      { autoApprove: [{ authorRoles: ["deleted", "deleted"], pathGlobs: ["docs/*"] }] },
      [`auto_approve: there is no role ${Name.roleId("deleted")}`]
    ],
    [
      "a pattern that is none",
      { autoApprove: [{ pathGlobs: ["docs/*", "/docs/*"] }] },
      ['auto_approve: path_globs: "/docs/*" must be relative to the library']
    ]
  ]
  for (const [name, policy, expected] of problems) {
    it(`${name}: ${expected.length === 0 ? "accepted" : "refused"}`, () => {
      const found = FolderPolicyReview.problemsOf(folderPolicy("docs", policy), population)
      assert.deepStrictEqual(found.map(FolderPolicyReview.problemMessage), expected)
    })
  }

  const warnings: ReadonlyArray<readonly [string, Parameters<typeof folderPolicy>[1], ReadonlyArray<string>]> = [
    ["enough for everybody", { owners: { roles: ["writers"] } }, []],
    ["as many as there are others", { owners: { roles: ["writers"] }, requiredApprovals: 2 }, []],
    [
      "A22 three of a population of two",
      { owners: { members: ["ana"] }, requiredApprovals: 3 },
      ["docs asks for 3 approvals, and only 2 members could give one: no change there is ever merged"]
    ],
    [
      "enough for others, not for an owner's own",
      { owners: { members: ["ana"] }, requiredApprovals: 2 },
      [
        "docs asks for 2 approvals by others than the author, and only 2 members could give one: a change by one of them is never merged"
      ]
    ],
    [
      "the same where approvers need not be distinct",
      { owners: { members: ["ana"] }, requiredApprovals: 2, distinctApprovers: false },
      []
    ],
    [
      "O11 owners of whom none is left",
      { owners: { members: ["gone"], roles: ["nobodys"] }, distinctApprovers: false },
      ["docs names owners of whom none is left: administrators alone own it by its policy"]
    ],
    [
      "O12 no owners at all",
      { inheritOwners: false, distinctApprovers: false },
      ["docs is owned by administrators alone"]
    ],
    [
      "an exception without a path",
      { owners: { roles: ["writers"] }, autoApprove: [{ pathGlobs: ["docs/*"] }, { pathGlobs: [] }] },
      ["docs has an exception that names no path, and approves nothing"]
    ]
  ]
  for (const [name, policy, expected] of warnings) {
    it(`${name}: ${expected.length === 0 ? "no warning" : "a warning"}`, () => {
      const docs = folderPolicy("docs", policy)
      const { tree } = policyWorld({ ...options, policies: [docs] }).situation
      const found = FolderPolicyReview.warnings(tree, population, docs.path)
      assert.deepStrictEqual(found.map(FolderPolicyReview.warningMessage), expected)
    })
  }

  it("warnings are about a folder and those that take their owners from it, or about all", () => {
    const never = { requiredApprovals: 9 }
    const policies = [
      folderPolicy("/", { ...never, owners: { roles: ["writers"] } }),
      folderPolicy("docs", never),
      folderPolicy("docs/own", { ...never, inheritOwners: false, owners: { members: ["ana"] } }),
      folderPolicy("docs/own/below", never),
      folderPolicy("beside", never)
    ]
    const { tree } = policyWorld({ ...options, policies }).situation
    const about = (concerning?: (typeof policies)[number]) =>
      FolderPolicyReview.warnings(tree, population, concerning?.path).map(({ folder }) => String(folder))
    assert.deepStrictEqual(about(policies[1]), ["docs"])
    assert.deepStrictEqual(about(policies[2]), ["docs/own", "docs/own/below"])
    assert.deepStrictEqual(about(policies[0]), ["", "beside", "docs"])
    assert.lengthOf(about(), 5)
  })
})
