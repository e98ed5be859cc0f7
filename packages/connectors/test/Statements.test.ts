/**
 * What statements may do: everything that an analyst needs, and nothing else.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll } from "vitest"
import * as FilesDriver from "../src/files/FilesDriver.ts"
import * as Folder from "./support/Folder.ts"
import { hostileStatements } from "./support/HostileStatements.ts"
import { ordinaryStatements } from "./support/OrdinaryStatements.ts"

const folder = Folder.create({
  "t.csv": 'a,b,d,s\n1,x,2024-01-02,"p,q"\n2,y,2024-02-03,r\n3,x,2024-03-04,z\n',
  "u.csv": "a,c\n1,10\n2,20\n",
  ".secret.csv": "secret\nhidden\n",
  "notes.txt": "not data"
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Every file of the folder with a hash of what it holds. */
const fingerprint = (): ReadonlyArray<string> =>
  readdirSync(folder).map(
    (name) =>
      `${name} ${createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex")}`
  )

const answers = Effect.gen(function* () {
  const { rows } = yield* Folder.query(folder, "select sum(a) from t")
  assert.deepStrictEqual(rows, [[6]])
})

layer(FilesDriver.layer(), { excludeTestServices: true })("statements", (it) => {
  it.effect.each(ordinaryStatements.map((statement) => ({ statement })))("runs $statement", ({ statement }) =>
    Effect.gen(function* () {
      const table = yield* Folder.query(folder, statement)
      assert.isNotEmpty(table.columns)
    })
  )

  it.effect.each(hostileStatements.map((statement) => ({ statement })))("does not run $statement", ({ statement }) =>
    Effect.gen(function* () {
      const before = fingerprint()
      const written = statement.replaceAll("FOLDER", folder)
      const reason = yield* Folder.reasonOf(Folder.query(folder, written))
      assert.include(["StatementRefused", "StatementFailed"], reason._tag)
      assert.isNotEmpty(reason.message)
      // The statement may name the folder; what answers it does not, unless it repeats the statement.
      assert.notInclude(reason.message.replaceAll(written, ""), folder)
      assert.deepStrictEqual(fingerprint(), before)
      yield* answers
    })
  )

  it.effect.each([
    { statement: "drop table t", says: "only one read-only SELECT statement is allowed: DROP is not one" },
    { statement: "/* why */ -- not\n (insert into t values (1))", says: "syntax error" },
    { statement: "select 1; select 2", says: "only one read-only SELECT statement is allowed: these are 2" },
    { statement: "select getenv('HOME')", says: "the function getenv is not allowed, or does not exist" },
    { statement: "from read_csv('x.csv')", says: "the table function read_csv is not allowed; the tables are t, u" },
    { statement: "from '/etc/passwd'", says: 'a statement cannot read the file "/etc/passwd"; the tables are t, u' },
    { statement: "from pg_catalog.pg_class", says: "the table pg_catalog.pg_class is not one of this source" },
    { statement: "from nothing", says: 'there is no table "nothing"; the tables are t, u' },
    { statement: "select ?", says: "a statement cannot have parameters" },
    { statement: "show tables", says: "the catalog cannot be listed by a statement; the tables are t, u" },
    { statement: "select 1\0; drop table t", says: "a statement cannot hold the character NUL" },
    { statement: `select ${"1 + ".repeat(2000)}1`, says: "" },
    { statement: `select '${"x".repeat(1_000_000)}'`, says: "a statement cannot be longer than 1000000 characters" }
  ])("says why it does not run $statement", ({ says, statement }) =>
    Effect.gen(function* () {
      const reason = yield* Folder.reasonOf(Folder.query(folder, statement))
      assert.include(reason.message, says)
      yield* answers
    })
  )

  it.effect("points at the place where a statement does not parse", () =>
    Effect.gen(function* () {
      const reason = yield* Folder.reasonOf(Folder.query(folder, "select a frm t where"))
      assert.strictEqual(reason._tag, "StatementFailed")
      assert.include(reason.message, "LINE 1: select a frm t where")
    })
  )

  it.effect("names no file of the host in the error of a statement", () =>
    Effect.gen(function* () {
      const reason = yield* Folder.reasonOf(Folder.query(folder, "select cast(b as int) from t"))
      assert.strictEqual(reason._tag, "StatementFailed")
      assert.notMatch(reason.message, /\/tmp|castellan|\.duckdb/)
    })
  )
})
