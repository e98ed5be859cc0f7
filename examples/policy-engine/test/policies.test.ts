/** The host's own policies, tested as tables over its own files. */
import * as ApprovalPolicy from "@castellan/core/change/ApprovalPolicy"
import * as AutoApprovalPolicy from "@castellan/core/change/AutoApprovalPolicy"
import { expectDecision } from "@castellan/testing/policy/ExpectDecision"
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { load } from "../src/policies.ts"
import { isApproved, mayApprove, simulate } from "../src/questions.ts"

const folder = join(import.meta.dirname, "..", "policies")
const host = load(folder)
const change = (by: string, ...paths: ReadonlyArray<string>) => ({ id: "asked", by, paths, approvedBy: [] })

// #region table
describe("who may approve", () => {
  const rows = [
    // who, whose change, of what, and the reason
    ["cora", "ben", "handbook/travel.md", "ownership"],
    ["ben", "ben", "handbook/travel.md", "self_approval"],
    ["linter", "ben", "handbook/travel.md", "controlled_by_author"],
    ["eve", "ben", "handbook/travel.md", "not_owned"],
    ["eve", "eve", "contracts/acme.md", "ownership"],
    ["cora", "eve", "contracts/acme.md", "not_owned"],
    ["ben", "ben", "handbook/people/leave.md", "ownership"],
    ["dan", "dan", "handbook/people/leave.md", "self_approval"],
    ["ada", "eve", "contracts/acme.md", "administrator"]
  ] as const
  for (const [who, by, path, reason] of rows) {
    it(`${who}, of ${by}'s change of ${path}: ${reason}`, () => {
      const decision = ApprovalPolicy.decideApproval(host.reviewed(change(by, path)), host.situation, host.person(who))
      assert.strictEqual(decision.reason, reason)
    })
  }
})
// #endregion

describe("the host's questions", () => {
  it("are answered in sentences that name what they rest on", () => {
    assert.strictEqual(
      mayApprove(host, "eve", change("ben", "handbook/travel.md")),
      "Denied: OWNERS authority on every path is required, and is missing on handbook/travel.md (missing: handbook/travel.md; missing count: 1; paths: 1)."
    )
    assert.strictEqual(
      isApproved(host, { ...change("eve", "contracts/acme.md"), approvedBy: ["fay"] }),
      "Denied: contracts has 1 of the 2 approvals that it asks for (approvals: 1; folder: contracts; folders: 1; population: 3; required: 2)."
    )
  })

  it("know the folders' own exceptions", () => {
    const ask = (by: string, path: string) =>
      AutoApprovalPolicy.decideAutoApproval(host.reviewed(change(by, path)), host.situation, host.person(by))
    expectDecision(ask("ben", "handbook/a/glossary.txt")).toAllow("auto_approved")
    expectDecision(ask("ben", "handbook/travel.md")).toDeny("approvals_missing")
    assert.strictEqual(ask("eve", "handbook/glossary.txt").reason, "approvals_missing")
  })

  it("say what another policy would have made of the past", () => {
    const differences = simulate(host, folder, "proposed.json")
    assert.deepStrictEqual(
      differences.map((text) => text.split("\n")[0]),
      ["2031-014", "2031-015", "2031-016"]
    )
    assert.include(differences[1], "contracts asks for 4 approvals, and only 2 members could give one")
  })

  it("are warned of policies that mean what nobody meant", () => {
    assert.deepStrictEqual(host.warnings, [
      "/ asks for 1 approval by others than the author, and only 1 member could give one: a change by one of them is never merged"
    ])
  })
})
