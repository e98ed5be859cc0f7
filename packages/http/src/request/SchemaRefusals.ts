/**
 * Answers for requests that the contract's schemas refuse.
 *
 * Source: decisions.md §1.
 */
import { refusal, SchemaErrors } from "@castellan/api/error/SchemaErrors"
import * as Effect from "effect/Effect"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type * as Layer from "effect/Layer"

/** The contract's middleware for refused requests. */
export const layer: Layer.Layer<SchemaErrors> = HttpApiMiddleware.layerSchemaErrorTransform(SchemaErrors, (error) => {
  const refused = refusal(error)
  // A response that does not fit its own schema is a defect of this server, not of the request.
  return refused === undefined ? Effect.die(error) : Effect.fail(refused)
})
