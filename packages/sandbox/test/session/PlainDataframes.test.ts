/**
 * What programs of the machine's own Python leave that libraries make: figures and dataframes.
 */
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { existsSync } from "node:fs"
import * as ArrowTable from "../support/ArrowTable.ts"
import * as PlainPython from "../support/PlainPython.ts"
import { errorOf, finished, opened, run, tags, text } from "../support/PlainSession.ts"

const has = (name: string): boolean => existsSync(`/usr/lib/python3/dist-packages/${name}`)

describe.skipIf(!PlainPython.isAvailable || !has("matplotlib"))("figures", { timeout: 300_000 }, () => {
  it.live("are shown where a program asks for it and at its end, the first twenty", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const events = yield* run(
        session,
        "import matplotlib.pyplot as plt\nprint('a')\nplt.plot([1, 2]); plt.title('First'); plt.show()\nprint('b')\nfor i in range(23): plt.figure(figsize=(1, 1)).text(0, 0, str(i))"
      )
      const pictures = events.filter(({ _tag }) => _tag === "Rich")
      assert.strictEqual(pictures.length, 21)
      const [first] = pictures
      if (first?._tag !== "Rich") assert.fail("nothing was shown")
      assert.strictEqual(first.forms[0]?.mediaType, "image/png")
      assert.deepStrictEqual(
        Buffer.from(first.forms[0]?.body ?? "")
          .subarray(1, 4)
          .toString(),
        "PNG"
      )
      assert.include(String(first.forms[1]?.body), "First")
      assert.deepStrictEqual(tags(events).slice(0, 4), ["Started", "Stdout", "Rich", "Stdout"])
      assert.include(text(events, "Stderr"), "3 more figures are not shown")
      assert.notInclude(tags(yield* run(session, "1;")), "Rich")
    }).pipe(Effect.scoped)
  )
})

