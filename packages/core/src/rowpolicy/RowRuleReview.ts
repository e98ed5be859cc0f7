/**
 * Whether a row policy's rule makes sense, before it is kept: one that never could be applied is refused while its
 * author looks on, not when somebody's query fails.
 */
import type { RoleId } from "../role/Role.ts"
import type { RowRule } from "./RowPolicy.ts"
import { operands, sizeOf } from "./RowPredicate.ts"

/** How deep predicates may be nested. */
export const maxDepth = 16

/** How many parts a predicate may have. */
export const maxParts = 500

/** What is wrong with a rule, naming the field of the request; nothing when it is fine. */
export const problem = (rule: RowRule, knownRoles: ReadonlyArray<RoleId>): string | undefined => {
  const { depth, parts } = sizeOf(rule.predicate)
  if (depth > maxDepth) return `predicate: must not be nested more than ${maxDepth} deep`
  if (parts > maxParts) return `predicate: must not have more than ${maxParts} parts`
  const read = new Set<string>()
  for (const operand of operands(rule.predicate)) {
    if (operand._tag !== "Attribute") continue
    if (!Object.hasOwn(rule.attributes, operand.field)) {
      return `attributes: must declare the type of ${operand.field}, which the predicate reads`
    }
    read.add(operand.field)
  }
  for (const field of Object.keys(rule.attributes)) {
    if (!read.has(field)) return `attributes: declares ${field}, which the predicate does not read`
  }
  const unknown = rule.exemptRoles.find((role) => !knownRoles.includes(role))
  return unknown === undefined ? undefined : `exempt_role_ids: there is no role ${unknown}`
}
