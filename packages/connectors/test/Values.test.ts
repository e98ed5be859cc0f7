/**
 * What values become on their way out of the engine, and where results are cut.
 */
import { assert, layer } from "@effect/vitest"
import type { ColumnType, Value } from "@castellan/core/connector/ResultTable"
import { ConnectorDriver } from "@castellan/core/connector/ConnectorDriver"
import * as Effect from "effect/Effect"
import { rmSync } from "node:fs"
import { afterAll } from "vitest"
import * as FilesDriver from "../src/files/FilesDriver.ts"
import * as Folder from "./support/Folder.ts"

const folder = Folder.create({ "t.csv": "a\n1\n" })
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Case {
  readonly sql: string
  readonly type: ColumnType
  readonly value: Value
}

const value = (sql: string, type: ColumnType, expected: Value): Case => ({ sql, type, value: expected })

const cases: ReadonlyArray<Case> = [
  value("true", "boolean", true),
  value("(-128)::TINYINT", "integer", -128),
  value("255::UTINYINT", "integer", 255),
  value("(-32768)::SMALLINT", "integer", -32_768),
  value("65535::USMALLINT", "integer", 65_535),
  value("(-2147483648)::INTEGER", "integer", -2_147_483_648),
  value("4294967295::UINTEGER", "integer", 4_294_967_295),
  value("9007199254740991::BIGINT", "integer", 9_007_199_254_740_991),
  value("(-9007199254740991)::BIGINT", "integer", -9_007_199_254_740_991),
  value("9007199254740992::BIGINT", "decimal", "9007199254740992"),
  value("(-9223372036854775808)::BIGINT", "decimal", "-9223372036854775808"),
  value("18446744073709551615::UBIGINT", "decimal", "18446744073709551615"),
  value("42::HUGEINT", "integer", 42),
  value("170141183460469231731687303715884105727::HUGEINT", "decimal", "170141183460469231731687303715884105727"),
  value("340282366920938463463374607431768211455::UHUGEINT", "decimal", "340282366920938463463374607431768211455"),
  value(
    "'123456789012345678901234567890123456789012'::BIGNUM",
    "decimal",
    "123456789012345678901234567890123456789012"
  ),
  value("sum(2) FILTER (true)", "integer", 2),
  value("0.1::FLOAT", "number", 0.1),
  value("16777216::FLOAT", "number", 16_777_216),
  value("3.4028235e38::FLOAT", "number", 3.4028235e38),
  value("0.1::DOUBLE", "number", 0.1),
  value("1.7976931348623157e308::DOUBLE", "number", 1.7976931348623157e308),
  value("'-0'::DOUBLE", "number", -0),
  value("'nan'::DOUBLE", "number", null),
  value("'inf'::DOUBLE", "number", null),
  value("'-inf'::FLOAT", "number", null),
  value("1::DOUBLE / 0", "number", null),
  value("1.50::DECIMAL(10,2)", "decimal", "1.50"),
  value("(-0.05)::DECIMAL(4,2)", "decimal", "-0.05"),
  value("12345678901234567890.123456789::DECIMAL(38,9)", "decimal", "12345678901234567890.123456789"),
  value("'x'", "text", "x"),
  value("'naïve 🚀 ' || chr(0) || 'z'", "text", "naïve 🚀 \0z"),
  value("''", "text", ""),
  value("DATE '2024-02-29'", "date", "2024-02-29"),
  value("DATE '0001-01-01'", "date", "0001-01-01"),
  value("DATE '0044-03-15 (BC)'", "date", "-000043-03-15"),
  value("DATE '12024-01-01'", "date", "+012024-01-01"),
  value("DATE '5881580-07-10'", "date", "+5881580-07-10"),
  value("'infinity'::DATE", "date", null),
  value("TIME '00:00:00'", "time", "00:00:00"),
  value("TIME '23:59:59.000001'", "time", "23:59:59.000001"),
  value("'12:34:56.123456789'::TIME_NS", "time", "12:34:56.123456789"),
  value("TIMETZ '12:30:00+02:00'", "text", "12:30:00+02"),
  value("TIMESTAMP '2024-01-02 03:04:05.5'", "timestamp", "2024-01-02T03:04:05.5"),
  value("TIMESTAMP '1969-12-31 23:59:59.999999'", "timestamp", "1969-12-31T23:59:59.999999"),
  value("TIMESTAMP_S '2024-01-02 03:04:05'", "timestamp", "2024-01-02T03:04:05"),
  value("TIMESTAMP_MS '1900-01-02 03:04:05.123'", "timestamp", "1900-01-02T03:04:05.123"),
  value("TIMESTAMP_NS '2024-01-02 03:04:05.123456789'", "timestamp", "2024-01-02T03:04:05.123456789"),
  value("TIMESTAMPTZ '2024-01-02 03:04:05+02:00'", "timestamp", "2024-01-02T01:04:05Z"),
  value("TIMESTAMPTZ '2024-01-02 03:04:05 America/New_York'", "timestamp", "2024-01-02T08:04:05Z"),
  value("'-infinity'::TIMESTAMP", "timestamp", null),
  value("'infinity'::TIMESTAMPTZ", "timestamp", null),
  value("INTERVAL '1 year 2 months 3 days 04:05:06'", "text", "1 year 2 months 3 days 04:05:06"),
  value("'\\xDE\\xAD'::BLOB", "text", "\\xdead"),
  value("'10101'::BIT", "text", "10101"),
  value("'00000000-0000-7000-8000-00000000000a'::UUID", "text", "00000000-0000-7000-8000-00000000000a"),
  value("'b'::ENUM('a', 'b')", "text", "b"),
  value("[1, NULL, 3]", "json", "[1,null,3]"),
  value("[[1], []]", "json", "[[1],[]]"),
  value("array_value(1.5::DOUBLE, 'nan'::DOUBLE)", "json", "[1.5,null]"),
  value("{'a': 1, 'b': {'c': 'x\"y'}}", "json", '{"a":1,"b":{"c":"x\\"y"}}'),
  value("MAP {'k': 1, 'l': NULL}", "json", '{"k":1,"l":null}'),
  value("MAP {DATE '2024-01-01': true}", "json", '{"2024-01-01":true}'),
  value("union_value(n := 5)", "json", '{"n":5}'),
  value("[9223372036854775807]", "json", "[9223372036854775807]"),
  value("[1.50::DECIMAL(5,2)]", "json", "[1.50]"),
  value("[TIMESTAMPTZ '2024-01-02 03:04:05Z', NULL]", "json", '["2024-01-02T03:04:05Z",null]'),
  value("['\\x00'::BLOB]", "json", '["\\\\x00"]'),
  value("['00000000-0000-7000-8000-00000000000a'::UUID]", "json", '["00000000-0000-7000-8000-00000000000a"]'),
  value(`'{"a": [1]}'::JSON`, "json", '{"a": [1]}'),
  value("42::VARIANT", "json", "42"),
  value("NULL", "integer", null),
  value("NULL::BIGINT", "integer", null),
  value("NULL::STRUCT(a INT)", "json", null)
]

