/**
 * The port that turns a chart specification into pictures.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ResultTable } from "../connector/ResultTable.ts"

/** A Vega-Lite specification is not valid, or reaches for something other than the data it was given. */
export class ChartSpecificationInvalid extends Schema.TaggedError<ChartSpecificationInvalid>()(
  "ChartSpecificationInvalid",
  {
    /** What is wrong and where in the specification, fit for the model that wrote it. */
    message: Schema.String
  }
) {}

/** A chart, rendered. */
export interface RenderedChart {
  /** The full Vega-Lite specification with its data inside and Castellan's theme applied: it stands alone. */
  readonly specification: string
  readonly svg: string
  /** PNG bytes at twice the logical size. */
  readonly png: Uint8Array
}

/** A way to draw charts without a browser and without a network. */
export class ChartRenderer extends Context.Service<
  ChartRenderer,
  {
    /**
     * Validates a Vega-Lite specification (without `data`: the result is bound to it) and renders it. Refuses
     * external data, images, links and expressions that reach outside.
     */
    readonly render: (
      specification: unknown,
      data: ResultTable
    ) => Effect.Effect<RenderedChart, ChartSpecificationInvalid>
  }
>()("@castellan/core/asset/ChartRenderer") {}
