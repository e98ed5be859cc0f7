import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Document from "../../src/database/Document.ts"
import * as RememberedDocument from "../../src/database/RememberedDocument.ts"

const document = Document.make(Schema.Struct({ text: Schema.String }))

/** Decodes, and counts how often the document itself was asked. */
const counting = () => {
  let count = 0
  const decode = RememberedDocument.make({
    ...document,
    decode: (value: unknown) => {
      count += 1
      return document.decode(value)
    }
  })
  return { decode, count: () => count }
}

const textOf = (text: string): string => document.encode({ text })

it.effect("decodes a text once, and another text anew", () =>
  Effect.gen(function* () {
    const { count, decode } = counting()
    const [a, b] = [`${"x".repeat(100)}a`, `${"x".repeat(100)}b`]
    for (const text of [a, b, a, b, a]) assert.deepStrictEqual(yield* decode(textOf(text)), { text })
    assert.strictEqual(count(), 2)
  })
)

it.effect("remembers what is used, lets go of what is not, and holds no more than it may", () =>
  Effect.gen(function* () {
    const { count, decode } = counting()
    const filler = "x".repeat(10_000)
    const used = textOf("used")
    yield* decode(used)
    yield* decode(textOf("unused"))
    // Five times as many characters as are held.
    for (let index = 0; index < 1000; index++) {
      yield* decode(textOf(`${filler}${index}`))
      if (index % 50 === 0) yield* decode(used)
    }
    const before = count()
    yield* decode(used)
    assert.strictEqual(count(), before)
    yield* decode(textOf("unused"))
    yield* decode(textOf(`${filler}0`))
    assert.strictEqual(count(), before + 2)
  })
)

it.effect("remembers no failure: what does not fit its schema does not fit the next time either", () =>
  Effect.gen(function* () {
    const { count, decode } = counting()
    for (let time = 0; time < 2; time++) {
      const exit = yield* Effect.exit(decode('{"text":1}'))
      assert.strictEqual(exit._tag, "Failure")
    }
    assert.strictEqual(count(), 2)
  })
)
