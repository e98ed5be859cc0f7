/**
 * Models on the wire.
 *
 * Source: decisions.md §5 (`GET /v2/models`).
 */
import { ModelId, ModelNumber } from "@castellan/core/model/Model"
import type { ChoosableModel } from "@castellan/core/model/Models"
import * as Schema from "effect/Schema"
import { flag, text } from "../wire/WireValue.ts"

/** A model that the caller may choose. */
export const ModelWire = Schema.Struct({
  id: ModelId.annotate({ description: "The id that `model` takes" }),
  model_id: ModelNumber.annotate({ description: "The number that a role's configuration refers to" }),
  provider: text("Who serves the model"),
  name: text("The name to show"),
  supports_fast_mode: flag("Whether the model has a faster mode"),
  default: flag("Whether a chat gets this model when none is named")
}).annotate({ identifier: "Model", description: "A model that the caller may choose" })
export type ModelWire = typeof ModelWire.Type

/** The list of models. */
export const ModelListWire = Schema.Struct({
  models: Schema.Array(ModelWire).annotate({ description: "The models, best first" })
}).annotate({ identifier: "ModelList", description: "The models that the caller may choose" })
export type ModelListWire = typeof ModelListWire.Type

/** A model as the wire shows it. */
export const ofModel = ({ isDefault, model }: ChoosableModel): ModelWire => ({
  id: model.id,
  model_id: model.number,
  provider: model.provider,
  name: model.name,
  supports_fast_mode: model.supportsFastMode,
  default: isDefault
})

/** The list of models as the wire shows it. */
export const ofModels = (models: ReadonlyArray<ChoosableModel>): ModelListWire => ({ models: models.map(ofModel) })
