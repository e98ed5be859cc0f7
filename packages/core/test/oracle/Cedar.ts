/**
 * The second opinion: the policies beside this file, asked of Cedar.
 */
import {
  type CedarValueJson,
  checkParseSchema,
  type EntityJson,
  preparsePolicySet,
  statefulIsAuthorized,
  type TypeAndId,
  validate
} from "@cedar-policy/cedar-wasm/nodejs"
import { readFileSync } from "node:fs"
import { join } from "node:path"

export type { CedarValueJson, EntityJson, TypeAndId } from "@cedar-policy/cedar-wasm/nodejs"

const folder = join(import.meta.dirname, "policies")
const read = (name: string): string => readFileSync(join(folder, name), "utf8")

const schema = read("schema.cedarschema")
const files = ["access.cedar", "keys.cedar", "changes.cedar"].map((file) => ({ file, text: read(file) }))

/** What is wrong with the policies, by the schema and Cedar's own validator; nothing when they are sound. */
export const mistakes = (): ReadonlyArray<string> => {
  const parsed = checkParseSchema(schema)
  if (parsed.type === "failure") return parsed.errors.map((error) => error.message)
  const policies = { staticPolicies: files.map(({ text }) => text).join("\n") }
  const answer = validate({ schema, policies, validationSettings: { mode: "strict" } })
  return answer.type === "failure"
    ? answer.errors.map((error) => error.message)
    : [...answer.validationErrors, ...answer.validationWarnings].map(
        ({ error, policyId }) => `${policyId}: ${error.message}`
      )
}

/** The file whose policies speak of an action: Cedar looks at every policy it is given, so it is given no others. */
const fileOf = new Map<string, string>()
for (const { file, text } of files) {
  const prepared = preparsePolicySet(file, { staticPolicies: text })
  if (prepared.type === "failure") throw new Error(prepared.errors.map((error) => error.message).join("\n"))
  for (const [, action] of text.matchAll(/Action::"(\w+)"/g)) {
    if (action === undefined) continue
    if ((fileOf.get(action) ?? file) !== file) throw new Error(`two files have policies for ${action}`)
    fileOf.set(action, file)
  }
}

/** The name of a thing. */
export const name = (type: string, id: string): TypeAndId => ({ type, id })

/** A reference to a thing, as a value. */
export const reference = (type: string, id: string): CedarValueJson => ({ __entity: { type, id } })

/** A set of references to things of one type. */
export const references = (type: string, ids: Iterable<string>): CedarValueJson =>
  [...new Set(ids)].map((id) => reference(type, id))

/** A thing with what is known of it. */
export const entity = (
  uid: TypeAndId,
  attrs: Readonly<Record<string, CedarValueJson>>,
  parents: ReadonlyArray<TypeAndId> = []
): EntityJson => ({ uid, attrs: { ...attrs }, parents: [...parents] })

/** A question to Cedar. */
export interface Request {
  readonly principal: EntityJson
  readonly action: string
  readonly resource: EntityJson
  readonly context?: Readonly<Record<string, CedarValueJson>>
  /** What else the policies look at. */
  readonly others?: ReadonlyArray<EntityJson>
}

/** Whether Cedar allows it. A policy that fails to evaluate is a mistake in it, and throws. */
export const allows = ({ action, context = {}, others = [], principal, resource }: Request): boolean => {
  const file = fileOf.get(action)
  if (file === undefined) throw new Error(`no policy speaks of ${action}`)
  const answer = statefulIsAuthorized({
    principal: principal.uid,
    action: name("Action", action),
    resource: resource.uid,
    context: { ...context },
    preparsedPolicySetId: file,
    entities: [principal, resource, ...others]
  })
  if (answer.type === "failure") throw new Error(answer.errors.map((error) => error.message).join("\n"))
  const [wrong] = answer.response.diagnostics.errors
  if (wrong !== undefined) throw new Error(`${action}: ${wrong.policyId}: ${wrong.error.message}`)
  return answer.response.decision === "allow"
}
