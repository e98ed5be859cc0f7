/**
 * What decisions about folders say beside yes and no, and what of a folder's policy nobody would notice to be lost.
 */
import type { Decision } from "@castellan/core/access/Decision"
import { rootTerms } from "@castellan/core/folderpolicy/FolderPolicy"
import { decide, holderOf } from "@castellan/core/folderpolicy/OwnersPolicy"
import { restore } from "@castellan/core/folderpolicy/StoredFolderPolicy"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import { organizationId, roleId } from "@castellan/testing/policy/Name"
import { policyWorld } from "@castellan/testing/policy/PolicyWorld"
import { since } from "@castellan/testing/policy/Principal"
import { assert, describe, it } from "vitest"

const said = ({ facts, message, reason }: Decision) => ({ reason, message, facts })

describe("a path", () => {
  const world = policyWorld({
    members: { boss: ["admin"], ana: ["member"], bob: ["member"] },
    policies: [folderPolicy("docs", { owners: { members: ["ana"] } }), folderPolicy("docs/below")]
  })
  const owns = (name: string) =>
    said(decide(world.situation.tree, holderOf(world.principal(name)), "docs/below/page.md"))
  const path = "docs/below/page.md"

  it("is owned by name, by the policy above that names the owner", () => {
    assert.deepStrictEqual(owns("ana"), {
      reason: "ownership",
      message: "an owner of docs",
      facts: { path, folder: "docs" }
    })
  })

  it("is not owned, by the policy that governs it", () => {
    assert.deepStrictEqual(owns("bob"), {
      reason: "not_owned",
      message: "permission denied: OWNERS authority on docs/below/page.md is required",
      facts: { path, folder: "docs/below" }
    })
  })

  it("is an administrator's anyway", () => {
    assert.deepStrictEqual(owns("boss"), {
      reason: "administrator",
      message: "an administrator owns every path",
      facts: { path }
    })
  })
})

it("the library's own policy, from the start, is what one would be that says nothing but its owner", () => {
  assert.deepStrictEqual(rootTerms(roleId("admin")), folderPolicy("/", { owners: { roles: ["admin"] } }))
})

describe("the scope of a rule, as it was kept", () => {
  const { path, ...terms } = folderPolicy("docs", { authorRoles: ["writers"] })
  const scope = (authorRoles: unknown) => {
    const policy = restore(organizationId, path, { ...terms, authorRoles }, since)
    return [policy.authorRoles, policy.malformations]
  }

  it("O13 names the same roles in another case", () => {
    assert.deepStrictEqual(scope([roleId("writers").toUpperCase()]), [[roleId("writers")], []])
  })

  it("is named where it cannot be read", () => {
    assert.deepStrictEqual(scope("writers"), [[], ["authorRoles"]])
  })
})
