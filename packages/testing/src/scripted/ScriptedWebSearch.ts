/**
 * A web of a few pages: for tests of whatever stands on the `WebSearch` port, without a network. A page is found when
 * its title or its text has every word of the query.
 */
import { WebSearch, WebSearchError, type WebSearchResult } from "@castellan/core/search/WebSearch"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Two pages about castles. */
export const pages: ReadonlyArray<WebSearchResult> = [
  { title: "Castles", url: "https://castles.example/", snippet: "Castles were built of stone." },
  { title: "Sand castles", url: "https://sand.example/castles", snippet: "A sand castle stands until the tide." }
]

const wordsOf = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** A search engine over these pages; one that fails, where a failure is given. */
export const layer = (
  options: { readonly pages?: ReadonlyArray<WebSearchResult>; readonly failure?: WebSearchError } = {}
): Layer.Layer<WebSearch> =>
  Layer.succeed(WebSearch, {
    search: (query, { limit }) => {
      if (options.failure !== undefined) return Effect.fail(options.failure)
      const wanted = wordsOf(query)
      if (wanted.length === 0) {
        return Effect.fail(new WebSearchError({ reason: "refused", message: "the query has no words" }))
      }
      const found = (options.pages ?? pages).filter(({ snippet, title }) => {
        const words = new Set(wordsOf(`${title} ${snippet}`))
        return wanted.every((word) => words.has(word))
      })
      return Effect.succeed(found.slice(0, limit))
    }
  })
