/**
 * Results as Arrow: what is copied out of the engine's memory is what its library reads cell by cell.
 */
import * as Duck from "@duckdb/node-api"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { tableFromIPC } from "@uwdata/flechette"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ArrowResult from "../src/duckdb/internal/ArrowResult.ts"
import { cellReader } from "../src/duckdb/internal/CellValue.ts"

let instance: Duck.DuckDBInstance
let connection: Duck.DuckDBConnection
beforeAll(async () => {
  instance = await Duck.DuckDBInstance.create(":memory:", { threads: "1" })
  connection = await instance.connect()
  await connection.run("CREATE TYPE mood AS ENUM ('sad', 'ok', 'überglücklich und noch viel mehr', '')")
  const names = Array.from({ length: 300 }, (_, index) => `'member ${index}'`).join(", ")
  await connection.run(`CREATE TYPE many AS ENUM (${names})`)
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
})

const perDay = 86_400_000

/** The cell of a value as a reader of the stream has it. */
const meaning = (value: Duck.DuckDBValue, type: Duck.DuckDBType): unknown => {
  if (value instanceof Duck.DuckDBDecimalValue) return value.value
  if (value instanceof Duck.DuckDBDateValue) return value.isFinite ? value.days * perDay : null
  if (value instanceof Duck.DuckDBTimeValue) return value.micros
  if (value instanceof Duck.DuckDBTimeNSValue) return value.nanos
  if (value instanceof Duck.DuckDBTimestampSecondsValue) return value.isFinite ? value.seconds : null
  if (value instanceof Duck.DuckDBTimestampMillisecondsValue) return value.isFinite ? value.millis : null
  if (value instanceof Duck.DuckDBTimestampNanosecondsValue) return value.isFinite ? value.nanos : null
  if (value instanceof Duck.DuckDBTimestampTZValue) return value.isFinite ? value.micros : null
  if (value instanceof Duck.DuckDBTimestampValue) return value.isFinite ? value.micros : null
  if (value instanceof Duck.DuckDBBlobValue) return Uint8Array.from(value.bytes)
  if (typeof value === "object" && value !== null) return String(cellReader(type)(value))
  return value
}

interface Read {
  readonly rowCount: number
  readonly columns: ReadonlyArray<ReadonlyArray<unknown>>
  readonly types: ReadonlyArray<number>
  /** The rows of each batch. */
  readonly batches: ReadonlyArray<number>
  /** The bytes of the first column's values in the first batch. */
  readonly bytes: Uint8Array
}

const bytesOf = (values: ArrayBufferView | ReadonlyArray<unknown> | undefined): Uint8Array =>
  ArrayBuffer.isView(values) ? new Uint8Array(values.buffer, values.byteOffset, values.byteLength) : new Uint8Array(0)

/** A result through the stream, and cell by cell; undefined where it was refused for its size. */
const both = (statement: string, maxBytes = 2 ** 30) =>
  Effect.promise(async (): Promise<{ readonly stream: Read; readonly cells: Read["columns"] } | undefined> => {
    const result = await connection.stream(statement)
    const types = result.columnTypes()
    const collected = ArrowResult.make(result.columnNames(), types, maxBytes)
    const cells = types.map((): Array<unknown> => [])
    let refused = false
    for await (const chunk of result) {
      if (refused) continue
      refused = !collected.add(chunk)
      for (const [index, type] of types.entries()) {
        for (const value of chunk.getColumnVector(index).toArray()) cells[index]?.push(meaning(value, type))
      }
    }
    if (refused) return undefined
    const { parts, rowCount } = collected.finish()
    const table = tableFromIPC(new Uint8Array(Buffer.concat(parts)), {
      useBigInt: true,
      useBigIntTimestamp: true,
      useDecimalInt: true
    })
    return {
      stream: {
        rowCount,
        columns: table.schema.fields.map((_, index) => [...table.getChildAt(index)]),
        types: table.schema.fields.map(({ type }) => type.typeId),
        batches: table.getChildAt(0).data.map(({ length }) => length),
        bytes: bytesOf(table.getChildAt(0).data[0]?.values)
      },
      cells
    }
  })

