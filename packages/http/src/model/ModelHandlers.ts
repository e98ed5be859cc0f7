/**
 * The operations of models, bound to their use cases.
 */
import { Api } from "@castellan/api/Api"
import { ofModels } from "@castellan/api/model/ModelWire"
import { Models } from "@castellan/core/model/Models"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as OperationServices from "../request/OperationServices.ts"

/** The operations of models. */
export const layer = HttpApiBuilder.group(Api, "models", (handlers) =>
  Effect.map(OperationServices.given(Models), (models) =>
    handlers.handle("list", () => Effect.map(models.list, ofModels))
  )
)
