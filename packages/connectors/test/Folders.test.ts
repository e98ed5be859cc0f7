/**
 * Folders as they live: files come, change and go, some are broken, and some lead elsewhere.
 */
import { assert, layer } from "@effect/vitest"
import { DuckDBInstance } from "@duckdb/node-api"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { mkdirSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import * as FilesDriver from "../src/files/FilesDriver.ts"
import * as Folder from "./support/Folder.ts"

/** Writes the rows of a query as a Parquet file. */
const writeParquet = (sql: string, path: string) =>
  Effect.promise(async () => {
    const instance = await DuckDBInstance.create(":memory:")
    const connection = await instance.connect()
    await connection.run(`COPY (${sql}) TO '${path}'`)
    connection.closeSync()
    instance.closeSync()
  })

const names = (folder: string) => Effect.map(Folder.tables(folder), (tables) => tables.map((table) => table.name))
const cells = (folder: string, statement: string) =>
  Effect.map(Folder.query(folder, statement), (table) => table.rows.flat())

layer(FilesDriver.layer(), { excludeTestServices: true })("a folder", (it) => {
  it.effect("offers each of its files, and those below it, by every name that they have", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({
        "flights-3m.csv": "a\n1\n",
        "crm/orders.json": '[{"a":2}]',
        "crm/deep/er/x.ndjson": '{"a":3}\n'
      })
      yield* writeParquet("select 4 as a", join(folder, "p.parquet"))
      assert.deepStrictEqual(yield* names(folder), ["crm_deep_er_x", "crm_orders", "flights_3m", "p"])
      const reads: ReadonlyArray<readonly [name: string, value: number]> = [
        ["flights_3m", 1],
        ["FLIGHTS_3M", 1],
        ['"flights-3m"', 1],
        ['"flights-3m.csv"', 1],
        ["'flights-3m.csv'", 1],
        ["main.flights_3m", 1],
        ["crm_orders", 2],
        ["orders", 2],
        ['"crm/orders.json"', 2],
        ["crm_deep_er_x", 3],
        ["x", 3],
        ["p", 4],
        ['"p.parquet"', 4]
      ]
      for (const [name, value] of reads) {
        assert.deepStrictEqual(yield* cells(folder, `select a from ${name}`), [value])
      }
      const joined = "select a.a + b.a + c.a from flights_3m a, orders b, p c"
      assert.deepStrictEqual(yield* cells(folder, joined), [7])
    })
  )

  it.effect("offers the parts of a data set as one table, with the folders' keys as columns", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({})
      for (const year of [2023, 2024]) {
        mkdirSync(join(folder, "sales", `year=${year}`), { recursive: true })
        yield* writeParquet(`select ${year % 100} as amount`, join(folder, "sales", `year=${year}`, "x.parquet"))
      }
      mkdirSync(join(folder, "log"))
      yield* writeParquet("select 1 as n", join(folder, "log", "part-0.parquet"))
      yield* writeParquet("select 2 as n, 'x' as more", join(folder, "log", "part-1.parquet"))
      const tables = yield* Folder.tables(folder)
      assert.deepStrictEqual(
        tables.map((table) => [table.name, table.rowCount, table.columns.map((column) => column.name)]),
        [
          ["log", 2, ["n", "more"]],
          ["sales", 2, ["amount", "year"]]
        ]
      )
      assert.deepStrictEqual(yield* cells(folder, "select amount, year from sales where year = 2024"), [24, 2024])
      assert.deepStrictEqual(yield* cells(folder, "select n, more from log order by n"), [1, null, 2, "x"])
    })
  )

  it.effect("is seen as it is now: files that come, change and go", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({ "a.csv": "v\n1\n" })
      assert.deepStrictEqual(yield* cells(folder, "select v from a"), [1])
      Folder.write(folder, { "b.csv": "v\n2\n" })
      assert.deepStrictEqual(yield* cells(folder, "select a.v, b.v from a, b"), [1, 2])
      Folder.write(folder, { "a.csv": "v,w\n10,x\n" })
      assert.deepStrictEqual(yield* cells(folder, "select * from a"), [10, "x"])
      rmSync(join(folder, "b.csv"))
      assert.strictEqual((yield* Folder.reasonOf(Folder.query(folder, "select * from b")))._tag, "StatementFailed")
      assert.deepStrictEqual(yield* names(folder), ["a"])
      yield* writeParquet("select 5 as v", join(folder, "p.parquet"))
      assert.deepStrictEqual(yield* cells(folder, "select v from p"), [5])
      yield* writeParquet("select 'six' as other", join(folder, "p.parquet"))
      assert.deepStrictEqual(yield* cells(folder, "select * from p"), ["six"])
    })
  )

  it.effect("can change under a running statement, which answers what it began with", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({ "a.csv": "v\n1\n" })
      yield* Folder.query(folder, "select * from a")
      const running = yield* Effect.forkChild(cells(folder, "select sum(v) from a, range(30000000)"), {
        startImmediately: true
      })
      Folder.write(folder, { "a.csv": "v\n2\n" })
      const after = yield* cells(folder, "select v from a")
      assert.include([30_000_000, 60_000_000], (yield* Fiber.join(running))[0])
      assert.deepStrictEqual(after, [2])
    })
  )

  it.effect("hides what is not meant to be data", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({
        "a.csv": "v\n1\n",
        ".hidden.csv": "v\n1\n",
        ".git/x.csv": "v\n1\n",
        "ontology/a.csv": "v\n1\n",
        "ontology/a.malloy": "source: a is x.table('a')",
        "sub/ontology/b.csv": "v\n1\n",
        "notes.md": "# notes",
        "a.csv.tmp": "v\n"
      })
      assert.deepStrictEqual(yield* names(folder), ["a", "sub_ontology_b"])
    })
  )

  it.effect("that leads elsewhere is not followed", () =>
    Effect.gen(function* () {
      const outside = yield* Folder.scoped({ "secret.csv": "v\nsecret\n", "more/secret.csv": "v\nsecret\n" })
      const folder = yield* Folder.scoped({ "a.csv": "v\n1\n" })
      symlinkSync(join(outside, "secret.csv"), join(folder, "b.csv"))
      symlinkSync(join(outside, "more"), join(folder, "more"))
      symlinkSync(join(folder, "a.csv"), join(folder, "c.csv"))
      assert.deepStrictEqual(yield* names(folder), ["a"])
      for (const statement of ["select * from b", "select * from more_secret", "select * from 'b.csv'"]) {
        const reason = yield* Folder.reasonOf(Folder.query(folder, statement))
        assert.include(["StatementRefused", "StatementFailed"], reason._tag)
      }
    })
  )

  it.effect("can itself be reached over a link", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({ "data/a.csv": "v\n1\n" })
      symlinkSync(join(folder, "data"), join(folder, "link"))
      assert.deepStrictEqual(yield* cells(join(folder, "link"), "select v from a"), [1])
    })
  )

  it.effect("with broken files answers from the others, and names the broken ones", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({
        "good.csv": "v\n1\n",
        "empty.csv": "",
        "noise.csv": new Uint8Array(4000).map((_, index) => (index * 7919) % 251),
        "empty.json": "",
        "cut.json": '[{"a": 1}, {"a": ',
        "text.json": "hello",
        "noise.parquet": "PAR1 this is none PAR1",
        "empty.parquet": "",
        "page.csv.gz": "not gzip"
      })
      assert.deepStrictEqual(yield* names(folder), ["good"])
      for (const file of [
        "empty.csv",
        "noise.csv",
        "empty.json",
        "cut.json",
        "text.json",
        "noise.parquet",
        "empty.parquet",
        "page.csv.gz"
      ]) {
        const reason = yield* Folder.reasonOf(Folder.query(folder, `select * from "${file}"`))
        assert.strictEqual(reason._tag, "StatementFailed", file)
        assert.match(reason.message, new RegExp(`^the file ${file} (is empty|cannot be read: .+)$`))
        assert.notInclude(reason.message, folder)
        assert.deepStrictEqual(yield* cells(folder, "select v from good"), [1])
      }
    })
  )

  it.effect("with a broken file answers from it once it is mended", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({ "a.json": '[{"v": ' })
      assert.strictEqual((yield* Folder.reasonOf(Folder.query(folder, "select * from a")))._tag, "StatementFailed")
      Folder.write(folder, { "a.json": '[{"v": 1}]' })
      assert.deepStrictEqual(yield* cells(folder, "select v from a"), [1])
    })
  )

  it.effect("whose conversion is interrupted is converted by the next statement", () =>
    Effect.gen(function* () {
      const count = 400_000
      const rows = Array.from({ length: count }, (_, n) => `${n},2024-01-0${(n % 9) + 1},word ${n % 100}`)
      const folder = yield* Folder.scoped({ "big.csv": `n,d,w\n${rows.join("\n")}\n`, "a.csv": "v\n1\n" })
      assert.deepStrictEqual(yield* cells(folder, "select v from a"), [1])
      for (const after of [0, 20, 50, 100, 200, 400]) {
        const running = yield* Effect.forkChild(cells(folder, "select count(*) from big"), { startImmediately: true })
        yield* Effect.sleep(after)
        const [took] = yield* Effect.timed(Fiber.interrupt(running))
        // On whatever machine: only one that hangs takes so long.
        assert.isBelow(Duration.toMillis(took), 20_000)
      }
      assert.deepStrictEqual(yield* cells(folder, "select count(*), max(d) - min(d) from big"), [count, 8])
    })
  )

  it.effect("without tables says so", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({})
      assert.deepStrictEqual(yield* names(folder), [])
      assert.deepStrictEqual(yield* cells(folder, "select 1"), [1])
      const reason = yield* Folder.reasonOf(Folder.query(folder, "select * from a"))
      assert.strictEqual(reason.message, 'there is no table "a"; this source has no tables')
    })
  )

  it.effect("with a strange path and strange names is a folder like any other", () =>
    Effect.gen(function* () {
      const parent = yield* Folder.scoped({})
      const folder = join(parent, `it's a "folder"; -- é`)
      mkdirSync(folder)
      Folder.write(folder, { 'o\'clock "x".csv': "v\n1\n", "sel;ect.csv": "v\n2\n", "order.csv": "v\n3\n" })
      assert.deepStrictEqual(yield* names(folder), ["o_clock_x", "order", "sel_ect"])
      assert.deepStrictEqual(
        yield* cells(folder, 'select a.v, b.v, c.v from o_clock_x a, sel_ect b, "order" c'),
        [1, 2, 3]
      )
      assert.deepStrictEqual(yield* cells(folder, `select v from "o'clock ""x"".csv"`), [1])
    })
  )

  it.effect("shared by two connectors is one source", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({ "a.csv": "v\n1\n" })
      const both = yield* Effect.all([cells(folder, "select v from a"), cells(`${folder}/.`, "select v from a")], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(both, [[1], [1]])
    })
  )

  it.effect("of many tables asked for at once converts each of them once", () =>
    Effect.gen(function* () {
      const files = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`t${n}.csv`, `v\n${n}\n`]))
      const folder = yield* Folder.scoped(files)
      const [tables, ...answers] = yield* Effect.all(
        [
          Effect.map(Folder.tables(folder), (found) => found.length),
          ...Array.from({ length: 12 }, (_, n) =>
            Effect.map(cells(folder, `select a.v from t${n} a, t0 b`), ([v]) => v)
          )
        ],
        { concurrency: "unbounded" }
      )
      assert.strictEqual(tables, 12)
      assert.deepStrictEqual(
        answers,
        Array.from({ length: 12 }, (_, n) => n)
      )
    })
  )
})
