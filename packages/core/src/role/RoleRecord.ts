/**
 * A role as the audit log has it, before and after a change.
 */
import type * as Schema from "effect/Schema"
import type { Role } from "./Role.ts"

/** What can change of a role. */
export const recordOf = (role: Role): Schema.JsonObject => ({
  name: role.name,
  description: role.description,
  permissions: role.permissions,
  allowModelChoice: role.models.allowModelChoice,
  ...(role.models.defaultModel === undefined ? {} : { defaultModel: role.models.defaultModel }),
  ...(role.models.allowedModels === undefined ? {} : { allowedModels: role.models.allowedModels })
})
