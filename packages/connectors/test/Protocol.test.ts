/**
 * A process that answers what it should not, and a result that is not what it says.
 */
import { assert, describe, it } from "@effect/vitest"
import { columnFromArray, float64, tableFromColumns, tableToIPC, utf8 } from "@uwdata/flechette"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { start } from "../src/duckdb/internal/DuckProcess.ts"
import { read, ResultError } from "../src/duckdb/internal/ResultReader.ts"

describe("a process", () => {
  const ask = (lie: string) =>
    Effect.gen(function* () {
      const process = yield* start({
        folder: tmpdir(),
        directory: tmpdir(),
        codeDirectory: `/${lie}`,
        memory: 512 * 1024 * 1024,
        grace: Duration.millis(500),
        sealed: false,
        program: join(import.meta.dirname, "support", "liar.ts")
      })
      const work = { _tag: "Load", table: "t", target: undefined } as const
      const first = yield* Effect.exit(process.ask(work))
      // Whatever it said first, the breach ends it.
      const last = yield* Effect.flip(process.ask(work))
      return { first, last }
    }).pipe(Effect.scoped)

  it.live.each(["noise", "not-json", "unknown-tag", "wrong-types", "another-id", "twice", "too-long"])(
    "that answers with %s is ended",
    (lie) =>
      Effect.gen(function* () {
        const { last } = yield* ask(lie)
        assert.strictEqual(last.reason, "protocol")
      })
  )

  it.live("that ends is an error", () =>
    Effect.gen(function* () {
      const { first, last } = yield* ask("exit")
      assert.strictEqual(first._tag, "Failure")
      assert.strictEqual(last.reason, "ended")
    })
  )
})

describe("a result", () => {
  const bytes = (...columns: ReadonlyArray<ReturnType<typeof columnFromArray>>): Uint8Array =>
    tableToIPC(tableFromColumns(columns.map((column, index) => [String(index), column])), { format: "stream" }) ??
    new Uint8Array(0)
  const numbers = bytes(columnFromArray([1, 2], float64()))
  const integer = { name: "n", type: "integer" } as const
  const header = { columns: [integer], rowCount: 2, truncated: false }

  it("that is what it says is read", () => {
    assert.deepStrictEqual(read(numbers, header), { columns: [integer], rows: [[1], [2]], truncated: false })
  })

  it.each([
    ["has more rows than it says", numbers, { ...header, rowCount: 1 }],
    ["has fewer rows than it says", numbers, { ...header, rowCount: 3 }],
    ["has fewer columns than it says", numbers, { ...header, columns: [integer, integer] }],
    ["has no columns", numbers, { ...header, columns: [] }],
    ["has numbers for text", numbers, { ...header, columns: [{ name: "n", type: "text" }] }],
    ["has text for numbers", bytes(columnFromArray(["a", "b"], utf8())), header],
    ["has fractions for integers", bytes(columnFromArray([1, 2.5], float64())), header],
    [
      "has NaN for a number",
      bytes(columnFromArray([1, Number.NaN], float64())),
      { ...header, columns: [{ name: "n", type: "number" }] }
    ],
    ["is cut", numbers.subarray(0, numbers.length - 40), header],
    ["is empty", new Uint8Array(0), header],
    ["is noise", new Uint8Array(200).fill(170), header]
  ] as const)("that %s is refused", (_, stream, expected) => {
    assert.throws(() => read(stream, expected))
  })

  it("is refused before its rows are made", () => {
    assert.throws(() => read(numbers, { ...header, rowCount: 1_000_000_000 }), ResultError)
  })
})
