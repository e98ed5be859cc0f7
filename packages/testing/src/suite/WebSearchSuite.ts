/**
 * What every search engine keeps to.
 */
import { WebSearch, WebSearchError, WebSearchResult } from "@castellan/core/search/WebSearch"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * Runs the contract of `WebSearch` against an adapter. `query` has at least two answers there; `nothing` has none.
 */
export const suite = <E>(
  name: string,
  layer: Layer.Layer<WebSearch, E>,
  words: { readonly query: string; readonly nothing: string }
): void => {
  it.layer(layer, { timeout: "180 seconds" })(`WebSearch (${name})`, (it) => {
    const search = (query: string, limit: number) => WebSearch.use((web) => web.search(query, { limit }))
    const isResult = Schema.is(WebSearchResult)

    it.effect("answers with pages that have an address, at most as many as asked for, the best first", () =>
      Effect.gen(function* () {
        const two = yield* search(words.query, 2)
        assert.strictEqual(two.length, 2)
        assert.isTrue(two.every((result) => isResult(result)))
        assert.deepStrictEqual(yield* search(words.query, 1), two.slice(0, 1))
      })
    )

    it.effect("finding nothing is no failure", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* search(words.nothing, 5), [])
      })
    )

    it.effect("a query without words is answered or refused, and never a defect", () =>
      Effect.gen(function* () {
        const answer = yield* Effect.result(search(" \u0000 ", 5))
        if (Result.isFailure(answer)) assert.instanceOf(answer.failure, WebSearchError)
      })
    )
  })
}
