/**
 * Answers for requests that the contract's schemas refuse.
 *
 * Source: decisions.md §1.
 */
import { refusal, SchemaErrors } from "@castellan/api/error/SchemaErrors"
import type { Authentication } from "@castellan/core/access/Authentication"
import * as Effect from "effect/Effect"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import { HttpApiSchemaError } from "effect/http-api/HttpApiError"
import * as Layer from "effect/Layer"
import type { Admission } from "./Admission.ts"
import * as AdmittedOperations from "./AdmittedOperations.ts"
import * as JsonDepth from "./JsonDepth.ts"

/** What an operation is carried out by, with its refusals in the terms of the middleware that they are answered by. */
export const answering =
  <Refusal>(inTerms: (error: HttpApiSchemaError) => Refusal | undefined) =>
  <A, E, R>(operation: Effect.Effect<A, E, R>, { endpoint }: { readonly endpoint: HttpApiEndpoint.Top }) =>
    Effect.catch(JsonDepth.bounded(operation, endpoint), (error): Effect.Effect<never, E | Refusal> => {
      if (!HttpApiSchemaError.is(error)) return Effect.fail(error)
      const refused = inTerms(error)
      // A response that does not fit its own schema is a defect of this server, not of the request.
      return refused === undefined ? Effect.die(error) : Effect.fail(refused)
    })

/** The contract's middleware for refused requests. What it is around is what an operation is admitted to. */
export const layer: Layer.Layer<
  SchemaErrors,
  never,
  AdmittedOperations.AdmittedOperations | Admission | Authentication
> = Layer.effect(
  SchemaErrors,
  Effect.map(AdmittedOperations.taking, (take) =>
    SchemaErrors.of((operation, { endpoint }) => {
      const answered = answering(refusal)(operation, { endpoint })
      take(endpoint, answered)
      return answered
    })
  )
)
