/**
 * What becomes of a request that its schemas refuse: a malformed id in a path reads as not found, everything else is
 * an invalid request whose message names the field and the rule.
 *
 * Path parameters keep their real schema, so that the OpenAPI document says `uuid`; it is the kind of the failure, not
 * the schema, that makes it a 404.
 *
 * Source: decisions.md §1 ("A malformed id in a path reads as not found", "names the field and the rule").
 */
import { defaultMessage, InvalidRequest, NotFound } from "@castellan/core/error/Failure"
import type * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { InternalError, InvalidRequestError, NotFoundError } from "./ErrorEnvelope.ts"
import * as InvalidRequestMessage from "./InvalidRequestMessage.ts"

/** The middleware that answers for a request that its schemas refuse. It is implemented in `@castellan/http`. */
export class SchemaErrors extends HttpApiMiddleware.Service<SchemaErrors>()("@castellan/api/error/SchemaErrors", {
  error: [InvalidRequestError, NotFoundError, InternalError]
}) {}

/**
 * The refusal of a request that its schemas did not take; nothing when it is the server's own answer that its schema
 * did not take, which is a defect of the server.
 */
export const refusal = (error: HttpApiError.HttpApiSchemaError): InvalidRequest | NotFound | undefined => {
  switch (error.kind) {
    case "Params":
      return new NotFound({ message: defaultMessage.not_found })
    case "Headers":
    case "Query":
    case "Payload":
      return new InvalidRequest({ message: InvalidRequestMessage.format(error.cause.issue) })
    case "Body":
    case "ResponseHeaders":
      return undefined
  }
}
