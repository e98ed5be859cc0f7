/**
 * The operations of the organization: its settings.
 *
 * Source: decisions.md §3 ("a host's setting changes it", "settable per organization").
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { createErrors, listErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, reportingInput } from "../wire/Operation.ts"
import { OrganizationWire, UpdateOrganizationRequest } from "./OrganizationWire.ts"

const get = HttpApiEndpoint.get("get", "/", { success: OrganizationWire, error: listErrors }).annotateMerge(
  operation(
    "getOrganization",
    "Get the organization",
    "The caller's organization and its settings. It needs `organization:read`."
  )
)

const update = HttpApiEndpoint.patch("update", "/", {
  payload: UpdateOrganizationRequest,
  success: OrganizationWire,
  error: createErrors
}).annotateMerge(
  operation(
    "updateOrganization",
    "Update the organization",
    "Changes the name or the settings; what is absent stays. It needs `organization:write`."
  )
)

/** The operations of the organization. */
export class OrganizationGroup extends HttpApiGroup.make("organization")
  .add(get, update)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/organization")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(OpenApi.annotations({ title: "Organization", description: "The settings of the organization" })) {}
