/**
 * What decisions about changes say beside yes and no: which folder of several they name, which of two reasons comes
 * first, the facts that they rested on, and what of a change somebody is shown.
 */
import type { Decision } from "@castellan/core/access/Decision"
import * as ApprovalPolicy from "@castellan/core/change/ApprovalPolicy"
import type { FilePatch } from "@castellan/core/change/Change"
import { decideSubmit, shownFiles, visible } from "@castellan/core/change/ChangePolicy"
import { change } from "@castellan/testing/policy/Change"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import { memberId } from "@castellan/testing/policy/Name"
import { type PolicyWorldOptions, policyWorld } from "@castellan/testing/policy/PolicyWorld"
import { assert, describe, it } from "vitest"

const roles = { writers: [] }
const members = { boss: ["admin"], ana: ["member", "writers"], bob: ["member"], cleo: ["member"] }

const organization = (...policies: NonNullable<PolicyWorldOptions["policies"]>) =>
  policyWorld({ roles, members, policies })

const everybody = { members: ["ana", "bob", "cleo"] }
const said = ({ facts, reason }: Decision) => ({ reason, facts })

describe("the approvals of a change", () => {
  it("are missing most where most are asked for, of folders that are equally far", () => {
    const { merge, standing } = organization(
      folderPolicy("x", { owners: { members: ["bob"] } }),
      folderPolicy("y", { owners: everybody, requiredApprovals: 2 })
    )
    const byAna = change({ by: "ana", paths: ["x/page.md", "y/page.md"], approvedBy: ["cleo"] })
    assert.deepStrictEqual(
      standing(byAna).folders.map(({ approvers, required }) => required - approvers.length),
      [1, 1]
    )
    assert.strictEqual(standing(byAna).furthest.folder.path, "y")
    assert.deepStrictEqual(said(merge(byAna)), {
      reason: "approvals_missing",
      facts: { folder: "y", approvals: 1, required: 2, population: 3, folders: 2 }
    })
  })

  it("are those of the library itself where a change touches no path", () => {
    const { merge } = organization(folderPolicy("docs", { owners: everybody }))
    assert.deepStrictEqual(said(merge(change({ by: "ana", paths: [] }))), {
      reason: "approvals_missing",
      facts: { folder: "/", approvals: 0, required: 1, population: 1, folders: 0 }
    })
  })

  it("count no path there, where there is none", () => {
    const { situation } = organization(folderPolicy("docs", { owners: everybody }))
    const { furthest } = ApprovalPolicy.standing(change({ by: "ana", paths: [] }), situation)
    assert.deepStrictEqual([furthest.folder.path, furthest.paths], ["", 0])
  })

  it("A22 can never be enough in the first folder by name, of several", () => {
    const { merge } = organization(
      folderPolicy("x", { owners: { members: ["bob"] }, requiredApprovals: 4 }),
      folderPolicy("y", { owners: { members: ["bob"] }, requiredApprovals: 5 })
    )
    const decision = merge(change({ by: "ana", paths: ["y/page.md", "x/page.md"] }))
    assert.deepStrictEqual(said(decision), {
      reason: "unsatisfiable",
      facts: { folder: "x", approvals: 0, required: 4, population: 2, folders: 2 }
    })
    assert.strictEqual(decision.message, "x asks for 4 approvals, and only 2 members could give one")
  })
})

describe("an approver", () => {
  it("A2 is the author, in the first folder by name that asks for another one", () => {
    const { approve } = organization(
      folderPolicy("w", { owners: everybody, distinctApprovers: false }),
      folderPolicy("x", { owners: everybody }),
      folderPolicy("y", { owners: everybody })
    )
    const decision = approve("ana", change({ by: "ana", paths: ["y/page.md", "x/page.md", "w/page.md"] }))
    assert.deepStrictEqual(said(decision), {
      reason: "self_approval",
      facts: { folder: "x", member: memberId("ana") }
    })
  })

  it("whose key owns nothing is told that, before whose change it is", () => {
    const { approve, principal } = organization(folderPolicy("docs", { owners: { roles: ["writers"] } }))
    const byAna = change({ by: "ana", paths: ["docs/page.md"] })
    assert.strictEqual(approve("ana", byAna).reason, "self_approval")
    assert.deepStrictEqual(said(approve(principal("ana", { throughKeyWith: ["member"] }), byAna)), {
      reason: "not_owned",
      facts: { paths: 1, missing: ["docs/page.md"], missingCount: 1 }
    })
  })
})

