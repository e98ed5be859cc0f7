import * as PolicyTree from "@castellan/core/folderpolicy/PolicyTree"
import { restore } from "@castellan/core/folderpolicy/StoredFolderPolicy"
import * as LibraryPath from "@castellan/core/library/LibraryPath"
import { change } from "@castellan/testing/policy/Change"
import { expectDecision } from "@castellan/testing/policy/ExpectDecision"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import * as Name from "@castellan/testing/policy/Name"
import { policyWorld } from "@castellan/testing/policy/PolicyWorld"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"

const at = DateTime.makeUnsafe("2030-01-01T00:00:00.000Z")
const docs = LibraryPath.LibraryPath.make("docs")
const read = (document: unknown) => restore(Name.organizationId, docs, document, at)

const whole = folderPolicy("docs", {
  owners: { members: ["ana"], roles: ["writers"] },
  requiredApprovals: 2,
  distinctApprovers: false,
  authorRoles: ["writers"],
  autoApprove: [{ authorRoles: ["writers"], pathGlobs: ["docs/*"] }]
})

const world = (document: unknown) =>
  policyWorld({ members: { ana: ["member"], boss: ["admin"] }, policies: [read(document)] })

describe("A policy as it was kept", () => {
  it("is the policy where it can be read, through JSON too", () => {
    const { malformations, organizationId, updatedAt, ...terms } = read(JSON.parse(JSON.stringify(whole)))
    assert.deepStrictEqual(terms, whole)
    assert.deepStrictEqual([malformations, organizationId, updatedAt], [[], Name.organizationId, at])
  })

  const broken: ReadonlyArray<readonly [string, unknown]> = [
    ["is missing", undefined],
    ["is a text", "everyone"],
    ["is a name", ["ana"]],
    ["has an unknown kind", [{ _tag: "Everyone" }]],
    ["has one bad one among good ones", [...whole.owners, { _tag: "Member", id: "ana" }]]
  ]
  for (const [name, owners] of broken) {
    it(`O10 a list of owners that ${name} leaves administrators only, and no exception`, () => {
      const of = world({ ...whole, owners, inheritOwners: true })
      expectDecision(of.own("ana", "docs/x")).toDeny("not_owned")
      expectDecision(of.own("boss", "docs/x")).toAllow("administrator")
      assert.strictEqual(of.autoApprove("boss", change({ by: "boss", paths: ["docs/x"] })).reason, "unsatisfiable")
      assert.include(read({ ...whole, owners }).malformations, "owners")
    })
  }

  it("O10 what cannot be read inherits nobody either", () => {
    const library = folderPolicy("/", { owners: { members: ["ana"] } })
    const of = (document: unknown) =>
      policyWorld({ members: { ana: ["member"] }, policies: [library, read(document)] }).own("ana", "docs/x")
    const open = { ...whole, owners: [], inheritOwners: true }
    expectDecision(of(open)).toAllow("ownership")
    expectDecision(of({ ...open, owners: "everyone" })).toDeny("not_owned")
    expectDecision(of({ ...open, inheritOwners: "yes" })).toDeny("not_owned")
  })

  for (const requiredApprovals of [0, -1, 1.5, "2", null, Number.NaN]) {
    it(`A21 a number of approvals that is ${JSON.stringify(requiredApprovals)} acts as 1`, () => {
      const policy = read({ ...whole, requiredApprovals })
      assert.strictEqual(policy.requiredApprovals, 1)
      assert.deepStrictEqual(policy.malformations, ["requiredApprovals"])
      assert.deepStrictEqual(policy.owners, whole.owners)
    })
  }

  it("O13 owners in another case are the same", () => {
    const upper = whole.owners.map((owner) => ({ ...owner, id: owner.id.toUpperCase() }))
    assert.deepStrictEqual(read({ ...whole, owners: upper }).owners, whole.owners)
    const folder = PolicyTree.make([read({ ...whole, owners: [...upper, ...whole.owners] })]).governing("docs/x")
    assert.strictEqual(folder.members.size + folder.roles.length, 2)
  })

  it("A41 a scope that cannot be read governs everybody", () => {
    assert.deepStrictEqual(read({ ...whole, authorRoles: "writers" }).authorRoles, [])
  })

  it.prop("L12 whatever is kept, there is a policy, and what cannot be read restricts", [Schema.Json], ([document]) => {
    const policy = read(document)
    if (policy.malformations.includes("owners")) {
      assert.deepStrictEqual([policy.owners.length, policy.inheritOwners], [0, false])
    }
    if (policy.malformations.includes("distinctApprovers")) assert.isTrue(policy.distinctApprovers)
    assert.isAtLeast(policy.requiredApprovals, 1)
  })
})
