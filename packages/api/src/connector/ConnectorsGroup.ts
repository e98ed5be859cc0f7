/**
 * The operations of connectors.
 *
 * Source: api-v2.md "Connectors and models"; decisions.md §5.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { PermissionDeniedError } from "../error/ErrorEnvelope.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { ConnectorListWire } from "./ConnectorWire.ts"

const list = HttpApiEndpoint.get("list", "/", {
  success: ConnectorListWire,
  error: [PermissionDeniedError]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "listConnectors",
    summary: "List connectors",
    description: "The data sources that the caller may use, in the order of their ids."
  })
)

/** The operations of connectors. */
export class ConnectorsGroup extends HttpApiGroup.make("connectors")
  .add(list)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/connectors")
  .annotateMerge(
    OpenApi.annotations({ title: "Connectors", description: "The data sources that answers come from" })
  ) {}