describe("an exception", () => {
  const globs = { pathGlobs: ["docs/*"] }
  const paths = ["docs/page.md"]
  /** Somebody as they acted before they lost the role of the writers. */
  const before = policyWorld({ roles, members: { bob: ["member", "writers"] } }).principal("bob")

  it("covers every path, and says how many", () => {
    const { autoApprove } = organization(folderPolicy("docs", { owners: everybody, autoApprove: [globs] }))
    assert.deepStrictEqual(said(autoApprove("ana", change({ by: "ana", paths: ["docs/a.md", "docs/b.md"] }))), {
      reason: "auto_approved",
      facts: { paths: 2 }
    })
  })

  it("does not cover a path, and says which one, and where", () => {
    const { autoApprove } = organization(folderPolicy("docs", { owners: everybody, autoApprove: [globs] }))
    assert.deepStrictEqual(
      said(autoApprove("ana", change({ by: "ana", paths: ["docs/page.md", "docs/below/page.md"] }))),
      { reason: "approvals_missing", facts: { folder: "docs", path: "docs/below/page.md" } }
    )
  })

  it("for writers is none for a pusher who was one when they came", () => {
    const { autoApprove } = organization(
      folderPolicy("docs", { owners: everybody, autoApprove: [{ ...globs, authorRoles: ["writers"] }] })
    )
    const pushed = change({ by: "ana", pushedBy: "bob", paths })
    assert.strictEqual(autoApprove(before, pushed).reason, "approvals_missing")
    assert.strictEqual(autoApprove("ana", change({ by: "ana", paths })).reason, "auto_approved")
  })

  it("is for owners: by the key that they act through, and by what they hold now", () => {
    const { autoApprove, principal } = organization(
      folderPolicy("docs", { owners: { roles: ["writers"] }, autoApprove: [globs] })
    )
    const missing = { reason: "not_owned" as const, facts: { paths: 1, missing: paths, missingCount: 1 } }
    const byAna = change({ by: "ana", paths })
    assert.strictEqual(autoApprove("ana", byAna).reason, "auto_approved")
    assert.deepStrictEqual(said(autoApprove(principal("ana", { throughKeyWith: ["member"] }), byAna)), missing)
    assert.deepStrictEqual(said(autoApprove(before, change({ by: "bob", paths }))), missing)
  })
})

describe("a change", () => {
  const { principal, situation } = organization(folderPolicy("docs", { owners: { members: ["bob"] } }))
  const byAna = change({ by: "ana", paths: [] })

  it("that touches no path is there for administrators and its author", () => {
    const seen = ["boss", "ana", "bob"].map((name) => visible(situation.tree, principal(name), byAna))
    assert.deepStrictEqual(seen, [true, true, false])
  })

  it("is submitted by its author, and not by an administrator", () => {
    assert.strictEqual(decideSubmit(principal("ana"), byAna).reason, "own")
    assert.strictEqual(decideSubmit(principal("boss"), byAna).reason, "not_author")
  })

  it("shows a file that moves to those alone who own both ends", () => {
    const moved = (oldPath: string, newPath: string): FilePatch => ({
      diff: {
        name: newPath === "" ? oldPath : newPath,
        oldPath,
        newPath,
        additions: 0,
        deletions: 0,
        isNew: oldPath === "",
        isDelete: newPath === "",
        isRename: oldPath !== "" && newPath !== "",
        isBinary: false
      },
      patch: ""
    })
    const within = moved("docs/a.md", "docs/b.md")
    const fresh = moved("", "docs/new.md")
    const gone = moved("docs/old.md", "")
    const files = [moved("secret.md", "docs/in.md"), moved("docs/out.md", "public.md"), within, fresh, gone]
    const shown = (name: string) => shownFiles(situation.tree, principal(name), { files, pusher: byAna.pusher })
    assert.deepStrictEqual(shown("bob"), [within, fresh, gone])
    assert.deepStrictEqual(shown("cleo"), [])
    assert.deepStrictEqual([shown("ana"), shown("boss")], [files, files])
  })
})
