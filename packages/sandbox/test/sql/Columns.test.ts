/**
 * Columns of dataframes on their way through the engine of SQL: every type that is taken over as it lies in memory, over
 * more rows than the engine has in a chunk, with cells and without, and those that are not what they say.
 */
import { assert, it } from "@effect/vitest"
import * as Arrow from "@uwdata/flechette"
import * as Effect from "effect/Effect"
import * as DuckDbSqlExecutor from "../../src/sql/DuckDbSqlExecutor.ts"
import { SqlExecutor } from "../../src/sql/SqlExecutor.ts"

const utf8 = new TextEncoder()

/** The engine has 2048 in a chunk. */
const rows = 2500

const each = <A>(cell: (row: number) => A): Array<A> => Array.from({ length: rows }, (_, row) => cell(row))

interface Nulls {
  readonly validity: Uint8Array
  readonly nullCount: number
}

const none: Nulls = { validity: new Uint8Array(0), nullCount: 0 }

/** Every fifth cell is not there. */
const isThere = (row: number): boolean => row % 5 !== 3
const some: Nulls = { validity: new Uint8Array(Math.ceil(rows / 8)), nullCount: rows / 5 }
for (let row = 0; row < rows; row++) {
  if (isThere(row)) some.validity[row >> 3] = (some.validity[row >> 3] ?? 0) | (1 << (row & 7))
}

type Values = Arrow.TypedArray

const column = (type: Arrow.DataType, values: Values, nulls: Nulls = none, offsets?: Int32Array) =>
  new Arrow.Column(
    [new Arrow.Batch({ length: rows, type, values, ...nulls, ...(offsets === undefined ? {} : { offsets }) })],
    type
  )

/** Integers of 128 bits, as they lie in memory. */
const wide = (cells: ReadonlyArray<bigint>): BigUint64Array => {
  const words = new BigUint64Array(2 * cells.length)
  for (const [row, cell] of cells.entries()) {
    words[2 * row] = BigInt.asUintN(64, cell)
    words[2 * row + 1] = BigInt.asUintN(64, cell >> 64n)
  }
  return words
}

/** Cells of a few kinds in turn, of which each chunk has another order. */
const turns = <A>(kinds: readonly [A, ...ReadonlyArray<A>]): Array<A> =>
  each((row) => kinds[(row * 7 + (row >> 11)) % kinds.length] ?? kinds[0])

const bytes = turns([-128, 127, 0, -1, 42])
const long = turns([-(2n ** 63n), 2n ** 63n - 1n, 0n, -1n, 9_007_199_254_740_993n])
const unsigned = turns([2n ** 64n - 1n, 0n, 1n, 2n ** 63n])
const ratios = turns([0.1, Number.NaN, -0, Number.POSITIVE_INFINITY, 5e-324, -1.7e308])
const narrow = turns([0.5, Number.NaN, -1024.25])
const flags = each((row) => row % 3 === 0 || row % 7 === 0)
const day = 86_400_000
const instants = turns([
  0n,
  1_708_214_400_123_456_789n,
  -1n,
  -1000n,
  -1001n,
  -9_223_372_036_854_775_000n,
  2n ** 62n + 1n
])
const moments = turns([0n, 1_708_214_400_123n, -1n, -62_135_596_800_000n])
const clock = turns([0n, 86_399_999_999n, 1n])
const digits = (count: number) => {
  const most = 10n ** BigInt(count) - 1n
  return turns([0n, most, -most, 1n, -1n, most / 3n])
}
const texts = turns([
  "",
  "a",
  "twelve bytes",
  "thirteen byte",
  "€€€€",
  "€€€€€",
  "🏰".repeat(100),
  "a\u0000b",
  "\ufeffmark",
  "x".repeat(3000)
])
const binary = turns([
  new Uint8Array(0),
  Uint8Array.of(0, 255),
  new Uint8Array(13).fill(128),
  utf8.encode("12 bytes now")
])

/** Type by type: the column, and what its cells are when they come out again. */
const columns: Record<string, readonly [type: Arrow.DataType, values: Values, cells: ReadonlyArray<unknown>]> = {
  int8: [Arrow.int8(), Int8Array.from(bytes), bytes],
  int16: [Arrow.int16(), Int16Array.from(bytes, (cell) => cell * 256), bytes.map((cell) => cell * 256)],
  int32: [Arrow.int32(), Int32Array.from(bytes, (cell) => cell * 2 ** 24), bytes.map((cell) => cell * 2 ** 24)],
  int64: [Arrow.int64(), BigInt64Array.from(long), long],
  uint8: [Arrow.uint8(), Uint8Array.from(bytes), bytes.map((cell) => cell & 255)],
  uint64: [Arrow.uint64(), BigUint64Array.from(unsigned), unsigned],
  float32: [Arrow.float32(), Float32Array.from(narrow), narrow],
  float64: [Arrow.float64(), Float64Array.from(ratios), ratios],
  day: [Arrow.dateDay(), Int32Array.from(bytes, (cell) => cell * 365), bytes.map((cell) => cell * 365 * day)],
  micros: [Arrow.timestamp(2), BigInt64Array.from(moments), moments],
  seconds: [Arrow.timestamp(0), BigInt64Array.from(clock), clock.map((cell) => cell * 1_000_000n)],
  milliseconds: [Arrow.timestamp(1, "UTC"), BigInt64Array.from(moments), moments.map((cell) => cell * 1000n)],
  nanoseconds: [Arrow.timestamp(3), BigInt64Array.from(instants), instants],
  zoned: [Arrow.timestamp(3, "Europe/Berlin"), BigInt64Array.from(instants), instants.map((cell) => cell / 1000n)],
  clock: [Arrow.timeMicrosecond(), BigInt64Array.from(clock), clock],
  ...Object.fromEntries(
    [3, 4, 9, 10, 18, 19, 38].map(
      (count) => [`decimal${count}`, [Arrow.decimal(count, 2, 128), wide(digits(count)), digits(count)]] as const
    )
  )
}

