import * as ChangePolicy from "@castellan/core/change/ChangePolicy"
import { readerOf, sees } from "@castellan/core/change/ChangeReader"
import * as OwnedRanges from "@castellan/core/folderpolicy/OwnedRanges"
import * as OwnersPolicy from "@castellan/core/folderpolicy/OwnersPolicy"
import * as PolicyTree from "@castellan/core/folderpolicy/PolicyTree"
import { compareText } from "@castellan/core/library/TreeObject"
import * as ChangeSight from "@castellan/testing/policy/ChangeSight"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import * as Name from "@castellan/testing/policy/Name"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const Policies = Schema.Array(ChangeSight.DrawnPolicy).check(Schema.isMaxLength(6))

describe("ChangeReader", () => {
  it.prop(
    "L2 what is there for a reader is what is visible to the principal",
    [Policies, ChangeSight.DrawnReader, ChangeSight.DrawnChange],
    ([policies, reader, drawn]) => {
      const tree = PolicyTree.make(policies.map(ChangeSight.policyOf))
      const principal = ChangeSight.principalOf(reader)
      const change = ChangeSight.concernedOf(drawn)
      assert.strictEqual(sees(readerOf(tree, principal), change), ChangePolicy.visible(tree, principal, change))
    },
    { arbitrary: { runs: 2000 } }
  )

  it.prop(
    "what somebody owns is told by ranges that are sorted and do not touch",
    [Policies, ChangeSight.DrawnReader],
    ([policies, reader]) => {
      const tree = PolicyTree.make(policies.map(ChangeSight.policyOf))
      const holder = OwnersPolicy.holderOf(ChangeSight.principalOf(reader))
      const bounds = OwnedRanges.ownedRanges(tree, holder).flatMap(({ before, from }) => [from, before])
      for (const [index, bound] of bounds.entries()) {
        const next = bounds[index + 1]
        if (next !== undefined) assert.isBelow(compareText(bound, next), 0, bounds.join(" "))
      }
    },
    { arbitrary: { runs: 500 } }
  )

  it("an owner of folders within folders that are not theirs has a range for each part", () => {
    const ana = { members: ["ana"] }
    const tree = PolicyTree.make([
      folderPolicy("docs", { owners: ana }),
      folderPolicy("docs/locked", { inheritOwners: false }),
      folderPolicy("docs/locked/mine", { owners: ana }),
      folderPolicy("docs/sub"),
      folderPolicy("docs-private")
    ])
    const holder = { memberId: Name.memberId("ana"), roles: new Set<never>(), isAdmin: false }
    assert.deepStrictEqual(OwnedRanges.ownedRanges(tree, holder), [
      { from: "/docs/", before: "/docs/locked/" },
      { from: "/docs/locked/mine/", before: "/docs/locked/mine0" },
      { from: "/docs/locked0", before: "/docs0" }
    ])
    assert.deepStrictEqual(OwnedRanges.ownedRanges(tree, { ...holder, isAdmin: true }), [{ from: "/", before: "0" }])
    assert.deepStrictEqual(OwnedRanges.ownedRanges(PolicyTree.make([]), holder), [])
  })
})