describe.skipIf(!PlainPython.isAvailable || !has("pandas"))("dataframes", { timeout: 300_000 }, () => {
  const table: ResultTable = {
    columns: [
      { name: "id", type: "integer" },
      { name: "share", type: "number" },
      { name: "price", type: "decimal" },
      { name: "exact", type: "decimal" },
      { name: "flag", type: "boolean" },
      { name: "day", type: "date" },
      { name: "moment", type: "timestamp" },
      { name: "local", type: "timestamp" },
      { name: "name", type: "text" },
      { name: "name", type: "json" },
      { name: "at", type: "time" }
    ],
    rows: [
      [
        Number.MAX_SAFE_INTEGER,
        0.1,
        "12.30",
        "12345678901234567.89",
        true,
        "2024-02-29",
        "2024-01-01T12:00:00.123456Z",
        "2024-01-01 12:00",
        "é🏰",
        "[1]",
        "12:00:00"
      ],
      [
        -4_294_967_297,
        null,
        "-0.05",
        "0.01",
        false,
        "1969-12-31",
        "2024-01-01T12:00:00+02:00",
        "1969-12-31T23:59:59.5",
        "",
        "{}",
        null
      ],
      [-1, -1e300, null, null, null, null, null, null, null, null, null]
    ],
    truncated: false
  }

  it.live("come in with every value as it was, in types that can be computed with", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      yield* session.bindDataframe("t", table)
      const events = yield* run(
        session,
        [
          "import pandas as pd, decimal",
          "print([str(kind) for kind in t.dtypes], list(t.columns))",
          "assert t.id.tolist() == [9007199254740991, -4294967297, -1]",
          "assert t.share[0] == 0.1 and pd.isna(t.share[1]) and t.share[2] == -1e300",
          "assert t.price[0] == 12.3 and t.price[1] == -0.05 and pd.isna(t.price[2])",
          "assert t.exact.tolist() == [decimal.Decimal('12345678901234567.89'), decimal.Decimal('0.01'), None]",
          "assert t.flag.tolist() == [True, False, None]",
          "assert t.day.tolist() == [pd.Timestamp('2024-02-29'), pd.Timestamp('1969-12-31'), pd.NaT]",
          "assert t.moment[0] == pd.Timestamp('2024-01-01 12:00:00.123456', tz='UTC')",
          "assert t.moment[1] == pd.Timestamp('2024-01-01 10:00', tz='UTC')",
          "assert t.local[0] == pd.Timestamp('2024-01-01 12:00') and t.local[1] == pd.Timestamp('1969-12-31 23:59:59.5')",
          "assert t.name.tolist() == ['é🏰', '', None] and t['at'][0] == '12:00:00'"
        ].join("\n")
      )
      assert.strictEqual(
        text(events),
        "['int64', 'float64', 'float64', 'object', 'object', 'datetime64[ns]', 'datetime64[ns, UTC]', 'datetime64[ns]', 'object', 'object', 'object'] ['id', 'share', 'price', 'exact', 'flag', 'day', 'moment', 'local', 'name', 'name_1', 'at']\n"
      )
      assert.isUndefined(errorOf(events), JSON.stringify(errorOf(events)))
    }).pipe(Effect.scoped)
  )

  it.live("go out as they came in", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      yield* session.bindDataframe("t", table)
      const stream = yield* session.exportDataframe("t")
      const found = Result.getOrThrow(ArrowTable.decode(stream, { rows: 2, columns: 100 }))
      assert.deepStrictEqual(
        found.columns.map(({ type }) => type),
        [
          "integer",
          "number",
          "number",
          "decimal",
          "boolean",
          "timestamp",
          "timestamp",
          "timestamp",
          "text",
          "text",
          "text"
        ]
      )
      assert.deepStrictEqual(found.rows, [
        [
          Number.MAX_SAFE_INTEGER,
          0.1,
          12.3,
          "12345678901234567.89",
          true,
          "2024-02-29T00:00:00",
          "2024-01-01T12:00:00.123456Z",
          "2024-01-01T12:00:00",
          "é🏰",
          "[1]",
          "12:00:00"
        ],
        [
          -4_294_967_297,
          null,
          -0.05,
          "0.01",
          false,
          "1969-12-31T00:00:00",
          "2024-01-01T10:00:00Z",
          "1969-12-31T23:59:59.5",
          "",
          "{}",
          null
        ]
      ])
      assert.isTrue(found.truncated)
      assert.strictEqual((yield* Effect.flip(session.exportDataframe("nothing"))).reason, "not_found")
    }).pipe(Effect.scoped)
  )

  it.live("of values that are not what their columns say come in as text", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const odd = (type: ResultTable["columns"][number]["type"], ...values: ReadonlyArray<string | number>) =>
        Effect.gen(function* () {
          yield* session.bindDataframe("t", {
            columns: [{ name: "a", type }],
            rows: values.map((value) => [value]),
            truncated: false
          })
          return text(yield* run(session, "print(t.a.tolist())"))
        })
      assert.strictEqual(yield* odd("date", "2024-02-30"), "['2024-02-30']\n")
      assert.strictEqual(yield* odd("date", "infinity"), "['infinity']\n")
      assert.strictEqual(
        yield* odd("timestamp", "2024-01-01T00:00:00Z", "2024-01-01T00:00:00"),
        "['2024-01-01T00:00:00Z', '2024-01-01T00:00:00']\n"
      )
      assert.strictEqual(yield* odd("decimal", "NaN", "1"), "['NaN', '1']\n")
      assert.strictEqual(yield* odd("integer", 1.5), "['1.5']\n")
    }).pipe(Effect.scoped)
  )

  it.live("have names of variables", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      for (const name of ["a b", "1a", "", "class", "x;y", "é", "a".repeat(200)]) {
        assert.strictEqual((yield* Effect.flip(session.bindDataframe(name, table))).reason, "invalid", name)
      }
    }).pipe(Effect.scoped)
  )

  it.live(
    "of a class that lies or raises are not told, and take neither the execution nor the variables with them",
    () =>
      Effect.gen(function* () {
        const session = yield* opened()
        yield* run(session, "import pandas\nkept = pandas.DataFrame({'a': [1]})")
        const lies = [
          "class Lying(pandas.DataFrame):\n    shape = property(lambda self: (-1, 1))\nlying = Lying({'a': [1]})",
          "class Huge(pandas.DataFrame):\n    shape = property(lambda self: (2 ** 53, 1))\nhuge = Huge({'a': [1]})",
          "class Raising(pandas.DataFrame):\n    shape = property(lambda self: exec('raise KeyboardInterrupt'))\nraising = Raising({'a': [1]})",
          "class Strange:\n    __class__ = property(lambda self: exec('raise SystemExit'))\nstrange = Strange()",
          "globals()['n' * 2000] = pandas.DataFrame({'a': [1]})"
        ]
        for (const code of lies) assert.strictEqual(finished(yield* run(session, code)).outcome, "completed", code)
        assert.deepStrictEqual(
          (yield* session.usage).dataframes.map(({ name }) => name),
          ["kept"]
        )
        assert.strictEqual(text(yield* run(session, "print(len(kept))")), "1\n")
      }).pipe(Effect.scoped)
  )

  it.live("of many rows come in", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const rows = Array.from({ length: 200_000 }, (_, index) => [
        index,
        index / 7,
        `name ${index % 1000}`,
        index % 3 === 0 ? null : index % 2 === 0,
        "2024-01-01"
      ])
      const types = ["integer", "number", "text", "boolean", "date"] as const
      const columns = types.map((type) => ({ name: type, type }))
      const frame = yield* session.bindDataframe("big", { columns, rows, truncated: false })
      assert.deepInclude(frame, { name: "big", rows: 200_000, columns: 5 })
      // Two columns of eight bytes a row, at the least.
      assert.isAbove(frame.memoryBytes ?? 0, 200_000 * 16)
      const events = yield* run(session, "print(big.integer.sum(), big.text.nunique(), int(big.boolean.isna().sum()))")
      assert.strictEqual(text(events), "19999900000 1000 66667\n")
    }).pipe(Effect.scoped)
  )
})
