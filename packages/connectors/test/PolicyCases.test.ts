/**
 * The specification's hard cases of SQL (R7 to R21), as far as a source of files has them. Those about a database's own
 * roles, settings and views (R2, R18, R19, and the second half of R7) belong to the connectors of such databases.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { rmSync } from "node:fs"
import { afterAll } from "vitest"
import * as FilesDriver from "../src/files/FilesDriver.ts"
import * as Folder from "./support/Folder.ts"

const folder = Folder.create({
  "orders.csv": "id,total\n1,10\n2,20\n",
  "customers.csv": "id,name\n1,Ada\n2,Bo\n",
  ".secrets.csv": "secret\nhidden\n"
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const refused: ReadonlyArray<{ readonly number: string; readonly statement: string; readonly says: string }> = [
  {
    number: "R7",
    statement: "with x as materialized (select set_config('a', 'b', false)) select * from x",
    says: "set_config is not allowed"
  },
  { number: "R8", statement: "commit; delete from orders", says: "only one read-only SELECT statement" },
  { number: "R9", statement: "with d as (delete from orders returning *) select * from d", says: "Parser Error" },
  { number: "R9", statement: "select * into copied from orders", says: "Parser Error" },
  { number: "R9", statement: "select * from orders for update", says: "Parser Error" },
  { number: "R9", statement: "explain analyze delete from orders", says: "EXPLAIN is not one" },
  { number: "R9", statement: "copy orders to program 'cat'", says: "COPY is not one" },
  { number: "R9", statement: "do $$ begin delete from orders; end $$", says: "Parser Error" },
  {
    number: "R10",
    statement: "with orders as (select * from secrets) select * from orders",
    says: 'there is no table "secrets"'
  },
  {
    number: "R11",
    statement: "select * from (with secrets as (select 1) select 1) a, secrets",
    says: 'there is no table "secrets"'
  },
  {
    number: "R12",
    statement: "select * from orders, (customers join pg_class on true)",
    says: 'there is no table "pg_class"'
  },
  { number: "R13", statement: `select U&"set\\005fconfig"('a', 'b', false)`, says: "Parser Error" },
  { number: "R13", statement: `select "set_config"('a', 'b', false)`, says: "set_config is not allowed" },
  { number: "R13", statement: "select pg_catalog.set_config('a', 'b', false)", says: "set_config is not allowed" },
  { number: "R14", statement: "select query_to_xml('select 1', true, true, '')", says: "query_to_xml is not allowed" },
  { number: "R14", statement: "from query('delete from orders')", says: "the table function query is not allowed" },
  { number: "R15", statement: "/* note */ delete from orders", says: "DELETE is not one" },
  { number: "R17", statement: "select from where", says: "syntax error" },
  { number: "R20", statement: "from '/etc/passwd'", says: "a statement cannot read the file" },
  { number: "R20", statement: "select * from read_csv('/etc/passwd')", says: "read_csv is not allowed" }
]

const allowed: ReadonlyArray<{ readonly number: string; readonly statement: string; readonly rows: number }> = [
  { number: "R16", statement: "select $$a;b$$", rows: 1 },
  { number: "R16", statement: "select ';drop table' as text", rows: 1 },
  { number: "R21", statement: "select * from orders /*! union select * from secrets */", rows: 2 }
]

layer(FilesDriver.layer(), { excludeTestServices: true })("the hard cases of SQL", (it) => {
  it.effect.each(refused)("$number refuses $statement", ({ says, statement }) =>
    Effect.gen(function* () {
      const reason = yield* Folder.reasonOf(Folder.query(folder, statement))
      // Refused by the gate, or not even a statement to the engine's own parser: it runs in neither case.
      assert.include(["StatementRefused", "StatementFailed"], reason._tag)
      assert.include(reason.message, says)
      const { rows } = yield* Folder.query(folder, "select sum(total) from orders")
      assert.deepStrictEqual(rows, [[30]])
    })
  )

  it.effect.each(allowed)("$number runs $statement", ({ rows, statement }) =>
    Effect.gen(function* () {
      const table = yield* Folder.query(folder, statement)
      assert.lengthOf(table.rows, rows)
    })
  )
})
