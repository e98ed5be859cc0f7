/**
 * The port that keeps the models of organizations, with the numbers by which role configuration refers to them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { ServedModel } from "./LanguageModels.ts"
import { Model, type ModelId, ModelNumber } from "./Model.ts"

/** Keeps the numbers of models. */
export class ModelStore extends Context.Service<
  ModelStore,
  {
    /**
     * The served models with their numbers, in the order given. A model that has none yet gets the next free one,
     * and keeps it for good.
     */
    readonly numbered: (
      organizationId: OrganizationId,
      served: ReadonlyArray<ServedModel>
    ) => Effect.Effect<ReadonlyArray<Model>>
  }
>()("@castellan/core/model/ModelStore") {}

/** A model with what it was made of: the same served model is not made, and so not checked, again. */
interface Numbered {
  readonly served: ServedModel
  readonly model: Model
}

/** Keeps the numbers of models in memory. */
export const layerMemory: Layer.Layer<ModelStore> = Layer.effect(
  ModelStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<OrganizationId, ReadonlyMap<ModelId, Numbered>>()
    return ModelStore.of({
      numbered: (organizationId, served) =>
        table.modify((rows) => {
          const before = rows.get(organizationId)
          let after: Map<ModelId, Numbered> | undefined
          const models = served.map((one) => {
            const kept = (after ?? before)?.get(one.id)
            if (kept?.served === one) return kept.model
            after ??= new Map(before)
            const model = new Model({ ...one, number: kept?.model.number ?? ModelNumber.make(after.size + 1) })
            after.set(one.id, { served: one, model })
            return model
          })
          return [models, after === undefined ? [] : [[organizationId, after]]]
        })
    })
  })
)
