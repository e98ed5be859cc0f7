import { allow, type Decision, deny } from "@castellan/core/access/Decision"
import { explain } from "@castellan/core/access/Explanation"
import { assert, describe, it } from "@effect/vitest"

describe("explain", () => {
  const rows: ReadonlyArray<readonly [Decision, string]> = [
    [allow("own", "the author of the change"), "Allowed: the author of the change."],
    [deny("hidden", "change not found."), "Denied: change not found."],
    [
      deny("permission", "permission denied: chat:write is required", { permission: "chat:write", roles: [] }),
      "Denied: chat:write is required (permission: chat:write; roles: nothing)."
    ],
    [
      deny("not_owned", "not owned", { paths: 3, missing: ["a", "b", "c"], missingCount: 3, folder: "" }),
      "Denied: not owned (folder: nothing; missing: a, b and c; missing count: 3; paths: 3)."
    ],
    [
      allow("approved", "enough", { one: ["a"], two: ["a", "b"], yes: true, no: false }),
      "Allowed: enough (no: no; one: a; two: a and b; yes: yes)."
    ]
  ]
  for (const [decision, expected] of rows) it(expected, () => assert.strictEqual(explain(decision), expected))
})
