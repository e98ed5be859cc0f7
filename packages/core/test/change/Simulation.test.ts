import { edited, explainDifference, simulate } from "@castellan/core/change/Simulation"
import { change } from "@castellan/testing/policy/Change"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import * as Name from "@castellan/testing/policy/Name"
import { policyWorld } from "@castellan/testing/policy/PolicyWorld"
import { assert, describe, it } from "@effect/vitest"

const members = { boss: ["admin"], ana: ["member"], bob: ["member"], cleo: ["member"] }
const people = ["boss", "ana", "bob", "cleo"]
const nameOf = (id: string): string => people.find((name) => Name.memberId(name) === id) ?? id

const docs = folderPolicy("docs", { owners: { members: ["ana", "bob", "cleo"] } })
const finance = folderPolicy("finance", { owners: { members: ["cleo"] } })
const { population } = policyWorld({ members }).situation

const history = [
  { id: "#1", ...change({ by: "ana", paths: ["docs/a.md"], approvedBy: ["bob"] }) },
  { id: "#2", ...change({ by: "ana", paths: ["docs/a.md", "finance/b.md"], approvedBy: ["boss"] }) },
  { id: "#3", ...change({ by: "bob", paths: ["x"], approvedBy: [] }) }
]

describe("simulate", () => {
  it("says nothing of an edit that changes nothing", () => {
    assert.deepStrictEqual(simulate([docs, finance], {}, history, population), [])
    assert.deepStrictEqual(simulate([docs, finance], { set: [docs] }, history, population), [])
    assert.deepStrictEqual(simulate([docs, finance], { remove: [folderPolicy("other").path] }, history, population), [])
  })

  it("tells the changes that would be judged otherwise, and why", () => {
    const two = folderPolicy("docs", { owners: { members: ["ana", "bob"] }, requiredApprovals: 2 })
    const differences = simulate([docs, finance], { set: [two] }, history, population)
    assert.deepStrictEqual(
      differences.map(({ after, before, id }) => [id, before.decision.reason, after.decision.reason]),
      [
        ["#1", "approved", "approvals_missing"],
        ["#2", "approved", "approvals_missing"]
      ]
    )
    const [first] = differences
    assert.isDefined(first)
    if (first === undefined) return
    assert.strictEqual(
      explainDifference(first, nameOf),
      [
        "#1",
        "  before: Allowed: every folder has the approvals that it asks for (approvals: 1; folder: docs; folders: 1; population: 3; required: 1).",
        "  after:  Denied: docs has 1 of the 2 approvals that it asks for (approvals: 1; folder: docs; folders: 1; population: 2; required: 2).",
        "  could approve, and could not any more: cleo"
      ].join("\n")
    )
  })

  it("tells an exception that would let a change through without an approver", () => {
    const exception = folderPolicy("docs", {
      owners: { members: ["ana"] },
      autoApprove: [{ pathGlobs: ["docs/*.md"] }]
    })
    const [first] = simulate([docs], { set: [exception] }, history, population)
    assert.strictEqual(first?.after.decision.reason, "auto_approved")
  })

  it("tells a rule that could never be met, and who could approve once a policy is gone", () => {
    const never = folderPolicy("docs", { owners: { members: ["bob"] }, requiredApprovals: 5 })
    assert.strictEqual(
      simulate([docs], { set: [never] }, history, population)[0]?.after.decision.reason,
      "unsatisfiable"
    )
    const [removed] = simulate([docs], { remove: [docs.path] }, history, population)
    assert.deepStrictEqual(removed?.before.approvers.map(nameOf).toSorted(), ["bob", "boss", "cleo"])
    assert.deepStrictEqual(removed?.after.approvers.map(nameOf), ["boss"])
  })

  it("an edit sets a policy in the place of the one before", () => {
    const set = folderPolicy("docs", { requiredApprovals: 4 })
    assert.deepStrictEqual(edited([docs, finance], { set: [set] }), [finance, set])
    assert.deepStrictEqual(edited([docs, finance], { remove: [docs.path] }), [finance])
  })
})
