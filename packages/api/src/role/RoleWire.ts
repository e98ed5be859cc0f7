/**
 * Roles on the wire.
 *
 * Source: api-v2.md "Role", "Roles"; decisions.md §3 ("Role and member administration", "Model configuration").
 */
import { ModelNumber } from "@castellan/core/model/Model"
import { Permission } from "@castellan/core/role/Permission"
import { type Role, RoleId } from "@castellan/core/role/Role"
import type { RolePatch } from "@castellan/core/role/RolePatch"
import * as Schema from "effect/Schema"
import {
  boundedText,
  flag,
  integerBetween,
  listOf,
  modelNumber,
  modelNumberOrNone,
  text,
  timestamp,
  uuid
} from "../wire/WireValue.ts"

/** A role. */
export const RoleWire = Schema.Struct({
  id: uuid(RoleId, "The role's id"),
  name: text("The role's name"),
  description: text("What the role is for; may be empty"),
  is_system: flag("Whether the role is built in: `admin` or `member`"),
  is_scim_managed: flag("Whether the organization's identity provider keeps the role"),
  default_model_id: Schema.optionalKey(
    ModelNumber.annotate({ description: "The model of members who name none; absent where the role sets none" })
  ),
  allowed_model_ids: Schema.optionalKey(
    Schema.Array(ModelNumber).annotate({ description: "The only models that members may use; absent, every model" })
  ),
  allow_model_choice: flag("Whether members may name a model for each chat"),
  created_at: timestamp("When the role was made"),
  updated_at: timestamp("When the role was last changed")
}).annotate({ identifier: "Role", description: "A named set of permissions" })
export type RoleWire = typeof RoleWire.Type

/** The roles of the organization. */
export const RoleListWire = Schema.Struct({
  roles: Schema.Array(RoleWire).annotate({ description: "The roles, in the order of creation" })
}).annotate({ identifier: "RoleList", description: "The roles of the organization" })
export type RoleListWire = typeof RoleListWire.Type

/** The permissions of a role. */
export const RolePermissionsWire = Schema.Struct({
  permissions: Schema.Array(Permission).annotate({ description: "The permissions, each `resource:verb`" })
}).annotate({ identifier: "RolePermissions", description: "The permissions of a role" })
export type RolePermissionsWire = typeof RolePermissionsWire.Type

/** What became of a role that was deleted. */
export const RoleDeletionWire = Schema.Struct({
  id: uuid(RoleId, "The role that was deleted"),
  success: flag("Always true")
}).annotate({ identifier: "RoleDeletion", description: "A role was deleted" })
export type RoleDeletionWire = typeof RoleDeletionWire.Type

const name = boundedText({ minimum: 1, maximum: 100 }, "The role's name")
const description = boundedText({ minimum: 0, maximum: 1_000 }, "What the role is for")

/** A role to be made. It starts with no permission. */
export const CreateRoleRequest = Schema.Struct({
  name,
  description: Schema.optionalKey(description)
}).annotate({
  identifier: "CreateRoleRequest",
  description: "A role to be made. It starts with no permission",
  message: "must be a JSON object"
})
export type CreateRoleRequest = typeof CreateRoleRequest.Type

/** What to change of a role; what is absent stays. */
export const UpdateRoleRequest = Schema.Struct({
  name: Schema.optionalKey(name),
  description: Schema.optionalKey(description),
  default_model_id: Schema.optionalKey(
    integerBetween(0, 2_147_483_647, "The model of members who name none, by its `model_id`; 0 clears it")
  ),
  allowed_model_ids: Schema.optionalKey(
    listOf(
      modelNumber("A model, by its `model_id`"),
      { maximum: 1_000 },
      "model ids",
      "The only models that members may use"
    )
  ),
  allow_model_choice: Schema.optionalKey(flag("Whether members may name a model for each chat")),
  clear_allowed_model_ids: Schema.optionalKey(flag("True allows every model again"))
}).annotate({
  identifier: "UpdateRoleRequest",
  description: "What to change of a role; what is absent stays",
  message: "must be a JSON object"
})
export type UpdateRoleRequest = typeof UpdateRoleRequest.Type

/** Every permission that a role shall have. */
export const ReplaceRolePermissionsRequest = Schema.Struct({
  permissions: listOf(
    Permission.annotate({ message: "must be a permission, such as chat:read", description: "A permission" }),
    { maximum: 100 },
    "permissions",
    "Every permission that the role shall have, each `resource:verb`"
  )
}).annotate({
  identifier: "ReplaceRolePermissionsRequest",
  description: "Every permission that the role shall have",
  message: "must be a JSON object"
})
export type ReplaceRolePermissionsRequest = typeof ReplaceRolePermissionsRequest.Type

/** The change of a request, in the domain's terms. */
export const toRolePatch = (request: UpdateRoleRequest): RolePatch => ({
  ...(request.name === undefined ? {} : { name: request.name }),
  ...(request.description === undefined ? {} : { description: request.description }),
  ...(request.default_model_id === undefined ? {} : { defaultModel: modelNumberOrNone(request.default_model_id) }),
  ...(request.allowed_model_ids === undefined ? {} : { allowedModels: request.allowed_model_ids }),
  ...(request.clear_allowed_model_ids === undefined ? {} : { clearAllowedModels: request.clear_allowed_model_ids }),
  ...(request.allow_model_choice === undefined ? {} : { allowModelChoice: request.allow_model_choice })
})

/** A role as the wire shows it. */
export const ofRole = (role: Role): RoleWire => ({
  id: role.id,
  name: role.name,
  description: role.description,
  is_system: role.origin._tag === "System",
  is_scim_managed: role.origin._tag === "Scim",
  ...(role.models.defaultModel === undefined ? {} : { default_model_id: role.models.defaultModel }),
  ...(role.models.allowedModels === undefined ? {} : { allowed_model_ids: role.models.allowedModels }),
  allow_model_choice: role.models.allowModelChoice,
  created_at: role.createdAt,
  updated_at: role.updatedAt
})

/** The roles as the wire shows them. */
export const ofRoles = (roles: ReadonlyArray<Role>): RoleListWire => ({ roles: roles.map(ofRole) })

/** The permissions of a role as the wire shows them. */
export const ofPermissions = (role: Role): RolePermissionsWire => ({ permissions: role.permissions })
