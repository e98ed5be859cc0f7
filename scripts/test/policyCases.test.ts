/**
 * Every hard case of the specification's rules, and every law, is a row of some test under its own number; a case that
 * none holds is listed here with the reason.
 */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

/** How many cases each part of the specification has. */
const counts = { K: 40, O: 16, A: 45, M: 15, R: 21, L: 12 } as const

/** Cases that are about what this repository does not hold yet. */
const elsewhere: Readonly<Record<string, string>> = {
  R2: "a setting left by an earlier transaction: of a connector to a Postgres database",
  R18: "a definer view of a database: of a connector to a Postgres database",
  R19: "the role that a connection has: of a connector to a Postgres database"
}

const tests = globSync("packages/*/{test,src/suite}/**/*.ts", { cwd: root })
  .filter((path) => !path.includes("node_modules"))
  .map((path) => readFileSync(join(root, path), "utf8"))
  .join("\n")

/** The numbers in the names of tests and in the rows of their tables; those in comments do not count. */
const said = new Set<string>()
for (const [text] of tests.matchAll(/(["'`])(?:(?!\1)[^\\\n]|\\.)*\1/g)) {
  for (const [number] of text.matchAll(/\b[KOAMRL][1-9]\d?\b/g)) said.add(number)
}

describe("the specification's hard cases", () => {
  for (const [part, count] of Object.entries(counts)) {
    it(`${part}1 to ${part}${count} are rows of tests`, () => {
      const numbers = Array.from({ length: count }, (_, index) => `${part}${index + 1}`)
      assert.deepStrictEqual(
        numbers.filter((number) => !said.has(number) && elsewhere[number] === undefined),
        []
      )
    })
  }

  it("what is said to be elsewhere is not here", () => {
    assert.deepStrictEqual(
      Object.keys(elsewhere).filter((number) => said.has(number)),
      []
    )
  })
})
