/**
 * The tool over the web.
 */
import * as Effect from "effect/Effect"
import { CellContent } from "../../chat/Cell.ts"
import type { WebSearch } from "../../search/WebSearch.ts"
import type { RunContext } from "../RunContext.ts"
import { step } from "../Step.ts"
import { SearchWeb } from "../Tool.ts"
import { bind, type BoundTool } from "../Toolbox.ts"
import { ToolFailure } from "../ToolFailure.ts"

/** Pages of one search. */
const limit = 8

/** `web_search`: the pages that answer a query, shown to the reader by their titles and addresses. */
export const webTools = (context: RunContext, web: WebSearch["Service"]): ReadonlyArray<BoundTool> => [
  bind(SearchWeb, ({ query, title }) =>
    step(context, { title, content: CellContent.cases.Tool.make({ toolName: SearchWeb.name, input: query }) }, () =>
      Effect.map(
        Effect.mapError(web.search(query, { limit }), (error) => new ToolFailure({ message: error.message })),
        (results) => ({
          value: { results },
          result: { output: results.map((result) => `${result.title} (${result.url})`) }
        })
      )
    )
  )
]
