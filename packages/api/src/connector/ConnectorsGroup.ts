/**
 * The operations of connectors and of their row policies.
 *
 * Source: api-v2.md "Connectors and models"; decisions.md §5.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { actErrors, createErrors, listErrors, readErrors, writeErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, reportingInput } from "../wire/Operation.ts"
import { connectorIdInPath } from "../wire/WireValue.ts"
import { CreateConnectorRequest, TestConnectorRequest, UpdateConnectorRequest } from "./ConnectorRequest.ts"
import {
  ConnectorDeletionWire,
  ConnectorListWire,
  ConnectorTestWire,
  ConnectorTypeListWire,
  ConnectorWire
} from "./ConnectorWire.ts"
import { ReplaceRowPoliciesRequest, RowPolicyListWire } from "./RowPolicyWire.ts"

const params = { id: connectorIdInPath }

const list = HttpApiEndpoint.get("list", "/", { success: ConnectorListWire, error: listErrors }).annotateMerge(
  operation("listConnectors", "List connectors", "The data sources that the caller may use, in the order of their ids.")
)

const types = HttpApiEndpoint.get("types", "/types", {
  success: ConnectorTypeListWire,
  error: listErrors
}).annotateMerge(
  operation(
    "listConnectorTypes",
    "List the kinds of source",
    "The kinds of source that this deployment serves, and what each wants to be told."
  )
)

const create = HttpApiEndpoint.post("create", "/", {
  payload: CreateConnectorRequest,
  success: ConnectorWire.pipe(HttpApiSchema.status(201)),
  error: createErrors
}).annotateMerge(
  operation(
    "createConnector",
    "Create a connector",
    "Makes a connector. Its secret is kept encrypted, and no answer ever holds it. It needs `connector:write`."
  )
)

const test = HttpApiEndpoint.post("test", "/test", {
  payload: TestConnectorRequest,
  success: ConnectorTestWire,
  error: createErrors
}).annotateMerge(
  operation(
    "testConnector",
    "Try a source",
    "Says whether a source can be reached as it is described, and keeps nothing of it. It needs `connector:write`."
  )
)

const update = HttpApiEndpoint.patch("update", "/:id", {
  params,
  payload: UpdateConnectorRequest,
  success: ConnectorWire,
  error: writeErrors
}).annotateMerge(
  operation(
    "updateConnector",
    "Update a connector",
    "Changes the name, the description, where the data are, or the secret; what is absent stays."
  )
)

const remove = HttpApiEndpoint.delete("delete", "/:id", {
  params,
  success: ConnectorDeletionWire,
  error: actErrors
}).annotateMerge(
  operation("deleteConnector", "Delete a connector", "Deletes a connector with its secret and its row policies.")
)

const listRowPolicies = HttpApiEndpoint.get("listRowPolicies", "/:id/row-policies", {
  params,
  success: RowPolicyListWire,
  error: readErrors
}).annotateMerge(
  operation("listRowPolicies", "List the row policies of a connector", "Which rows of its tables callers see.")
)

const replaceRowPolicies = HttpApiEndpoint.put("replaceRowPolicies", "/:id/row-policies", {
  params,
  payload: ReplaceRowPoliciesRequest,
  success: RowPolicyListWire,
  error: writeErrors
}).annotateMerge(
  operation(
    "replaceRowPolicies",
    "Replace the row policies of a connector",
    "Sets every row policy of the connector at once. A query that a policy cannot be applied to fails, and never runs unfiltered."
  )
)

/** The operations of connectors. */
export class ConnectorsGroup extends HttpApiGroup.make("connectors")
  .add(list, types, create, test, update, remove, listRowPolicies, replaceRowPolicies)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/connectors")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(
    OpenApi.annotations({ title: "Connectors", description: "The data sources that answers come from" })
  ) {}
