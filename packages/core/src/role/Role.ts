/**
 * A role: a named set of permissions, with the models that its members may use.
 *
 * Source: api-v2.md "Role"; decisions.md §3.
 */
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"
import { ModelNumber } from "../model/Model.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { Permission } from "./Permission.ts"

/** A role's id. */
export const RoleId = Uuid.pipe(Schema.brand("RoleId"))
export type RoleId = typeof RoleId.Type

/** A role's name, unique in its organization. Roles that exist may bear any other; new names keep to this. */
export const RoleName = Schema.Trimmed.check(Schema.isNonEmpty(), Schema.isMaxLength(100))

/** Characters of a role's description at most. */
export const maxDescriptionLength = 1000

/** The models that members of a role may use. */
export const ModelConfiguration = Schema.Struct({
  /** The model of a chat whose caller names none. */
  defaultModel: Schema.optionalKey(ModelNumber),
  /** The only models that members may use; absent: every model. */
  allowedModels: Schema.optionalKey(Schema.Array(ModelNumber)),
  /** Whether members may name a model for each chat. */
  allowModelChoice: Schema.Boolean
})
export type ModelConfiguration = typeof ModelConfiguration.Type

/** Where a role comes from, and so who may change it. */
export const RoleOrigin = Schema.TaggedUnion({
  /** Built in: cannot be renamed, re-permissioned or deleted. */
  System: { name: Schema.Literals(["admin", "member"]) },
  /** Made by an administrator. */
  Custom: {},
  /** Kept by the organization's identity provider: its name and description cannot be changed here. */
  Scim: {}
})
export type RoleOrigin = typeof RoleOrigin.Type

/** A role of an organization. */
export class Role extends Schema.Class<Role>("@castellan/core/role/Role")({
  id: RoleId,
  organizationId: OrganizationId,
  name: Schema.NonEmptyString,
  description: Schema.String,
  origin: RoleOrigin,
  permissions: Schema.Array(Permission),
  models: ModelConfiguration,
  createdAt: Schema.DateTimeUtc,
  updatedAt: Schema.DateTimeUtc
}) {
  /** True for the built-in role that holds every permission. */
  get isAdmin(): boolean {
    return this.origin._tag === "System" && this.origin.name === "admin"
  }
}
