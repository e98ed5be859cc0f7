/**
 * What models cost, where a host has said so. Costs are whole millionths of the host's currency, so that sums are
 * exact in any order.
 *
 * Source: decisions.md §4 ("cost where a price is configured").
 */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import type { ModelId } from "../model/Model.ts"

/** An amount of money in millionths of the host's currency. */
export const Micros = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).pipe(Schema.brand("Micros"))
export type Micros = typeof Micros.Type

const Price = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** A model's price: units of the host's currency for a million tokens, which is millionths for one. */
export const ModelPrice = Schema.Struct({ input: Price, output: Price })
export type ModelPrice = typeof ModelPrice.Type

/** The prices by model; a model that is not in it costs nothing that is known. A host provides its own. */
export const ModelPrices = Context.Reference<ReadonlyMap<ModelId, ModelPrice>>("@castellan/core/usage/ModelPrices", {
  defaultValue: () => new Map()
})

/** The cost of some tokens at a price, to the nearest millionth. */
export const costOf = (
  tokens: { readonly inputTokens: number; readonly outputTokens: number },
  price: ModelPrice
): Micros => Micros.make(Math.round(tokens.inputTokens * price.input + tokens.outputTokens * price.output))
