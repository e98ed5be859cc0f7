/**
 * What can become of a role, by where it comes from. Every pair of origin and event has an answer; an illegal one is a
 * refusal that says the origin.
 *
 * Source: decisions.md §3 ("System roles": "cannot be renamed, re-permissioned or deleted; their model configuration
 * can change. A SCIM-managed role's name and description are 403").
 */
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Permission } from "./Permission.ts"
import { ModelConfiguration, Role, type RoleOrigin } from "./Role.ts"

/** What can happen to a role. */
export const RoleEvent = Schema.TaggedUnion({
  Rename: { name: Schema.NonEmptyString },
  Describe: { description: Schema.String },
  ConfigureModels: { models: ModelConfiguration },
  SetPermissions: { permissions: Schema.Array(Permission) },
  Delete: {}
})
export type RoleEvent = typeof RoleEvent.Type

const words: { readonly [Event in RoleEvent["_tag"]]: string } = {
  Rename: "renamed",
  Describe: "described anew",
  ConfigureModels: "given other models",
  SetPermissions: "given other permissions",
  Delete: "deleted"
}

const origins: { readonly [Origin in RoleOrigin["_tag"]]: string } = {
  System: "a system role",
  Custom: "a custom role",
  Scim: "a role that the identity provider keeps"
}

/** The role's origin does not allow this. */
export class RoleRefusal extends Schema.TaggedError<RoleRefusal>()("RoleRefusal", {
  origin: Schema.Literals(["System", "Custom", "Scim"]),
  event: Schema.Literals(["Rename", "Describe", "ConfigureModels", "SetPermissions", "Delete"])
}) {
  override get message(): string {
    return `${origins[this.origin]} cannot be ${words[this.event]}`
  }
}

/** What each origin refuses. */
const refused: { readonly [Origin in RoleOrigin["_tag"]]: ReadonlyArray<RoleEvent["_tag"]> } = {
  System: ["Rename", "SetPermissions", "Delete"],
  Custom: [],
  Scim: ["Rename", "Describe"]
}

/** The role after an event at a moment; none when it is gone. Permissions are kept in the order given, each once. */
export const transition = (
  role: Role,
  event: RoleEvent,
  at: DateTime.Utc
): Result.Result<Option.Option<Role>, RoleRefusal> => {
  const origin = role.origin._tag
  if (refused[origin].includes(event._tag)) return Result.fail(new RoleRefusal({ origin, event: event._tag }))
  return Result.succeed(
    RoleEvent.match(event, {
      Rename: ({ name }) => Option.some(new Role({ ...role, name, updatedAt: at })),
      Describe: ({ description }) => Option.some(new Role({ ...role, description, updatedAt: at })),
      ConfigureModels: ({ models }) => Option.some(new Role({ ...role, models, updatedAt: at })),
      SetPermissions: ({ permissions }) =>
        Option.some(new Role({ ...role, permissions: [...new Set(permissions)], updatedAt: at })),
      Delete: () => Option.none()
    })
  )
}
