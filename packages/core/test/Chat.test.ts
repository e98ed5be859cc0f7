import { sameClient } from "@castellan/core/access/ClientMetadata"
import { preview, previewLength, summaryOf } from "@castellan/core/chat/Chat"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"

describe("Chat", () => {
  it("a preview is the question's beginning on one line, of at most 200 characters", () => {
    assert.strictEqual(preview("  How\n\tmany   sales?  "), "How many sales?")
    assert.strictEqual(preview("x".repeat(200)), "x".repeat(200))
    assert.strictEqual(preview("x".repeat(201)), `${"x".repeat(199)}…`)
    assert.strictEqual(Array.from(preview("🚀".repeat(300))).length, previewLength)
  })

  it.prop(
    "a preview and a summary are never longer than they may be, and never break a character",
    [AnyText],
    ([text]) => {
      const question = `${text} ${text}${"🚀".repeat(30)} ${text.repeat(9)}`
      assert.isAtMost(Array.from(preview(question)).length, 200)
      assert.isAtMost(Array.from(summaryOf(question)).length, 80)
      if (question.isWellFormed()) {
        assert.isTrue(preview(question).isWellFormed())
        assert.isTrue(summaryOf(question).isWellFormed())
      }
      assert.notMatch(preview(question), /[\r\n\t]/u)
    }
  )

  it("two principals speak for the same end user by equal, non-empty metadata, in whatever order", () => {
    const of = (attributes: Readonly<Record<string, string | number | boolean | null>>) => ({
      text: JSON.stringify(attributes),
      attributes
    })
    assert.isTrue(sameClient(of({ a: 1, b: "x" }), of({ b: "x", a: 1 })))
    assert.isFalse(sameClient(of({ a: 1 }), of({ a: "1" })))
    assert.isFalse(sameClient(of({ a: 1 }), of({ a: 1, b: null })))
    assert.isFalse(sameClient(of({}), of({})))
    assert.isFalse(sameClient(undefined, undefined))
    assert.isFalse(sameClient(of({ a: 1 }), undefined))
  })
})

layer(layerCrypto)("Uuid", (it) => {
  it.effect("new ids are version 7, and each sorts after the one before, though the clock stands still", () =>
    Effect.gen(function* () {
      const ids = yield* Effect.all(Array.from({ length: 5000 }, () => Uuid.next))
      assert.deepStrictEqual(ids.toSorted(), ids)
      assert.strictEqual(new Set(ids).size, ids.length)
      for (const id of ids.slice(0, 10)) {
        assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u)
        assert.isTrue(Schema.is(Uuid.Uuid)(id))
      }
    })
  )

  it.effect("anything but the canonical lower-case form is no id", () =>
    Effect.gen(function* () {
      const id = yield* Uuid.next
      const others = ["", id.toUpperCase(), id.replaceAll("-", ""), `{${id}}`, ` ${id}`, `${id}\n`, id.slice(1), "../x"]
      for (const other of others) assert.isFalse(Schema.is(Uuid.Uuid)(other), JSON.stringify(other))
    })
  )
})
