/**
 * The operations of roles.
 *
 * Source: api-v2.md "Roles"; decisions.md §3 ("Role and member administration").
 */
import { RoleId } from "@castellan/core/role/Role"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { actErrors, createErrors, listErrors, readErrors, writeErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, reportingInput } from "../wire/Operation.ts"
import { uuid } from "../wire/WireValue.ts"
import {
  CreateRoleRequest,
  ReplaceRolePermissionsRequest,
  RoleDeletionWire,
  RoleListWire,
  RolePermissionsWire,
  RoleWire,
  UpdateRoleRequest
} from "./RoleWire.ts"

const params = { id: uuid(RoleId, "The role's id") }

const list = HttpApiEndpoint.get("list", "/", { success: RoleListWire, error: listErrors }).annotateMerge(
  operation("listRoles", "List roles", "The roles of the organization, in the order of creation.")
)

const create = HttpApiEndpoint.post("create", "/", {
  payload: CreateRoleRequest,
  success: RoleWire.pipe(HttpApiSchema.status(201)),
  error: createErrors
}).annotateMerge(
  operation("createRole", "Create a role", "Makes a role without a permission. It needs the permission `role:write`.")
)

const get = HttpApiEndpoint.get("get", "/:id", { params, success: RoleWire, error: readErrors }).annotateMerge(
  operation("getRole", "Get a role", "A role with its model configuration.")
)

const update = HttpApiEndpoint.patch("update", "/:id", {
  params,
  payload: UpdateRoleRequest,
  success: RoleWire,
  error: writeErrors
}).annotateMerge(
  operation(
    "updateRole",
    "Update a role",
    "Changes the name, the description or the model configuration; what is absent stays. The name of a built-in role cannot be changed, nor the name and the description of one that the identity provider keeps; their model configuration can."
  )
)

const remove = HttpApiEndpoint.delete("delete", "/:id", {
  params,
  success: RoleDeletionWire,
  error: actErrors
}).annotateMerge(
  operation(
    "deleteRole",
    "Delete a role",
    "Deletes a role. Whoever held it holds it no longer, and keys that assumed it lose it. A built-in role cannot be deleted."
  )
)

const getPermissions = HttpApiEndpoint.get("getPermissions", "/:id/permissions", {
  params,
  success: RolePermissionsWire,
  error: readErrors
}).annotateMerge(operation("getRolePermissions", "Get the permissions of a role", "What the role lets its holders do."))

const replacePermissions = HttpApiEndpoint.put("replacePermissions", "/:id/permissions", {
  params,
  payload: ReplaceRolePermissionsRequest,
  success: RolePermissionsWire,
  error: writeErrors
}).annotateMerge(
  operation(
    "replaceRolePermissions",
    "Replace the permissions of a role",
    "Sets every permission of the role at once. Nobody grants a permission that they do not hold. Those of a built-in role cannot be changed."
  )
)

/** The operations of roles. */
export class RolesGroup extends HttpApiGroup.make("roles")
  .add(list, create, get, update, remove, getPermissions, replacePermissions)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/roles")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(OpenApi.annotations({ title: "Roles", description: "Named sets of permissions" })) {}
