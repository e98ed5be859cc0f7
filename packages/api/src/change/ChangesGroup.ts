/**
 * The operations of changes.
 *
 * Source: api-v2.md "Changes"; decisions.md §8.
 */
import { ChangeId } from "@castellan/core/change/Change"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { actErrors, listErrors, readErrors, writeErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, reportingInput } from "../wire/Operation.ts"
import { SuccessWire } from "../wire/Outcome.ts"
import { uuid } from "../wire/WireValue.ts"
import {
  ApprovalWire,
  ChangeListWire,
  ChangeWire,
  GetChangeQuery,
  ListChangesQuery,
  MovedChangeWire,
  ReviewRequest
} from "./ChangeWire.ts"

const params = { id: uuid(ChangeId, "The change's id") }

const list = HttpApiEndpoint.get("list", "/", {
  query: ListChangesQuery,
  success: ChangeListWire,
  error: listErrors
}).annotateMerge(
  operation(
    "listChanges",
    "List changes",
    "The changes that the caller may see, newest first: their own, and those that touch a path that they own."
  )
)

const get = HttpApiEndpoint.get("get", "/:id", {
  params,
  query: GetChangeQuery,
  success: ChangeWire,
  error: readErrors
}).annotateMerge(operation("getChange", "Get a change", "A change, by default its latest revision."))

const approve = HttpApiEndpoint.post("approve", "/:id/approve", {
  params,
  payload: ReviewRequest,
  success: ApprovalWire,
  error: writeErrors
}).annotateMerge(
  operation(
    "approveChange",
    "Approve a change",
    "Records the caller's approval of what they reviewed, and merges the change once every folder that it touches has its approvals. It needs authority over every path. Only an open change can be approved; conflicts at the merge answer 409."
  )
)

const deny = HttpApiEndpoint.post("deny", "/:id/deny", {
  params,
  payload: ReviewRequest,
  success: SuccessWire,
  error: writeErrors
}).annotateMerge(
  operation(
    "denyChange",
    "Deny a change",
    "Denies a change. The author may, and whoever has authority over every path. It can be restored."
  )
)

const restore = HttpApiEndpoint.post("restore", "/:id/restore", {
  params,
  payload: ReviewRequest,
  success: MovedChangeWire,
  error: writeErrors
}).annotateMerge(
  operation(
    "restoreChange",
    "Restore a change",
    "Makes a denied change what it was, open or a draft, without its approvals; conflicts are looked for again."
  )
)

const submit = HttpApiEndpoint.post("submit", "/:id/submit", {
  params,
  success: MovedChangeWire,
  error: actErrors
}).annotateMerge(operation("submitChange", "Submit a change", "Opens a draft for review. Only its author may."))

/** The operations of changes. */
export class ChangesGroup extends HttpApiGroup.make("changes")
  .add(list, get, approve, deny, restore, submit)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/changes")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(
    OpenApi.annotations({
      title: "Changes",
      description: "Reviewable modifications of the ontology and the context library"
    })
  ) {}
