/**
 * Which rows of the tables that a query reads a principal may see.
 *
 * A restriction that cannot be evaluated restricts (law L12): a field that is missing, a value of another type than
 * the policy declares, tables that nobody can name: each is a denial, never a query without its filter.
 *
 * Source: decisions.md §5 ("Row policies"); policy-cases R1, R3, R5, R6.
 */
import * as Result from "effect/Result"
import { allow, type Allow, type Deny, deny } from "../access/Decision.ts"
import type { Principal } from "../access/Principal.ts"
import * as TableName from "../connector/TableName.ts"
import type { AttributeType, BoundValue, Operand, RowFilter, RowPolicy } from "./RowPolicy.ts"
import { mapOperands, operands } from "./RowPredicate.ts"

/** What a principal may see of the tables that a query reads. */
export type RowAccess =
  /** Every row: no policy is about any of the tables, or the principal is exempt from each that is. */
  | { readonly _tag: "Unfiltered"; readonly decision: Allow }
  /** The rows that every filter of their table shows. Tables without a filter are read whole. */
  | { readonly _tag: "Filtered"; readonly filters: ReadonlyArray<RowFilter> }
  /** Nothing: the query must not run. */
  | { readonly _tag: "Denied"; readonly denial: Deny }

/** A field as a policy's author and the denied caller know it. */
export const fieldName = (field: string): string => `_svc.client_attributes_json.${field}`

/** Whether a value is of a declared type. Nothing is converted: the text `1` is no integer, the number 1 no text. */
const isOf = (type: AttributeType, value: unknown): value is string | number | boolean => {
  switch (type) {
    case "text":
      return typeof value === "string"
    case "integer":
      return Number.isSafeInteger(value)
    case "number":
      return typeof value === "number" && Number.isFinite(value)
    case "boolean":
      return typeof value === "boolean"
  }
}

const typeOfConstant = (value: string | number | boolean): AttributeType =>
  typeof value === "string"
    ? "text"
    : typeof value === "boolean"
      ? "boolean"
      : Number.isSafeInteger(value)
        ? "integer"
        : "number"

/** The value that an operand stands for; or why it stands for none. */
const bind = (principal: Principal, policy: RowPolicy, operand: Operand): Result.Result<BoundValue, Deny> => {
  if (operand._tag === "Constant") {
    return Result.succeed({ type: typeOfConstant(operand.value), value: operand.value })
  }
  const { field } = operand
  const facts = { connector: policy.connectorId, table: policy.table, policy: policy.id, field: fieldName(field) }
  const because = (why: string): Result.Result<BoundValue, Deny> =>
    Result.fail(
      deny(
        "row_policy",
        `permission denied: the row policy of ${policy.table} reads ${fieldName(field)}, ${why}`,
        facts
      )
    )
  if (!Object.hasOwn(policy.attributes, field)) return because("whose type it does not declare")
  const type = policy.attributes[field]
  const attributes = principal.clientMetadata?.attributes
  if (type === undefined) return because("whose type it does not declare")
  if (attributes === undefined || !Object.hasOwn(attributes, field)) return because("which the client metadata lack")
  const value = attributes[field]
  return isOf(type, value) ? Result.succeed({ type, value }) : because(`which must be of the type ${type}`)
}

/** The filter that a policy makes for a principal, with every value bound; or why it makes none. */
const filterOf = (principal: Principal, policy: RowPolicy, table: string): Result.Result<RowFilter, Deny> => {
  const bound = new Map<Operand, BoundValue>()
  for (const operand of operands(policy.predicate)) {
    const value = bind(principal, policy, operand)
    if (Result.isFailure(value)) return Result.fail(value.failure)
    bound.set(operand, value.success)
  }
  // Every operand was bound above; null is shown by no comparison.
  const unbound: BoundValue = { type: "text", value: null }
  return Result.succeed({ table, predicate: mapOperands(policy.predicate, (operand) => bound.get(operand) ?? unbound) })
}

/** Whether a principal holds a role that a policy exempts. */
export const isExempt = (principal: Principal, policy: Pick<RowPolicy, "exemptRoles">): boolean =>
  principal.roles.some((role) => policy.exemptRoles.includes(role.id))

/** By id, each once: neither the order of the policies nor their number decides (law L3). */
const distinct = (policies: ReadonlyArray<RowPolicy>): ReadonlyArray<RowPolicy> =>
  [...new Map(policies.map((policy) => [policy.id, policy])).values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))

/**
 * What a principal may see of these tables of a connector, by the connector's policies. `tables` is undefined where it
 * is not known which tables a query reads: then every policy is about it, and none can be applied.
 */
export const applicable = (
  principal: Principal,
  policies: ReadonlyArray<RowPolicy>,
  tables: ReadonlyArray<string> | undefined
): RowAccess => {
  const about = distinct(policies).filter(
    (policy) => tables === undefined || tables.some((table) => TableName.maySame(table, policy.table))
  )
  const binding = about.filter((policy) => !isExempt(principal, policy))
  const [first] = binding
  if (first === undefined) {
    return {
      _tag: "Unfiltered",
      decision:
        about.length === 0
          ? allow("permission", "no row policy is about these tables")
          : allow("exempt", "exempt from every row policy of these tables", { policies: about.map(({ id }) => id) })
    }
  }
  if (tables === undefined) {
    return {
      _tag: "Denied",
      denial: deny(
        "row_policy",
        `permission denied: the row policy of ${first.table} cannot be applied to this query`,
        {
          connector: first.connectorId,
          table: first.table,
          policy: first.id
        }
      )
    }
  }
  const filters: Array<RowFilter> = []
  for (const policy of binding) {
    for (const table of new Set(tables.filter((one) => TableName.maySame(one, policy.table)))) {
      const filter = filterOf(principal, policy, table)
      if (Result.isFailure(filter)) return { _tag: "Denied", denial: filter.failure }
      filters.push(filter.success)
    }
  }
  return { _tag: "Filtered", filters: filters.toSorted((a, b) => (a.table < b.table ? -1 : a.table > b.table ? 1 : 0)) }
}