layer(FilesDriver.layer(), { excludeTestServices: true })("values", (it) => {
  it.effect.each(cases)("$sql is a $type", ({ sql, type, value: expected }) =>
    Effect.gen(function* () {
      const table = yield* Folder.query(folder, `select ${sql} as v`)
      assert.deepStrictEqual(table, { columns: [{ name: "v", type }], rows: [[expected]], truncated: false })
    })
  )

  it.effect("an integer column with one wide value is decimal in every row", () =>
    Effect.gen(function* () {
      const table = yield* Folder.query(folder, "from (values (1), (NULL), (9007199254740993), (-2)) v(n)")
      assert.deepStrictEqual(table.columns, [{ name: "n", type: "decimal" }])
      assert.deepStrictEqual(table.rows, [["1"], [null], ["9007199254740993"], ["-2"]])
    })
  )

  it.effect("many rows of many batches come whole and in order", () =>
    Effect.gen(function* () {
      const table = yield* Folder.query(
        folder,
        "select range as n, 'row ' || range as s, range % 3 = 0 as b, nullif(range % 5, 0) as f from range(10000)"
      )
      assert.isFalse(table.truncated)
      assert.deepStrictEqual(
        table.rows,
        Array.from({ length: 10_000 }, (_, n) => [n, `row ${n}`, n % 3 === 0, n % 5 === 0 ? null : n % 5])
      )
    })
  )

  it.effect("columns of one name each get their own", () =>
    Effect.gen(function* () {
      const { columns } = yield* Folder.query(folder, 'select 1 as a, 2 as a, 3 as a_1, 4 as "A"')
      assert.deepStrictEqual(
        columns.map((column) => column.name),
        ["a", "a_2", "a_1", "A"]
      )
    })
  )

  it.effect("a description has the types of the engine", () =>
    Effect.gen(function* () {
      const columns = yield* ConnectorDriver.use((driver) =>
        driver.describe(
          Folder.connector(folder),
          "select 1.5::DECIMAL(18,3) as d, now() as t, [1] as l, 'x'::JSON as j, 'a'::ENUM('a') as e, sum(1) as s"
        )
      )
      assert.deepStrictEqual(columns, [
        { name: "d", type: "decimal", sourceType: "DECIMAL(18,3)" },
        { name: "t", type: "timestamp", sourceType: "TIMESTAMP WITH TIME ZONE" },
        { name: "l", type: "json", sourceType: "INTEGER[]" },
        { name: "j", type: "json", sourceType: "JSON" },
        { name: "e", type: "text", sourceType: "ENUM" },
        { name: "s", type: "integer", sourceType: "HUGEINT" }
      ])
    })
  )

  it.effect.each([0, 1, 2047, 2048, 2049, 5000])("%i rows are the most that come", (maxRows) =>
    Effect.gen(function* () {
      const cut = yield* Folder.query(folder, "from range(100000000)", { maxRows })
      assert.deepStrictEqual([cut.rows.length, cut.truncated], [maxRows, true])
      const whole = yield* Folder.query(folder, `from range(${maxRows})`, { maxRows })
      assert.deepStrictEqual([whole.rows.length, whole.truncated], [maxRows, false])
    })
  )

  it.effect("bytes are counted by rows: the last row that fits comes, the next does not", () =>
    Effect.gen(function* () {
      // Each row is a number (8) and a text of 10 characters in 20 bytes (4 + 20).
      const statement = "select range, repeat('é', 10) from range(1000)"
      const exact = yield* Folder.query(folder, statement, { maxBytes: 32 * 7 })
      assert.deepStrictEqual([exact.rows.length, exact.truncated], [7, true])
      const less = yield* Folder.query(folder, statement, { maxBytes: 32 * 7 - 1 })
      assert.deepStrictEqual([less.rows.length, less.truncated], [6, true])
      const all = yield* Folder.query(folder, statement, { maxBytes: 32 * 1000 })
      assert.deepStrictEqual([all.rows.length, all.truncated], [1000, false])
    })
  )

  it.effect("a row that is larger than the limit does not come", () =>
    Effect.gen(function* () {
      const table = yield* Folder.query(folder, "select repeat('x', 10000000) as v", { maxBytes: 1000 })
      assert.deepStrictEqual(table, { columns: [{ name: "v", type: "text" }], rows: [], truncated: true })
    })
  )

  it.effect("a result that would never fit in memory is cut before it is made", () =>
    Effect.gen(function* () {
      const table = yield* Folder.query(folder, "select repeat('x', 10000) as v, range from range(10000000)", {
        maxBytes: 1_000_000
      })
      assert.deepStrictEqual([table.rows.length, table.truncated], [99, true])
    })
  )
})
