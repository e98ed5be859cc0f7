/**
 * What every adapter of the `ConnectorDriver` port does, whichever source is behind it. The source has one table,
 * `cities`; the statements are in the SQL that every dialect shares.
 *
 * Source: decisions.md §5 ("SQL from an agent is read-only, one statement, bounded in time, rows and bytes; enforced
 * by a real parser and by the engine's own read-only mode, both"); policy-cases.md R7 to R17.
 */
import type { Connector } from "@castellan/core/connector/Connector"
import { ConnectorDriver, type ConnectorError, type QueryLimits } from "@castellan/core/connector/ConnectorDriver"
import type { Column, ResultTable, Value } from "@castellan/core/connector/ResultTable"
import { assert, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"

/** The columns of the table `cities` that a source under contract has. */
export const columns: ReadonlyArray<Column> = [
  { name: "name", type: "text" },
  { name: "country", type: "text" },
  { name: "population", type: "integer" },
  { name: "area", type: "number" },
  { name: "coastal", type: "boolean" },
  { name: "founded", type: "date" }
]

/** The rows of `cities`, in the order of their names. `area` is in square kilometres. */
export const rows: ReadonlyArray<ReadonlyArray<Value>> = [
  ["Lisbon", "Portugal", 545796, 100.05, true, "1147-10-25"],
  ["Nairobi", "Kenya", 4397073, 696.1, false, "1899-05-30"],
  ["Oslo", "Norway", 709037, 454.12, true, "1624-10-16"],
  ["Québec", "Canada", 549459, 485.77, true, "1608-07-03"],
  ["Quito", "Ecuador", 1763275, 372.39, false, "1534-12-06"],
  ["São Paulo", "Brazil", 11451999, 1521.11, null, "1554-01-25"]
]

/** A statement that runs for hours: the sum over a product of many `cities`. */
export const endless = `select sum(c0.population + c9.area) as total from ${Array.from(
  { length: 14 },
  (_, index) => `cities c${index}`
).join(", ")} where c0.population + c5.area <> c9.population`

const limits: QueryLimits = { timeout: Duration.seconds(60), maxRows: 1000, maxBytes: 1_000_000 }

/** Statements that no source runs: they write, are more than one, or are none. */
export const refused: ReadonlyArray<string> = [
  "insert into cities (name) values ('x')",
  "update cities set name = 'x'",
  "delete from cities",
  "/* select */ delete from cities",
  "-- select\ndelete from cities",
  "drop table cities",
  "create table mine as select * from cities",
  "create view mine as select * from cities",
  "alter table cities add column x int",
  "select 1; select 2",
  "select 1; drop table cities",
  "commit; delete from cities",
  "begin",
  "set x = 1",
  "grant select on cities to public",
  "explain analyze delete from cities",
  "with gone as (delete from cities returning *) select * from gone",
  "select * into mine from cities",
  "",
  "-- nothing",
  ";"
]

/** Runs the contract over a source. Its statements take real time. */
export const suite = <E>(name: string, layer: Layer.Layer<ConnectorDriver, E>, connector: Connector): void =>
  it.layer(layer, { excludeTestServices: true, timeout: "180 seconds" })(`ConnectorDriver (${name})`, (it) => {
    const query = (statement: string, bounds: Partial<QueryLimits> = {}) =>
      ConnectorDriver.use((driver) => driver.query(connector, statement, { ...limits, ...bounds }))

    const reasonOf = <A>(effect: Effect.Effect<A, ConnectorError, ConnectorDriver>) =>
      Effect.map(Effect.flip(effect), (error) => error.reason)

    const answers = Effect.gen(function* () {
      const table = yield* query("select count(*) as n from cities")
      assert.deepStrictEqual(table.rows, [[rows.length]])
    })

    const cells = (table: ResultTable): ReadonlyArray<Value> => table.rows.flat()

    it.effect("answers with the columns' types and the rows in their order", () =>
      Effect.gen(function* () {
        const table = yield* query("select * from cities order by population")
        const byPopulation = rows.toSorted((a, b) => Number(a[2]) - Number(b[2]))
        assert.deepStrictEqual(table, { columns, rows: byPopulation, truncated: false })
      })
    )

    it.effect("answers expressions, groups, joins and common table expressions", () =>
      Effect.gen(function* () {
        const table = yield* query(
          `with large as (select * from cities where population > 1000000)
           select c.coastal, count(*) as n, max(c.name) as last
           from cities c left join large l on l.name = c.name
           where c.coastal is not null group by c.coastal order by n`
        )
        assert.deepStrictEqual(table.rows, [
          [false, 2, "Quito"],
          [true, 3, "Québec"]
        ])
      })
    )

    it.effect("answers an empty result with its columns", () =>
      Effect.gen(function* () {
        const table = yield* query("select name, population from cities where population < 0")
        assert.deepStrictEqual(table, {
          columns: [...columns.slice(0, 1), ...columns.slice(2, 3)],
          rows: [],
          truncated: false
        })
      })
    )

    it.effect("gives each column of a result a name of its own", () =>
      Effect.gen(function* () {
        const table = yield* query("select a.name, b.name from cities a join cities b on a.name = b.name")
        assert.strictEqual(new Set(table.columns.map((column) => column.name)).size, 2)
      })
    )

    it.effect("takes text in comments and literals for what it is", () =>
      Effect.gen(function* () {
        const table = yield* query("/* ; delete from cities */ select ';drop table cities' as a, '--' as b -- ; delete")
        assert.deepStrictEqual(cells(table), [";drop table cities", "--"])
      })
    )

    it.effect("lists its tables in the order of their names, with their columns", () =>
      Effect.gen(function* () {
        const tables = yield* ConnectorDriver.use((driver) => driver.tables(connector))
        const names = tables.map((table) => table.name)
        assert.deepStrictEqual(names, names.toSorted())
        const cities = tables.find((table) => table.name === "cities")
        assert.deepStrictEqual(
          cities?.columns.map((column) => ({ name: column.name, type: column.type })),
          columns
        )
        assert.isTrue(cities?.rowCount === undefined || cities.rowCount === rows.length)
      })
    )

    it.effect("describes a statement with the columns that its result has", () =>
      Effect.gen(function* () {
        const described = yield* ConnectorDriver.use((driver) => driver.describe(connector, "select * from cities"))
        assert.deepStrictEqual(
          described.map((column) => ({ name: column.name, type: column.type })),
          columns
        )
        assert.isTrue(described.every((column) => column.sourceType !== ""))
      })
    )

    it.effect("describes a statement without running it", () =>
      Effect.gen(function* () {
        const described = yield* ConnectorDriver.use((driver) => driver.describe(connector, endless))
        assert.deepStrictEqual(
          described.map((column) => column.name),
          ["total"]
        )
      })
    )

    it.effect.each(refused.map((statement) => ({ statement })))("refuses $statement", ({ statement }) =>
      Effect.gen(function* () {
        const described = ConnectorDriver.use((driver) => driver.describe(connector, statement))
        for (const attempt of [Effect.asVoid(query(statement)), Effect.asVoid(described)]) {
          const reason = yield* reasonOf(attempt)
          assert.include(["StatementRefused", "StatementFailed"], reason._tag)
          assert.isNotEmpty(reason.message)
        }
        yield* answers
      })
    )

    it.effect.each([
      { statement: "delete from cities" },
      { statement: "select 1; select 2" },
      { statement: "create table mine as select 1" }
    ])("says that it refuses $statement", ({ statement }) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* reasonOf(query(statement)))._tag, "StatementRefused")
      })
    )

    it.effect.each([
      { statement: "selec 1" },
      { statement: "select nothing_of_the_kind from cities" },
      { statement: "select * from no_such_table" },
      { statement: "select cast(name as integer) from cities" }
    ])("fails with the source's reason for $statement", ({ statement }) =>
      Effect.gen(function* () {
        const reason = yield* reasonOf(query(statement))
        assert.strictEqual(reason._tag, "StatementFailed")
        assert.isNotEmpty(reason.message)
        yield* answers
      })
    )

    it.effect("cuts a result at the limit of rows, and says so", () =>
      Effect.gen(function* () {
        const cut = yield* query("select name from cities order by name", { maxRows: 2 })
        assert.deepStrictEqual([cut.rows.length, cut.truncated], [2, true])
        const whole = yield* query("select name from cities", { maxRows: rows.length })
        assert.deepStrictEqual([whole.rows.length, whole.truncated], [rows.length, false])
        yield* answers
      })
    )

    it.effect("cuts a result at the limit of bytes, and says so", () =>
      Effect.gen(function* () {
        const cut = yield* query("select a.name, b.name from cities a, cities b, cities c", { maxBytes: 200 })
        assert.isTrue(cut.truncated)
        assert.isBelow(cut.rows.length, rows.length ** 3)
        assert.isAtMost(cells(cut).join("").length, 200)
        yield* answers
      })
    )

    it.effect("stops a statement at its time limit, and answers the next", () =>
      Effect.gen(function* () {
        const reason = yield* reasonOf(query(endless, { timeout: Duration.millis(300) }))
        assert.strictEqual(reason._tag, "StatementTimedOut")
        yield* answers
      })
    )

    // Before it has begun, while it begins, and in the midst of it.
    it.effect.each([{ after: 0 }, { after: 5 }, { after: 20 }, { after: 200 }])(
      "stops a statement that is interrupted after $after ms, and answers the next",
      ({ after }) =>
        Effect.gen(function* () {
          yield* answers
          const running = yield* Effect.forkChild(query(endless), { startImmediately: true })
          yield* Effect.sleep(after)
          const [took] = yield* Effect.timed(Fiber.interrupt(running))
          const exit = yield* Fiber.await(running)
          assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
          // On whatever machine: an interruption that does not stop it never completes.
          assert.isBelow(Duration.toMillis(took), 20_000)
          yield* answers
        })
    )

    it.effect("answers several statements at once, and stops one without the others", () =>
      Effect.gen(function* () {
        const running = yield* Effect.forkChild(query(endless), { startImmediately: true })
        const tables = yield* Effect.forEach(
          rows,
          ([city]) => query(`select population from cities where name = '${city}'`),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          tables.flatMap(cells),
          rows.map((row) => row[2])
        )
        yield* Fiber.interrupt(running)
        yield* answers
      })
    )
  })
