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

/** Keeps the numbers of models in memory. */
export const layerMemory: Layer.Layer<ModelStore> = Layer.effect(
  ModelStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<OrganizationId, ReadonlyMap<ModelId, ModelNumber>>()
    return ModelStore.of({
      numbered: (organizationId, served) =>
        table.modify((rows) => {
          const numbers = new Map(rows.get(organizationId))
          const models = served.map((model) => {
            const number = numbers.get(model.id) ?? ModelNumber.make(numbers.size + 1)
            numbers.set(model.id, number)
            return new Model({ ...model, number })
          })
          return [models, [[organizationId, numbers]]]
        })
    })
  })
)