/** SQL of a value of a type, out of `h`, a random number of 64 bits. */
const kinds: Readonly<Record<string, string>> = {
  BOOLEAN: "h % 2 = 0",
  TINYINT: "(h % 256)::INTEGER - 128",
  SMALLINT: "(h % 65536)::INTEGER - 32768",
  INTEGER: "(h % 4294967296)::BIGINT - 2147483648",
  BIGINT: "CASE h % 3 WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807 ELSE h // 2 END",
  UTINYINT: "h % 256",
  USMALLINT: "h % 65536",
  UINTEGER: "h % 4294967296",
  UBIGINT: "h",
  FLOAT: "CASE h % 5 WHEN 0 THEN 'inf'::DOUBLE WHEN 1 THEN '-0'::DOUBLE ELSE h::DOUBLE / 7 END",
  DOUBLE: "CASE h % 5 WHEN 0 THEN '-inf'::DOUBLE WHEN 1 THEN 'nan'::DOUBLE ELSE h::DOUBLE / 7 END",
  "DECIMAL(4, 1)": "((h % 19999)::BIGINT - 9999)::DECIMAL(18, 0) / 10",
  "DECIMAL(9, 9)": "((h % 1999999999)::BIGINT - 999999999)::DECIMAL(18, 0) / 1000000000::DOUBLE",
  "DECIMAL(18, 3)": "((h % 1999999999999999)::BIGINT - 999999999999999)::DECIMAL(18, 0)",
  "DECIMAL(38, 10)": "(h::HUGEINT - 9223372036854775808::HUGEINT) * 1000",
  DATE: "CASE h % 4 WHEN 0 THEN 'infinity'::DATE WHEN 1 THEN '-infinity'::DATE ELSE '1970-01-01'::DATE + (h % 2000000)::INTEGER - 1000000 END",
  TIME: "'00:00:00'::TIME + to_microseconds((h % 86400000000)::BIGINT)",
  TIME_NS: "('00:00:00'::TIME + to_microseconds((h % 86400000000)::BIGINT))::TIME_NS",
  TIMESTAMP_S: "CASE h % 4 WHEN 0 THEN 'infinity'::TIMESTAMP ELSE make_timestamp((h % 9000000000000000)::BIGINT) END",
  TIMESTAMP_MS: "CASE h % 4 WHEN 0 THEN '-infinity'::TIMESTAMP ELSE make_timestamp((h % 9000000000000000)::BIGINT) END",
  TIMESTAMP:
    "CASE h % 4 WHEN 0 THEN 'infinity'::TIMESTAMP WHEN 1 THEN '-infinity'::TIMESTAMP ELSE make_timestamp((h % 9000000000000000)::BIGINT - 4500000000000000) END",
  TIMESTAMP_NS: "CASE h % 4 WHEN 0 THEN 'infinity'::TIMESTAMP ELSE make_timestamp((h % 9000000000000000)::BIGINT) END",
  TIMESTAMPTZ:
    "CASE h % 4 WHEN 0 THEN 'infinity'::TIMESTAMPTZ ELSE make_timestamptz((h % 9000000000000000)::BIGINT) END",
  VARCHAR: "left(repeat('aé🚀' || h || chr(0), 5), (h % 40)::BIGINT)",
  BLOB: "left(repeat(h::VARCHAR, 3), (h % 30)::BIGINT)::BLOB",
  mood: "list_extract(['sad', 'ok', 'überglücklich und noch viel mehr', ''], (h % 4)::BIGINT + 1)",
  many: "'member ' || (h % 300)",
  HUGEINT: "h % 1000",
  UHUGEINT: "h // 2",
  BIGNUM: "h % 1000",
  UUID: "md5(h::VARCHAR)",
  INTERVAL: "to_seconds((h % 100000)::BIGINT)",
  "INTEGER[]": "[(h % 7)::INTEGER, NULL]",
  "STRUCT(a INTEGER, b VARCHAR)": "{'a': (h % 7)::INTEGER, 'b': 'é' || h}",
  "MAP(VARCHAR, DOUBLE)": "MAP {'k' || (h % 5): h::DOUBLE}",
  JSON: "'{\"a\":' || h || '}'"
}

/** Rows of a random column, of which some are null and some are left out, so that vectors are of any length. */
const Shape = {
  seed: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 })),
  rows: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9000 })),
  nulls: Schema.Literals([1, 2, 3, 50, 1_000_000]),
  kept: Schema.Literals([1, 2, 10])
}

describe("what is copied is what would be read cell by cell", () => {
  for (const [type, sql] of Object.entries(kinds)) {
    it.effect.prop(
      type,
      Shape,
      ({ kept, nulls, rows, seed }) =>
        Effect.gen(function* () {
          const read = yield* both(
            `SELECT CASE WHEN hash(i, ${seed}, 'null') % ${nulls} = 0 THEN NULL ELSE (${sql})::${type} END AS cell
             FROM (SELECT i, hash(i, ${seed}) AS h FROM range(${rows}) t(i)) WHERE hash(i, 'kept') % ${kept} = 0`
          )
          assert.isDefined(read)
          assert.strictEqual(read?.stream.rowCount, read?.cells[0]?.length)
          assert.deepStrictEqual(read?.stream.columns, read?.cells)
        }),
      { arbitrary: { runs: 12 } }
    )
  }
})

/** Arrow's codes of types. */
const code = { integer: 2, text: 5, decimal: 7 }

const most = { long: 2n ** 63n - 1n, decimal: 10n ** 38n - 1n, huge: 2n ** 127n - 1n, unsigned: 2n ** 128n - 1n }

