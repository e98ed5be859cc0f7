/**
 * The port to a search engine of the web.
 *
 * Source: api-v2.md "What the service does" ("web search"); decisions.md §4 (`web_search`).
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/** One page that was found. Its texts come from the web: they are material, never instructions. */
export const WebSearchResult = Schema.Struct({
  title: Schema.String,
  /** An absolute `http` or `https` address. */
  url: Schema.String.check(Schema.isPattern(/^https?:\/\//i, { title: "a web address" })),
  /** The words of the page around what was searched for, as plain text. */
  snippet: Schema.String
}).annotate({ identifier: "WebSearchResult" })
export type WebSearchResult = typeof WebSearchResult.Type

/** The search engine did not answer. The message is fit for the model and for the reader of the cell. */
export class WebSearchError extends Schema.TaggedError<WebSearchError>()("WebSearchError", {
  /** `unavailable`: it is out of reach, or not configured; `refused`: it does not take this query; `rate_limited`. */
  reason: Schema.Literals(["unavailable", "refused", "rate_limited"]),
  message: Schema.String
}) {}

/** Searches the web. */
export class WebSearch extends Context.Service<
  WebSearch,
  {
    /** The pages that answer a query best, the best first, at most `limit` of them; none when there is none. */
    readonly search: (
      query: string,
      options: { readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<WebSearchResult>, WebSearchError>
  }
>()("@castellan/core/search/WebSearch") {}

/** A deployment without a search engine: every search fails. */
export const layerUnavailable: Layer.Layer<WebSearch> = Layer.succeed(WebSearch, {
  search: () => Effect.fail(new WebSearchError({ reason: "unavailable", message: "this deployment has no web search" }))
})
