/**
 * The use cases of models.
 *
 * Source: api-v2.md "Connectors and models"; decisions.md §3 and §5.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { enforce, refusal } from "../access/Decision.ts"
import { CurrentPrincipal, type Principal } from "../access/Principal.ts"
import type { NotFound, PermissionDenied } from "../error/Failure.ts"
import { OrganizationStore } from "../organization/OrganizationStore.ts"
import { LanguageModels } from "./LanguageModels.ts"
import type { Model, ModelId } from "./Model.ts"
import { traced } from "../trace/Traced.ts"
import * as ModelPolicy from "./ModelPolicy.ts"
import { ModelStore } from "./ModelStore.ts"

/** A model that the caller may name, and whether it is what they get without naming one. */
export interface ChoosableModel {
  readonly model: Model
  readonly isDefault: boolean
}

/** The use cases of models. */
export class Models extends Context.Service<
  Models,
  {
    /** The models that the caller may choose. */
    readonly list: Effect.Effect<ReadonlyArray<ChoosableModel>, never, CurrentPrincipal>
    /** The model of a new chat of a principal: the one that it names, else its default. */
    readonly choose: (
      principal: Principal,
      named: ModelId | undefined
    ) => Effect.Effect<Model, PermissionDenied | NotFound>
    /** Whether a principal may go on with the model of a chat. */
    readonly permit: (principal: Principal, model: ModelId) => Effect.Effect<void, PermissionDenied | NotFound>
  }
>()("@castellan/core/model/Models") {}

/** The use cases over the models that are served. */
export const layer: Layer.Layer<Models, never, LanguageModels | ModelStore | OrganizationStore> = Layer.effect(
  Models,
  Effect.gen(function* () {
    const languageModels = yield* LanguageModels
    const store = yield* ModelStore
    const organizations = yield* OrganizationStore

    const factsOf = ({ organizationId, roles }: Principal): Effect.Effect<ModelPolicy.ModelFacts> =>
      Effect.flatMap(organizations.get(organizationId), (organization) =>
        Effect.map(store.numbered(organizationId, languageModels.served), (models) => ({
          models,
          roles,
          organizationDefault: Option.isSome(organization) ? organization.value.defaultModel : undefined
        }))
      )

    return Models.of({
      list: CurrentPrincipal.use((principal) =>
        Effect.map(factsOf(principal), (facts) => {
          const preset = ModelPolicy.defaultModel(facts)
          return ModelPolicy.choosable(facts).map((model) => ({ model, isDefault: model.id === preset?.id }))
        })
      ).pipe(traced("Models.list")),
      choose: Effect.fn("Models.choose")(function* (principal, named) {
        const chosen = ModelPolicy.choose(yield* factsOf(principal), named)
        return yield* Effect.fromResult(Result.mapError(chosen, refusal))
      }),
      permit: Effect.fn("Models.permit")(function* (principal, model) {
        yield* enforce(ModelPolicy.permits(yield* factsOf(principal), model))
      })
    })
  })
)
