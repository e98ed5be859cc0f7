import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as RememberedRow from "../../src/database/RememberedRow.ts"

interface Row {
  readonly id: string
  readonly text: string
  readonly at: Date | null
}

/** Makes rows into texts, and counts how often. */
const counting = () => {
  let count = 0
  const decode = RememberedRow.make(
    ({ id }: Row) => id,
    ({ at, text }) => [text, at],
    ({ at, text }) => {
      count += 1
      return text === "unreadable" ? Effect.die(text) : Effect.succeed({ text, at: at?.getTime() })
    }
  )
  return { decode, count: () => count }
}

const row = (id: string, text: string, at: number | null = null): Row => ({
  id,
  text,
  at: at === null ? null : new Date(at)
})

it.effect("makes a row into its value once, as long as no column of it changes", () =>
  Effect.gen(function* () {
    const { count, decode } = counting()
    const first = yield* decode(row("a", "one", 1))
    assert.strictEqual(yield* decode(row("a", "one", 1)), first)
    assert.strictEqual(count(), 1)
    const changes: ReadonlyArray<Row> = [row("a", "two", 1), row("a", "two", 2), row("a", "two"), row("b", "two")]
    for (const [index, changed] of changes.entries()) {
      assert.deepStrictEqual(yield* decode(changed), { text: "two", at: changed.at?.getTime() })
      assert.strictEqual(count(), index + 2)
    }
    // What it was before is not remembered beside what it is.
    yield* decode(row("a", "one", 1))
    assert.strictEqual(count(), changes.length + 2)
  })
)

it.effect("keeps what is used, and lets go of what is not", () =>
  Effect.gen(function* () {
    const { count, decode } = counting()
    yield* decode(row("used", "text"))
    yield* decode(row("unused", "text"))
    for (let index = 0; index < 20_000; index++) {
      yield* decode(row(`other ${index}`, "text"))
      if (index % 1000 === 0) yield* decode(row("used", "text"))
    }
    assert.strictEqual(count(), 20_002)
    yield* decode(row("used", "text"))
    assert.strictEqual(count(), 20_002)
    yield* decode(row("unused", "text"))
    assert.strictEqual(count(), 20_003)
  })
)

it.effect("remembers no failure", () =>
  Effect.gen(function* () {
    const { count, decode } = counting()
    for (let time = 0; time < 2; time++) {
      assert.strictEqual((yield* Effect.exit(decode(row("a", "unreadable"))))._tag, "Failure")
    }
    assert.strictEqual(count(), 2)
  })
)
