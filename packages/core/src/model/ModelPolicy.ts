/**
 * Which models a principal may use, and which one a chat gets when none is named.
 *
 * Source: decisions.md §3 ("Model configuration over several roles"): allowed models are the union over the roles
 * that restrict them, or all if any role leaves them unrestricted; a member may choose if any role allows choice; the
 * default is the lowest-named role's default that is allowed, else the organization's, else the first allowed.
 */
import * as Result from "effect/Result"
import { allow, type Decision, type Deny, deny } from "../access/Decision.ts"
import type { Role } from "../role/Role.ts"
import type { Model, ModelId, ModelNumber } from "./Model.ts"

/** The facts that the choice of a model rests on. */
export interface ModelFacts {
  /** Every model of the organization, best first. */
  readonly models: ReadonlyArray<Model>
  /** The effective roles. */
  readonly roles: ReadonlyArray<Role>
  readonly organizationDefault: ModelNumber | undefined
}

/** The models that the roles allow, best first. No role, no model. */
export const allowed = (facts: ModelFacts): ReadonlyArray<Model> => {
  if (facts.roles.length === 0) return []
  const numbers = new Set<ModelNumber>()
  for (const role of facts.roles) {
    if (role.models.allowedModels === undefined) return facts.models
    for (const number of role.models.allowedModels) numbers.add(number)
  }
  return facts.models.filter((model) => numbers.has(model.number))
}

/** Whether any role lets its members name a model. */
export const mayChoose = (facts: ModelFacts): boolean => facts.roles.some((role) => role.models.allowModelChoice)

const byName = (a: Role, b: Role): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1)

/** The model of a chat that names none; nothing when no model is allowed. */
export const defaultModel = (facts: ModelFacts): Model | undefined => {
  const models = allowed(facts)
  const find = (number: ModelNumber | undefined): Model | undefined =>
    number === undefined ? undefined : models.find((model) => model.number === number)
  for (const role of facts.roles.toSorted(byName)) {
    const found = find(role.models.defaultModel)
    if (found !== undefined) return found
  }
  return find(facts.organizationDefault) ?? models[0]
}

/** The models that a principal may name: all that are allowed if it may choose, else its default alone. */
export const choosable = (facts: ModelFacts): ReadonlyArray<Model> => {
  if (mayChoose(facts)) return allowed(facts)
  const only = defaultModel(facts)
  return only === undefined ? [] : [only]
}

const notAvailable = deny("model_choice", "permission denied: the model is not available to you")

/** Whether a chat may go on with its model: it may be one that the caller could not name, but never a forbidden one. */
export const permits = (facts: ModelFacts, id: ModelId): Decision =>
  allowed(facts).some((model) => model.id === id) ? allow("model", "an allowed model", { model: id }) : notAvailable

/** The model of a new chat. An unknown model and a forbidden one are refused alike, so that nothing is disclosed. */
export const choose = (facts: ModelFacts, named: ModelId | undefined): Result.Result<Model, Deny> => {
  if (named === undefined) {
    const model = defaultModel(facts)
    return model === undefined
      ? Result.fail(deny("model", "permission denied: no model is available to you"))
      : Result.succeed(model)
  }
  const model = choosable(facts).find((candidate) => candidate.id === named)
  return model === undefined ? Result.fail(notAvailable) : Result.succeed(model)
}
