/**
 * The operations of folder policies.
 *
 * Source: decisions.md §8 (`GET|PUT|DELETE /v2/folder-policies`).
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { ConflictError, InvalidRequestError, NotFoundError, PermissionDeniedError } from "../error/ErrorEnvelope.ts"
import { createErrors, listErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, reportingInput } from "../wire/Operation.ts"
import {
  DeleteFolderPolicyQuery,
  FolderPolicyDeletionWire,
  FolderPolicyListWire,
  FolderPolicyWire,
  SaveFolderPolicyRequest
} from "./FolderPolicyWire.ts"

const list = HttpApiEndpoint.get("list", "/", { success: FolderPolicyListWire, error: listErrors }).annotateMerge(
  operation(
    "listFolderPolicies",
    "List folder policies",
    "Who owns which folder of the library, and how many must approve a change there."
  )
)

const save = HttpApiEndpoint.put("save", "/", {
  payload: SaveFolderPolicyRequest,
  success: FolderPolicyWire,
  error: createErrors
}).annotateMerge(
  operation(
    "saveFolderPolicy",
    "Save a folder policy",
    "Sets the policy of a folder, in place of the one that it has. What nobody could ever meet is reported in `warnings`."
  )
)

const remove = HttpApiEndpoint.delete("delete", "/", {
  query: DeleteFolderPolicyQuery,
  success: FolderPolicyDeletionWire,
  error: [InvalidRequestError, PermissionDeniedError, NotFoundError, ConflictError]
}).annotateMerge(
  operation(
    "deleteFolderPolicy",
    "Delete a folder policy",
    "Deletes the policy of a folder: the nearest one above governs it from now on. The library's own cannot be deleted."
  )
)

/** The operations of folder policies. */
export class FolderPoliciesGroup extends HttpApiGroup.make("folderPolicies")
  .add(list, save, remove)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/folder-policies")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(
    OpenApi.annotations({ title: "Folder Policies", description: "Who owns and approves what in the library" })
  ) {}
