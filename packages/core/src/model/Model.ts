/**
 * A language model that members may choose.
 *
 * Source: decisions.md §5 (`GET /v2/models`).
 */
import * as Schema from "effect/Schema"

/** A model's id on the wire, such as `offline/analyst-1`. */
export const ModelId = Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{1,200}$/, { title: "a model id" })).pipe(
  Schema.brand("ModelId")
)
export type ModelId = typeof ModelId.Type

/** The number by which role configuration refers to a model. 0 is never one: on the wire it clears a default. */
export const ModelNumber = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 })).pipe(
  Schema.brand("ModelNumber")
)
export type ModelNumber = typeof ModelNumber.Type

/** A language model of an organization. */
export class Model extends Schema.Class<Model>("@castellan/core/model/Model")({
  id: ModelId,
  number: ModelNumber,
  provider: Schema.NonEmptyString,
  name: Schema.NonEmptyString,
  supportsFastMode: Schema.Boolean
}) {}
