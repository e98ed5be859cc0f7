import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as VersionedRow from "../../src/database/VersionedRow.ts"

interface Row extends VersionedRow.Version<string> {
  readonly text: string
}

/** What the table keeps of a key. */
type Kept = readonly [version: string, text: string]

/** Rows of a table in memory, made into objects, with the keys of the long statements that were sent. */
const scene = (table: ReadonlyMap<string, Kept>) => {
  const read: Array<ReadonlyArray<string>> = []
  const found = (keys: ReadonlyArray<string>): ReadonlyArray<Row> =>
    keys.flatMap((key) => {
      const row = table.get(key)
      return row === undefined ? [] : [{ key, version: row[0], text: row[1] }]
    })
  const ask = VersionedRow.make({
    versions: (_: "place", keys: ReadonlyArray<string>) =>
      Effect.sync(() => found(keys).map(({ key, version }) => ({ key, version }))),
    rows: (_: "place", keys: ReadonlyArray<string>) =>
      Effect.sync(() => {
        read.push(keys)
        return found(keys)
      }),
    decode: ({ text }: Row) => (text === "unreadable" ? Effect.die(text) : Effect.succeed({ text }))
  })
  /** What is heard of each key. */
  const heard = (...keys: ReadonlyArray<string>) =>
    Effect.flatMap(ask("place", keys), (answers) =>
      Effect.forEach(keys, (key) => answers.get(key) ?? Effect.succeedNone)
    )
  return { heard, read }
}

it.effect("reads a row once, as long as its version does not change", () =>
  Effect.gen(function* () {
    const table = new Map<string, Kept>([
      ["a", ["1", "one"]],
      ["b", ["2", "two"]]
    ])
    const { heard, read } = scene(table)
    const [a, none] = yield* heard("a", "nothing")
    assert.deepStrictEqual([a, none], yield* Effect.all([Effect.succeedSome({ text: "one" }), Effect.succeedNone]))
    assert.deepStrictEqual(read, [["a"]])
    const [same, b] = yield* heard("a", "b")
    assert.strictEqual(same, a)
    assert.deepStrictEqual(b, yield* Effect.succeedSome({ text: "two" }))
    assert.deepStrictEqual(read, [["a"], ["b"]])
    table.set("a", ["3", "three"])
    assert.deepStrictEqual((yield* heard("a", "b"))[0], yield* Effect.succeedSome({ text: "three" }))
    assert.deepStrictEqual(read, [["a"], ["b"], ["a"]])
    // What it was before is not remembered beside what it is.
    table.set("a", ["1", "one"])
    yield* heard("a", "b")
    assert.deepStrictEqual(read, [["a"], ["b"], ["a"], ["a"]])
    table.delete("a")
    assert.deepStrictEqual(yield* heard("a"), [yield* Effect.succeedNone])
  })
)

it.effect("keeps what is used, and lets go of what is not", () =>
  Effect.gen(function* () {
    const table = new Map<string, Kept>([
      ["used", ["1", "text"]],
      ["unused", ["1", "text"]]
    ])
    const others = Array.from({ length: 20_000 }, (_, index) => `other ${index}`)
    for (const other of others) table.set(other, ["1", "text"])
    const { heard, read } = scene(table)
    yield* heard("used", "unused")
    for (let from = 0; from < others.length; from += 100) {
      yield* heard(...others.slice(from, from + 100))
      if (from % 1000 === 0) yield* heard("used")
    }
    assert.strictEqual(read.flat().length, 20_002)
    yield* heard("used")
    assert.strictEqual(read.flat().length, 20_002)
    yield* heard("unused")
    assert.strictEqual(read.flat().length, 20_003)
  })
)

it.effect("remembers no failure, and keeps it from the others", () =>
  Effect.gen(function* () {
    const { heard, read } = scene(
      new Map<string, Kept>([
        ["a", ["1", "unreadable"]],
        ["b", ["2", "two"]]
      ])
    )
    for (let time = 0; time < 2; time++) {
      assert.strictEqual((yield* Effect.exit(heard("b", "a")))._tag, "Failure")
    }
    assert.deepStrictEqual(read, [["b", "a"], ["a"]])
  })
)
