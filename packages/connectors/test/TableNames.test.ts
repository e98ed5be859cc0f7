/**
 * What the tables of a folder are called.
 */
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { formatOf, identifier, tablesOf } from "../src/files/internal/TableNames.ts"

const tables = (...paths: ReadonlyArray<string>) =>
  tablesOf(
    paths.flatMap((path) => {
      const format = formatOf(path)
      return format === undefined ? [] : [{ path, format }]
    })
  )

const names = (...paths: ReadonlyArray<string>) => tables(...paths).map((table) => table.name)

describe("tables", () => {
  it.each([
    ["flights.csv", "flights"],
    ["Flights.CSV", "Flights"],
    ["flights.csv.gz", "flights"],
    ["flights-3m.parquet", "flights_3m"],
    ["2024 sales (eu).csv", "_2024_sales_eu"],
    ["crm/orders.csv", "crm_orders"],
    ["a/b/c.json", "a_b_c"],
    ["übersicht.tsv", "übersicht"],
    ["日本.csv", "日本"],
    ["...csv", "_"],
    ["v1.2.events.jsonl", "v1_2_events"],
    [`${"x".repeat(80)}.csv`, "x".repeat(63)],
    [`${"x".repeat(62)}\u{20000}.csv`, "x".repeat(62)],
    [`${"x".repeat(62)} y.csv`, "x".repeat(62)]
  ])("%s is the table %s", (path, name) => {
    assert.deepStrictEqual(names(path), [name])
  })

  it.each(["notes.txt", "flights.parquet.gz", "flights.xlsx", "csv", "flights.csv.bak", "README.md", "x.arrow"])(
    "%s is no table",
    (path) => {
      assert.deepStrictEqual(names(path), [])
    }
  )

  it("of one name get their extension, and a number where that is the same", () => {
    assert.deepStrictEqual(names("a.csv", "a.parquet", "b.csv"), ["a_csv", "a_parquet", "b"])
    assert.deepStrictEqual(names("a.csv", "a.csv.gz", "A.csv"), ["A_csv", "a_csv_2", "a_csv_gz"])
    assert.deepStrictEqual(names("a-b.csv", "a b.csv", "a_b.csv"), ["a_b_csv", "a_b_csv_2", "a_b_csv_3"])
    assert.deepStrictEqual(names("a.csv", "a.json", "a_csv.csv"), ["a_csv", "a_csv_2", "a_json"])
  })

  it("have their stem and their path as other names, where only one has them", () => {
    const alias = (path: string, ...others: ReadonlyArray<string>) =>
      tables(path, ...others).find((table) => table.files.some((file) => file.path === path))?.aliases
    assert.deepStrictEqual(alias("flights-3m.parquet"), ["flights-3m", "flights-3m.parquet"])
    assert.deepStrictEqual(alias("crm/orders.csv"), ["orders", "crm/orders", "orders.csv", "crm/orders.csv"])
    assert.deepStrictEqual(alias("a.csv", "a.json"), ["a.csv"])
    assert.deepStrictEqual(alias("x/a.csv", "y/a.csv"), ["x/a", "x/a.csv"])
    assert.deepStrictEqual(alias("x/a.csv", "a.csv"), ["x/a", "x/a.csv"])
  })

  it("of Parquet parts are one, named for their folder", () => {
    assert.deepStrictEqual(names("sales/part-0.parquet", "sales/part-1.parquet"), ["sales"])
    assert.deepStrictEqual(names("sales/00000-of-00002.parquet", "sales/00001-of-00002.parquet"), ["sales"])
    assert.deepStrictEqual(names("sales/data_0.parquet", "sales/1.parquet"), ["sales"])
    assert.deepStrictEqual(names("sales/year=2024/m=1/x.parquet", "sales/year=2025/m=1/y.parquet"), ["sales"])
    assert.deepStrictEqual(names("a/b/year=2024/x.parquet"), ["a_b"])
    const [sales] = tables("sales/year=2024/x.parquet", "sales/year=2025/x.parquet")
    assert.deepStrictEqual([sales?.files.length, sales?.partitioned], [2, true])
  })

  it("of Parquet files that are no parts are each their own", () => {
    assert.deepStrictEqual(names("lake/orders.parquet", "lake/part-0.parquet"), ["lake_orders", "lake_part_0"])
    assert.deepStrictEqual(names("part-0.parquet", "part-1.parquet"), ["part_0", "part_1"])
    assert.deepStrictEqual(names("lake/part-0.csv", "lake/part-1.csv"), ["lake_part_0", "lake_part_1"])
    assert.deepStrictEqual(names("year=2024/x.parquet"), ["year_2024_x"])
  })

  it.prop("have identifiers for names, whatever the files are called", [Schema.Array(AnyText)], ([stems]) => {
    const found = tables(...stems.map((stem) => `${stem.replaceAll(/[/\0]/g, "-")}.csv`))
    assert.isTrue(found.every((table) => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(table.name) && table.name.length <= 70))
    assert.strictEqual(new Set(found.map((table) => table.name.toLowerCase())).size, found.length)
    const every = found.flatMap((table) => [table.name, ...table.aliases].map((name) => name.toLowerCase()))
    assert.strictEqual(new Set(every).size, every.length)
  })

  it.prop("keep every file in exactly one table", [Schema.Array(AnyText)], ([stems]) => {
    const paths = [...new Set(stems.map((stem) => `d/${stem.replaceAll(/[/\0]/g, "=")}.parquet`))]
    const found = tables(...paths).flatMap((table) => table.files.map((file) => file.path))
    assert.deepStrictEqual(found.toSorted(), paths.toSorted())
  })
})

it.prop("an identifier is the same when it is made again", [AnyText], ([text]) => {
  assert.strictEqual(identifier(identifier(text)), identifier(text))
})
