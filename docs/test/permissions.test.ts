/** The page on administration lists every permission as the code has it. */
import { all, member, permissions } from "@castellan/core/role/Permission"
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/packages.ts"

it("docs/administration.md has every permission, what it is for, and whether members hold it", () => {
  const page = readFileSync(join(root, "docs/administration.md"), "utf8")
  const rows = page.split("\n").flatMap((line) => {
    const [, name, purpose, isMembers] = line.split("|").map((cell) => cell.trim())
    return name !== undefined && /^`[a-z]+:[a-z]+`$/u.test(name) ? [[name.slice(1, -1), purpose, isMembers]] : []
  })
  assert.deepStrictEqual(
    rows,
    all.map((name) => [name, permissions[name], member.includes(name) ? "yes" : ""])
  )
})