describe("integers are as wide as the widest of them", () => {
  const column = (type: string, last: bigint, rows: number): string =>
    `SELECT CASE WHEN i % 5 = 3 THEN NULL WHEN i = ${rows - 1} THEN '${last}'::${type} ELSE i::${type} END AS n, i
     FROM range(${rows}) t(i)`
  const rows: ReadonlyArray<readonly [type: string, last: bigint, code: number]> = [
    ["HUGEINT", most.long, code.integer],
    ["HUGEINT", -most.long - 1n, code.integer],
    ["HUGEINT", most.long + 1n, code.decimal],
    ["HUGEINT", -most.long - 2n, code.decimal],
    ["HUGEINT", 2n ** 64n + 5n, code.decimal],
    ["HUGEINT", 2n ** 96n + 5n, code.decimal],
    ["HUGEINT", -(2n ** 96n) + 5n, code.decimal],
    ["HUGEINT", most.decimal, code.decimal],
    ["HUGEINT", -most.decimal, code.decimal],
    ["HUGEINT", most.decimal + 1n, code.text],
    ["HUGEINT", -most.huge, code.text],
    ["UHUGEINT", most.long, code.integer],
    ["UHUGEINT", most.long + 1n, code.decimal],
    ["UHUGEINT", 2n ** 96n + 5n, code.decimal],
    ["UHUGEINT", most.unsigned, code.text],
    ["BIGNUM", -most.long - 1n, code.integer],
    ["BIGNUM", most.decimal, code.decimal],
    ["BIGNUM", most.unsigned * most.unsigned, code.text]
  ]
  for (const [type, last, expected] of rows) {
    for (const count of [1, 5001, 70_000]) {
      it.effect(`${type} up to ${last} in row ${count}`, () =>
        Effect.gen(function* () {
          const read = yield* both(column(type, last, count))
          assert.deepStrictEqual(read?.stream.types, [expected, code.integer])
          const cells = read?.cells[0] ?? []
          const told = expected === code.text ? cells.map((cell) => (cell === null ? null : String(cell))) : cells
          assert.deepStrictEqual(read?.stream.columns[0], told)
        })
      )
    }
  }
})

describe("batches", () => {
  it.effect("of many rows are one column", () =>
    Effect.gen(function* () {
      const read = yield* both(
        `SELECT i, i % 3 = 0 AS third, CASE WHEN i % 70001 <> 70000 THEN 'text number ' || i END AS words
         FROM range(200000) t(i) WHERE i % 11 <> 4`
      )
      assert.strictEqual(read?.stream.rowCount, 181_818)
      assert.isAtMost(Math.max(...(read?.stream.batches ?? [])), 65_536)
      assert.deepStrictEqual(read?.stream.columns, read?.cells)
    })
  )

  it.effect("show nothing of what the engine had where a null is", () =>
    Effect.gen(function* () {
      for (const type of ["BIGINT", "DATE", "DECIMAL(9, 2)", "BOOLEAN", "HUGEINT", "VARCHAR"]) {
        // What was a value before it became a null.
        const read = yield* both(
          `SELECT nullif(c, c) FROM (SELECT ${type === "DATE" ? "'2024-01-01'::DATE + i::INTEGER" : `(i % 2)::${type}`} AS c
           FROM range(1, 3000) t(i))`
        )
        assert.isTrue(
          read?.stream.bytes.every((byte) => byte === 0),
          type
        )
      }
    })
  )

  it.effect("may have no rows", () =>
    Effect.gen(function* () {
      const read = yield* both("SELECT 1 AS a, 'x' AS b, [1] AS c, 1::HUGEINT AS d WHERE false")
      assert.deepStrictEqual(read?.stream.columns, [[], [], [], []])
    })
  )

  it.effect("of texts that lie one after another, and of others", () =>
    Effect.gen(function* () {
      const read = yield* both(
        `SELECT CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'short' ELSE repeat('é', 7 + i % 50) END AS mixed,
         repeat('long', 4 + i % 9) AS long, first(repeat('xyz', 5)) OVER () AS same
         FROM range(5000) t(i) ORDER BY hash(i)`
      )
      assert.deepStrictEqual(read?.stream.columns, read?.cells)
    })
  )
})

describe("a result is as large as its cells", () => {
  const rows = 3000
  const sizes: ReadonlyArray<readonly [sql: string, bytes: number]> = [
    ["i % 2 = 0", rows],
    ["i::TINYINT", rows],
    ["i::DOUBLE", 8 * rows],
    ["i::DECIMAL(9, 2)", 16 * rows],
    ["i::HUGEINT", 8 * rows],
    ["CASE WHEN i = 0 THEN 10::HUGEINT ** 30 ELSE i END::HUGEINT", 16 * rows],
    ["'sixteen letters!'", 20 * rows],
    ["NULL::VARCHAR", 4 * rows],
    ["'sad'::mood", 7 * rows],
    ["[1, 2, 3]", 11 * rows]
  ]
  for (const [sql, bytes] of sizes) {
    it.effect(`${sql}: ${bytes} bytes, and none more`, () =>
      Effect.gen(function* () {
        const statement = `SELECT ${sql} AS a FROM range(${rows}) t(i)`.replace("i::TINYINT", "(i % 100)::TINYINT")
        assert.isDefined(yield* both(statement, bytes))
        assert.isUndefined(yield* both(statement, bytes - 1))
      })
    )
  }
})
