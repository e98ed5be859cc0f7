/**
 * The one operation of the audit log.
 *
 * Source: decisions.md §3 (`GET /v2/audit-events`).
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { listErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, reportingInput } from "../wire/Operation.ts"
import { AuditEventListWire, ListAuditEventsQuery } from "./AuditWire.ts"

const list = HttpApiEndpoint.get("list", "/", {
  query: ListAuditEventsQuery,
  success: AuditEventListWire,
  error: listErrors
}).annotateMerge(
  operation(
    "listAuditEvents",
    "List audit events",
    "Who did what to which thing, newest first, refusals among it. It needs `audit:read`. The log is only ever added to."
  )
)

/** The operations of the audit log. */
export class AuditEventsGroup extends HttpApiGroup.make("auditEvents")
  .add(list)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/audit-events")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(OpenApi.annotations({ title: "Audit", description: "Who did what" })) {}
