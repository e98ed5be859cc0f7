/**
 * The operations of models.
 *
 * Source: api-v2.md "Connectors and models"; decisions.md §5.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { PermissionDeniedError } from "../error/ErrorEnvelope.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { ModelListWire } from "./ModelWire.ts"

const list = HttpApiEndpoint.get("list", "/", {
  success: ModelListWire,
  error: [PermissionDeniedError]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "listModels",
    summary: "List models",
    description: "The models that the caller may choose for a new chat, best first."
  })
)

/** The operations of models. */
export class ModelsGroup extends HttpApiGroup.make("models")
  .add(list)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/models")
  .annotateMerge(OpenApi.annotations({ title: "Models", description: "The language models that answer" })) {}
