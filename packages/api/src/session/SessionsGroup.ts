/**
 * The one operation of sessions.
 *
 * Source: decisions.md §3 (`POST /v2/sessions`).
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { ConflictError, PermissionDeniedError } from "../error/ErrorEnvelope.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, reportingInput } from "../wire/Operation.ts"
import { SessionWire } from "./SessionWire.ts"

const mint = HttpApiEndpoint.post("mint", "/", {
  success: SessionWire.pipe(HttpApiSchema.status(201)),
  error: [PermissionDeniedError, ConflictError]
}).annotateMerge(
  operation(
    "createSession",
    "Create a session",
    "Makes a token of 15 minutes with the caller's effective roles as they are now. A change of roles reaches it when it is renewed."
  )
)

/** The operations of sessions. */
export class SessionsGroup extends HttpApiGroup.make("sessions")
  .add(mint)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/sessions")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(OpenApi.annotations({ title: "Sessions", description: "Short-lived credentials of browsers" })) {}
