/**
 * A partial change of a role, as a caller asks for it, and the events that it comes to.
 *
 * Source: api-v2.md (`PATCH /v2/roles/{id}`).
 */
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidRequest } from "../error/Failure.ts"
import type { ModelNumber } from "../model/Model.ts"
import { maxDescriptionLength, type ModelConfiguration, type Role, RoleName } from "./Role.ts"
import { RoleEvent } from "./RoleState.ts"

/** What to change; what is absent stays. */
export interface RolePatch {
  readonly name?: string
  readonly description?: string
  /** The default model; 0 clears it. */
  readonly defaultModel?: ModelNumber | 0
  /** The only models that members may use. */
  readonly allowedModels?: ReadonlyArray<ModelNumber>
  /** True gives members every model again. */
  readonly clearAllowedModels?: boolean
  readonly allowModelChoice?: boolean
}

const isRoleName = Schema.is(RoleName)

/** A role's name without the blanks around it, if it can be one. */
export const nameOf = (name: string): Result.Result<string, InvalidRequest> => {
  const trimmed = name.trim()
  return isRoleName(trimmed)
    ? Result.succeed(trimmed)
    : Result.fail(new InvalidRequest({ message: "name: must have 1 to 100 characters" }))
}

/** A role's description, if it can be one. */
export const descriptionOf = (description: string): Result.Result<string, InvalidRequest> =>
  description.length <= maxDescriptionLength
    ? Result.succeed(description)
    : Result.fail(new InvalidRequest({ message: `description: must have at most ${maxDescriptionLength} characters` }))

/**
 * The patch with its values in their form; or what its fields contradict. An empty list of models is refused where it
 * is not cleared at the same time: whether it was meant as none or as all cannot be told.
 */
export const checked = (patch: RolePatch): Result.Result<RolePatch, InvalidRequest> => {
  const restricts = patch.allowedModels !== undefined && patch.allowedModels.length > 0
  if (patch.clearAllowedModels === true && restricts) {
    return Result.fail(
      new InvalidRequest({ message: "clear_allowed_model_ids: must not be true together with allowed_model_ids" })
    )
  }
  if (patch.clearAllowedModels !== true && patch.allowedModels !== undefined && !restricts) {
    return Result.fail(
      new InvalidRequest({
        message: "allowed_model_ids: must not be empty; clear_allowed_model_ids lets members use every model"
      })
    )
  }
  return Result.gen(function* () {
    return {
      ...patch,
      ...(patch.name === undefined ? {} : { name: yield* nameOf(patch.name) }),
      ...(patch.description === undefined ? {} : { description: yield* descriptionOf(patch.description) })
    }
  })
}

/** The models that a patch names: they must be known. */
export const modelsNamed = (patch: RolePatch): ReadonlyArray<ModelNumber> => [
  ...(patch.defaultModel === undefined || patch.defaultModel === 0 ? [] : [patch.defaultModel]),
  ...(patch.allowedModels ?? [])
]

/** A model configuration with a patch applied. */
const configured = (models: ModelConfiguration, patch: RolePatch): ModelConfiguration => {
  const defaultModel = patch.defaultModel ?? models.defaultModel
  const allowedModels = patch.clearAllowedModels === true ? undefined : (patch.allowedModels ?? models.allowedModels)
  return {
    allowModelChoice: patch.allowModelChoice ?? models.allowModelChoice,
    ...(defaultModel === undefined || defaultModel === 0 ? {} : { defaultModel }),
    ...(allowedModels === undefined ? {} : { allowedModels: [...new Set(allowedModels)] })
  }
}

/** The events that a checked patch comes to; none for what is so already. */
export const eventsOf = (role: Role, patch: RolePatch): ReadonlyArray<RoleEvent> => {
  const models = configured(role.models, patch)
  return [
    ...(patch.name === undefined || patch.name === role.name
      ? []
      : [RoleEvent.cases.Rename.make({ name: patch.name })]),
    ...(patch.description === undefined || patch.description === role.description
      ? []
      : [RoleEvent.cases.Describe.make({ description: patch.description })]),
    ...(Equal.equals(models, role.models) ? [] : [RoleEvent.cases.ConfigureModels.make({ models })])
  ]
}
