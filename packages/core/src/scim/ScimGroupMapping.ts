/**
 * What a group of the organization's identity provider gives its members: a role.
 *
 * Source: api-v2.md (`MigrateAllScimGroupMappings`); decisions.md §9.
 */
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { RoleId } from "../role/Role.ts"

/** A mapping's id. */
export const ScimGroupMappingId = Uuid.pipe(Schema.brand("ScimGroupMappingId"))
export type ScimGroupMappingId = typeof ScimGroupMappingId.Type

/** The role that a group gives. */
export const ScimGroupTarget = Schema.TaggedUnion({
  /** Legacy: whatever role bears this name, if any does. Follows no renaming. */
  RoleName: { name: Schema.NonEmptyString },
  Role: { id: RoleId }
})
export type ScimGroupTarget = typeof ScimGroupTarget.Type

/** A mapping of one group. A group may give several roles, by a mapping for each. */
export class ScimGroupMapping extends Schema.Class<ScimGroupMapping>("@castellan/core/scim/ScimGroupMapping")({
  id: ScimGroupMappingId,
  organizationId: OrganizationId,
  /** The group, as the identity provider names it. */
  group: Schema.NonEmptyString,
  target: ScimGroupTarget,
  createdAt: Schema.DateTimeUtc,
  updatedAt: Schema.DateTimeUtc
}) {}
