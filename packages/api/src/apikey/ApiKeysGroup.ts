/**
 * The operations of API keys.
 *
 * Source: api-v2.md "API keys"; decisions.md §3.
 */
import { ApiKeyId } from "@castellan/core/apikey/ApiKey"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { InvalidRequestError } from "../error/ErrorEnvelope.ts"
import { actErrors, listErrors, writeErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, optionalBody, reportingInput } from "../wire/Operation.ts"
import { uuid } from "../wire/WireValue.ts"
import {
  ApiKeyListWire,
  ApiKeyRevocationWire,
  ListApiKeysQuery,
  MintApiKeyRequest,
  MintedApiKeyWire,
  RotateApiKeyRequest,
  RotatedApiKeyWire
} from "./ApiKeyWire.ts"

const params = { id: uuid(ApiKeyId, "The key's id") }

const mint = HttpApiEndpoint.post("mint", "/", {
  payload: MintApiKeyRequest,
  success: MintedApiKeyWire.pipe(HttpApiSchema.status(201)),
  error: writeErrors
}).annotateMerge(
  operation(
    "createApiKey",
    "Create an API key",
    "Makes a key whose roles are chosen once and never grow; on every request they count as far as its owner still holds them. The answer alone holds the key's value: only its hash is kept."
  )
)

const list = HttpApiEndpoint.get("list", "/", {
  query: ListApiKeysQuery,
  success: ApiKeyListWire,
  error: listErrors
}).annotateMerge(
  operation(
    "listApiKeys",
    "List API keys",
    "The keys that the caller may see, newest first: their own, and with `organization:read` those of the whole organization."
  )
)

const revoke = HttpApiEndpoint.delete("revoke", "/:id", {
  params,
  success: ApiKeyRevocationWire,
  error: [InvalidRequestError, ...actErrors]
}).annotateMerge(
  operation(
    "revokeApiKey",
    "Revoke an API key",
    "Ends a key at once and for good. Another member's key needs `organization:write`. A key that is revoked already is refused with 400."
  )
)

const rotate = HttpApiEndpoint.post("rotate", "/:id/rotate", {
  params,
  payload: optionalBody(RotateApiKeyRequest),
  success: RotatedApiKeyWire,
  error: writeErrors
}).annotateMerge(
  operation(
    "rotateApiKey",
    "Rotate an API key",
    "Makes a key with the same owner, name, roles, metadata, flags and remaining lifetime, and revokes the old one, at once or after `graceSeconds`."
  )
)

/** The operations of API keys. */
export class ApiKeysGroup extends HttpApiGroup.make("apiKeys")
  .add(mint, list, revoke, rotate)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/api-keys")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(OpenApi.annotations({ title: "API Keys", description: "Credentials of programs" })) {}
