/**
 * The operations of playbooks.
 *
 * Source: api-v2.md "Playbooks"; decisions.md §6.
 */
import { PlaybookId } from "@castellan/core/playbook/Playbook"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { ConflictError, NoReportError, PermissionDeniedError } from "../error/ErrorEnvelope.ts"
import { actErrors, listErrors, readErrors, runErrors, writeErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, optionalBody, reportingInput } from "../wire/Operation.ts"
import { uuid } from "../wire/WireValue.ts"
import {
  ListPlaybookRunsQuery,
  PlaybookResultWire,
  PlaybookRunListWire,
  PlaybookValidationWire,
  RunPlaybookRequest
} from "./PlaybookRunWire.ts"
import {
  ListPlaybooksQuery,
  ListReportsQuery,
  PlaybookDeletionWire,
  PlaybookDeploymentWire,
  PlaybookListWire,
  PlaybookUndeploymentWire,
  PlaybookViewWire,
  PlaybookWire,
  UpdatePlaybookRequest
} from "./PlaybookWire.ts"

const params = { id: uuid(PlaybookId, "The playbook's id") }

const create = HttpApiEndpoint.post("create", "/", {
  success: PlaybookWire.pipe(HttpApiSchema.status(201)),
  error: [PermissionDeniedError, ConflictError]
}).annotateMerge(operation("createPlaybook", "Create a playbook", "Makes an empty playbook, a draft."))

const list = HttpApiEndpoint.get("list", "/", {
  query: ListPlaybooksQuery,
  success: PlaybookListWire,
  error: listErrors
}).annotateMerge(
  operation(
    "listPlaybooks",
    "List playbooks",
    "The playbooks that the caller may read, by default the one that changed last first."
  )
)

const get = HttpApiEndpoint.get("get", "/:id", {
  params,
  query: ListReportsQuery,
  success: PlaybookViewWire,
  error: readErrors
}).annotateMerge(operation("getPlaybook", "Get a playbook", "A playbook with a page of its reports, newest first."))

const update = HttpApiEndpoint.patch("update", "/:id", {
  params,
  payload: UpdatePlaybookRequest,
  success: PlaybookWire,
  error: writeErrors
}).annotateMerge(
  operation(
    "updatePlaybook",
    "Update a playbook",
    "Changes the configuration: what is omitted stays, an empty text or list clears."
  )
)

const remove = HttpApiEndpoint.delete("delete", "/:id", {
  params,
  success: PlaybookDeletionWire,
  error: actErrors
}).annotateMerge(operation("deletePlaybook", "Delete a playbook", "Deletes a playbook, and ends its schedule."))

const deploy = HttpApiEndpoint.post("deploy", "/:id/deploy", {
  params,
  success: PlaybookDeploymentWire,
  error: actErrors
}).annotateMerge(
  operation("deployPlaybook", "Deploy a playbook", "Makes the playbook active: its schedule is in force from now on.")
)

const undeploy = HttpApiEndpoint.post("undeploy", "/:id/undeploy", {
  params,
  success: PlaybookUndeploymentWire,
  error: actErrors
}).annotateMerge(
  operation("undeployPlaybook", "Undeploy a playbook", "Makes the playbook a draft again: its schedule rests.")
)

const run = HttpApiEndpoint.post("run", "/:id/run", {
  params,
  payload: optionalBody(RunPlaybookRequest),
  success: [PlaybookResultWire, PlaybookValidationWire],
  error: [...runErrors, NoReportError]
}).annotateMerge(
  operation(
    "runPlaybook",
    "Run a playbook",
    "Runs the playbook, and answers with the report when the run has ended. A run that finished without a report is `no_report`, one that failed `execution_failed`, one past its limit `timeout`. With `dry_run` it only says whether the playbook could run."
  )
)

const listRuns = HttpApiEndpoint.get("listRuns", "/:id/runs", {
  params,
  query: ListPlaybookRunsQuery,
  success: PlaybookRunListWire,
  error: readErrors
}).annotateMerge(
  operation(
    "listPlaybookRuns",
    "List the runs of a playbook",
    "Every run with what started it, how it ended, and where its report went, newest first."
  )
)

/** The operations of playbooks. */
export class PlaybooksGroup extends HttpApiGroup.make("playbooks")
  .add(create, list, get, update, remove, deploy, undeploy, run, listRuns)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/playbooks")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(
    OpenApi.annotations({ title: "Playbooks", description: "Saved prompts that run on a schedule and report" })
  ) {}