const stream = (table: Record<string, Arrow.Column<unknown>>): Uint8Array => {
  const encoded = Arrow.tableToIPC(Arrow.tableFromColumns(table), { format: "stream" })
  if (encoded === null) throw new Error("no stream")
  return encoded
}

/** What a statement over a table answers, exact, without floating point in between; texts as their bytes. */
const ask = (statement: string, table: Record<string, Arrow.Column<unknown>>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const session = yield* (yield* SqlExecutor).open
      const answer = yield* session.query(statement, [{ name: "given", content: stream(table) }])
      const read = Arrow.tableFromIPC(new Uint8Array(answer), {
        useBigInt: true,
        useBigIntTimestamp: true,
        useDecimalInt: true
      })
      return Object.fromEntries(
        read.schema.fields.map((field, index) => [field.name, [...read.getChildAt(index)]] as const)
      )
    })
  )

it.layer(DuckDbSqlExecutor.layer(), { timeout: "120 seconds", excludeTestServices: true })(
  "columns of a dataframe",
  (it) => {
    it.effect("of numbers and times are what they were, cell by cell", () =>
      Effect.gen(function* () {
        const given = Object.entries(columns)
        const whole = yield* ask(
          "SELECT * FROM given",
          Object.fromEntries(given.map(([name, [type, values]]) => [name, column(type, values)]))
        )
        for (const [name, [, , cells]] of given) assert.deepStrictEqual(whole[name], cells, name)
        const holed = yield* ask(
          "SELECT * FROM given",
          Object.fromEntries(given.map(([name, [type, values]]) => [name, column(type, values, some)]))
        )
        for (const [name, [, , cells]] of given) {
          assert.deepStrictEqual(
            holed[name],
            cells.map((cell, row) => (isThere(row) ? cell : null)),
            name
          )
        }
      })
    )

    it.effect("of booleans are what they were", () =>
      Effect.gen(function* () {
        const bits = new Uint8Array(Math.ceil(rows / 8))
        for (const [row, flag] of flags.entries()) if (flag) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7))
        const { holed, whole } = yield* ask("SELECT * FROM given", {
          whole: column(Arrow.bool(), bits),
          holed: column(Arrow.bool(), bits, some)
        })
        assert.deepStrictEqual(whole, flags)
        assert.deepStrictEqual(
          holed,
          flags.map((flag, row) => (isThere(row) ? flag : null))
        )
      })
    )

    it.effect("of texts and bytes are what they were, short or long, and by way of a dictionary", () =>
      Effect.gen(function* () {
        const holed = texts.map((text, row) => (isThere(row) ? text : null))
        // A mark that begins a text of a dictionary is not kept by the reader of Arrow.
        const chosen = holed.map((text) => text?.replace("\ufeff", "") ?? null)
        const given = {
          text: Arrow.columnFromArray(texts, Arrow.utf8()),
          large: Arrow.columnFromArray(texts, Arrow.largeUtf8()),
          holed: Arrow.columnFromArray(holed, Arrow.utf8()),
          chosen: Arrow.columnFromArray(chosen, Arrow.dictionary(Arrow.utf8())),
          raw: Arrow.columnFromArray(binary, Arrow.binary())
        }
        const answered = yield* ask(
          "SELECT encode(text) AS text, encode(large) AS large, encode(holed) AS holed, encode(chosen) AS chosen, raw FROM given",
          given
        )
        const encoded = (cells: ReadonlyArray<string | null>) =>
          cells.map((text) => (text === null ? null : utf8.encode(text)))
        assert.deepStrictEqual(answered["text"], encoded(texts))
        assert.deepStrictEqual(answered["large"], encoded(texts))
        assert.deepStrictEqual(answered["holed"], encoded(holed))
        assert.deepStrictEqual(answered["chosen"], encoded(chosen))
        assert.deepStrictEqual(answered["raw"], binary)
        const { kinds } = yield* ask("SELECT count(DISTINCT text) AS kinds FROM given", given)
        assert.deepStrictEqual(kinds, [BigInt(new Set(texts).size)])
      })
    )

    it.effect("of texts that are no UTF-8, or begin within a character, are texts all the same", () =>
      Effect.gen(function* () {
        const ends = (step: number) => Int32Array.from({ length: rows + 1 }, (_, row) => row * step)
        const { cut, wrong } = yield* ask("SELECT * FROM given", {
          wrong: column(Arrow.utf8(), new Uint8Array(rows * 3).fill(0xff), none, ends(3)),
          cut: column(Arrow.utf8(), utf8.encode("é".repeat(rows)), none, ends(1))
        })
        assert.deepStrictEqual(
          wrong,
          each(() => "\ufffd\ufffd\ufffd")
        )
        assert.deepStrictEqual(
          cut,
          each(() => "\ufffd")
        )
      })
    )

    it.effect("that say where their texts lie, and they do not lie there, harm nothing", () =>
      Effect.gen(function* () {
        const places = (cell: (row: number) => number) => Int32Array.from({ length: rows + 1 }, (_, row) => cell(row))
        const values = utf8.encode("a text that is long enough to be elsewhere")
        for (const offsets of [places((row) => row * 1000), places((row) => -row), places((row) => (row % 2) * 20)]) {
          const { n } = yield* ask("SELECT count(*) AS n, max(text) AS most FROM given", {
            text: column(Arrow.utf8(), values, none, offsets)
          })
          assert.deepStrictEqual(n, [BigInt(rows)])
        }
      })
    )
  }
)
