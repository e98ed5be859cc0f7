import * as PageTokens from "@castellan/http/page/PageTokens"
import type { Position } from "@castellan/core/page/Page"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Redacted, Schema } from "effect"

const secret = "a secret of more than thirty-two characters"

/** An id: no store keeps one with half a character in it. */
const Id = AnyText.check(Schema.makeFilter((text: string) => text !== "" && text.isWellFormed()))

const tokensOf = (list: PageTokens.PagedList, key = secret) =>
  PageTokens.PageTokens.use((tokens) => Effect.succeed(tokens.of(list))).pipe(
    Effect.provide(PageTokens.layer({ secret: Redacted.make(key) }))
  )

const position: Position = { at: DateTime.makeUnsafe(1_700_000_000_123), id: "0197c0de-0000-7000-8000-000000000000" }

const failureOf = <A, E extends { readonly message: string }>(effect: Effect.Effect<A, E>) =>
  Effect.match(effect, { onSuccess: () => "taken", onFailure: ({ message }) => message })

const refused = "page_token: must be a value that an earlier answer gave"

describe("page tokens", () => {
  it.effect.prop(
    "say where a page begins, whatever the id",
    [Schema.Int.check(Schema.isBetween({ minimum: -8.64e15, maximum: 8.64e15 })), Id],
    ([millis, id]) =>
      Effect.gen(function* () {
        const { page, seal } = yield* tokensOf("changes")
        const at = DateTime.makeUnsafe(millis)
        const token = seal({ at, id })
        assert.match(token, /^[A-Za-z0-9_-]+$/u)
        assert.deepStrictEqual(yield* page({ page_token: token }), { limit: 50, after: { at, id } })
      })
  )

  it.effect("are asked for by size and token, or by limit and cursor", () =>
    Effect.gen(function* () {
      const { cursorPage, page, seal } = yield* tokensOf("executions")
      const token = seal(position)
      assert.deepStrictEqual(yield* page({}), { limit: 50 })
      assert.deepStrictEqual(yield* page({ page_size: 7, page_token: token }), { limit: 7, after: position })
      assert.deepStrictEqual(yield* cursorPage({}), { limit: 50 })
      assert.deepStrictEqual(yield* cursorPage({ limit: 7, cursor: token }), { limit: 7, after: position })
      assert.strictEqual(yield* failureOf(page({ page_token: "x" })), refused)
      assert.strictEqual(
        yield* failureOf(cursorPage({ cursor: "x" })),
        "cursor: must be a value that an earlier answer gave"
      )
    })
  )

  it.effect("are of one list and of one deployment", () =>
    Effect.gen(function* () {
      const token = (yield* tokensOf("changes")).seal(position)
      assert.strictEqual(yield* failureOf((yield* tokensOf("changes")).page({ page_token: token })), "taken")
      assert.strictEqual(yield* failureOf((yield* tokensOf("api-keys")).page({ page_token: token })), refused)
      assert.strictEqual(
        yield* failureOf((yield* tokensOf("changes", `${secret}.`)).page({ page_token: token })),
        refused
      )
    })
  )

  it.effect("are refused when any character of them is another, and in any other form", () =>
    Effect.gen(function* () {
      const { page, seal } = yield* tokensOf("changes")
      const token = seal(position)
      for (let index = 0; index < token.length; index++) {
        const altered = `${token.slice(0, index)}${token[index] === "A" ? "B" : "A"}${token.slice(index + 1)}`
        assert.strictEqual(yield* failureOf(page({ page_token: altered })), refused, `character ${index}`)
      }
      for (const other of [
        "",
        "A",
        token.slice(0, -1),
        `${token}A`,
        `${token}=`,
        ` ${token}`,
        `${token}!`,
        token.slice(0, 32),
        Buffer.from(token, "base64url").toString("hex"),
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      ]) {
        assert.strictEqual(yield* failureOf(page({ page_token: other })), refused, other)
      }
    })
  )

  it.effect("need a secret that nobody guesses", () =>
    Effect.gen(function* () {
      assert.isTrue(Exit.isFailure(yield* Effect.exit(tokensOf("changes", "x".repeat(31)))))
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(tokensOf("changes", "x".repeat(32)))))
    })
  )
})
