/**
 * Decides whether a statement may run, from the tree that the engine's own parser makes of it. Nothing is matched in
 * the text. What is not known to be harmless is refused: a node, a function or a table that is not on a list.
 *
 * Source: decisions.md §5; policy-cases.md R7 to R17 and R20.
 */
import { functions, tableFunctions } from "./ReviewedFunctions.ts"

/** The names that a statement may use for tables. */
export interface Catalog {
  /** The table that a name means, in any case of its letters; undefined when there is none. */
  readonly resolve: (name: string) => string | undefined
  /** Every table by its first name, for messages. */
  readonly names: ReadonlyArray<string>
  /** What is said in their place where there are none; absent: that the source has no tables. */
  readonly withoutNames?: string
}

/** What the gate decides. */
export type Decision =
  | {
      readonly _tag: "Allowed"
      /** The tables that the statement reads: each name as it is written, with the table it means. */
      readonly tables: ReadonlyMap<string, string>
    }
  /** The statement would do what nobody may. */
  | { readonly _tag: "Refused"; readonly message: string }
  /** The statement reads a table that does not exist. */
  | { readonly _tag: "UnknownTable"; readonly message: string }
  /** The engine's parser does not understand the statement. */
  | { readonly _tag: "Unparsable"; readonly message: string }

/** Only one kind of statement is allowed; this begins every refusal that says so. */
const onlySelect = "only one read-only SELECT statement is allowed"

class Refusal extends Error {}
class UnknownTable extends Error {}

type Tree = Readonly<Record<string, unknown>>
type Scope = ReadonlySet<string>

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value)
const text = (value: unknown): string => (typeof value === "string" ? value : "")
const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** Expressions that can be anywhere. A parameter is not among them: there is nobody to bind it. */
const expressionClasses = new Set([
  "BETWEEN",
  "CASE",
  "CAST",
  "COLLATE",
  "COLUMN_REF",
  "COMPARISON",
  "CONJUNCTION",
  "CONSTANT",
  "FUNCTION",
  "LAMBDA",
  "LAMBDA_REF",
  "OPERATOR",
  "POSITIONAL_REFERENCE",
  "STAR",
  "SUBQUERY",
  "TYPE",
  "WINDOW"
])

/** Nodes that are no expressions, need no check of their own, and are harmless when their parts are. */
const harmlessTypes = new Set([
  "ARRAY_TYPE_INFO",
  "ASCENDING",
  "DECIMAL_TYPE_INFO",
  "DESCENDING",
  "DISTINCT_MODIFIER",
  "EMPTY",
  "EXPRESSION_LIST",
  "JOIN",
  "LIMIT_MODIFIER",
  "LIMIT_PERCENT_MODIFIER",
  "LIST_TYPE_INFO",
  "ORDER_DEFAULT",
  "ORDER_MODIFIER",
  "PIVOT",
  "STRUCT_TYPE_INFO",
  "SUBQUERY"
])

const queryNodes = new Set(["CTE_NODE", "RECURSIVE_CTE_NODE", "SELECT_NODE", "SET_OPERATION_NODE"])

/**
 * Judges a statement.
 *
 * @param statement the statement's text, only for the name of its kind in a refusal
 * @param serialized what the engine's `json_serialize_sql` makes of it
 */
export const judge = (statement: string, serialized: string, catalog: Catalog): Decision => {
  let tree: unknown
  try {
    tree = JSON.parse(serialized)
  } catch {
    return { _tag: "Refused", message: `${onlySelect}: this one cannot be examined` }
  }
  if (!isTree(tree)) return { _tag: "Refused", message: `${onlySelect}: this one cannot be examined` }
  if (tree["error"] !== false) {
    return tree["error_type"] === "parser" || tree["error_type"] === "syntax"
      ? { _tag: "Unparsable", message: text(tree["error_message"]) }
      : { _tag: "Refused", message: `${onlySelect}: ${kindOf(statement)} is not one` }
  }
  const statements = list(tree["statements"])
  if (statements.length === 0) return { _tag: "Refused", message: `${onlySelect}: there is none` }
  if (statements.length > 1) return { _tag: "Refused", message: `${onlySelect}: these are ${statements.length}` }
  const tables = new Map<string, string>()
  try {
    walk(statements, new Set(), catalog, tables)
  } catch (error) {
    if (error instanceof Refusal) return { _tag: "Refused", message: error.message }
    if (error instanceof UnknownTable) return { _tag: "UnknownTable", message: error.message }
    if (error instanceof RangeError) return { _tag: "Refused", message: "the statement is nested too deeply" }
    throw error
  }
  return { _tag: "Allowed", tables }
}

/** The first word of a statement, which names its kind. */
const kindOf = (statement: string): string => {
  const word = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/|\()*([A-Za-z]+)/.exec(statement)?.[1]
  return word === undefined ? "this" : word.toUpperCase()
}

const walk = (value: unknown, scope: Scope, catalog: Catalog, tables: Map<string, string>): void => {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, scope, catalog, tables)
    return
  }
  if (!isTree(value)) return
  const parts = (inside: Scope, except?: string): void => {
    for (const [key, part] of Object.entries(value)) {
      if (key !== except) walk(part, inside, catalog, tables)
    }
  }
  if (typeof value["class"] === "string") {
    checkExpression(value, value["class"])
    return parts(scope)
  }
  const type = value["type"]
  if (typeof type !== "string") return parts(scope)
  if (queryNodes.has(type)) return walkQuery(value, type, scope, catalog, tables)
  switch (type) {
    case "BASE_TABLE":
      checkTable(value, scope, catalog, tables)
      return parts(scope)
    case "TABLE_FUNCTION": {
      const call = value["function"]
      const name = isTree(call) ? text(call["function_name"]).toLowerCase() : ""
      if (!tableFunctions.has(name)) {
        throw new Refusal(`the table function ${name} is not allowed; ${tablesOf(catalog)}`)
      }
      if (isTree(call)) {
        for (const [key, part] of Object.entries(call)) {
          if (key !== "function_name") walk(part, scope, catalog, tables)
        }
      }
      return parts(scope, "function")
    }
    case "SHOW_REF":
      if (!isTree(value["query"]))
        throw new Refusal(`the catalog cannot be listed by a statement; ${tablesOf(catalog)}`)
      return parts(scope)
    default:
      if (!harmlessTypes.has(type) && !type.endsWith("_TYPE_INFO"))
        throw new Refusal(`a statement with ${type} is not allowed`)
      return parts(scope)
  }
}

/**
 * A query with its common table expressions. Each is visible to those after it and to the query, a recursive one to
 * itself, and none outside: a name that is not visible means a table.
 */
const walkQuery = (node: Tree, type: string, outer: Scope, catalog: Catalog, tables: Map<string, string>): void => {
  const scope = new Set(outer)
  const expressions = isTree(node["cte_map"]) ? list(node["cte_map"]["map"]) : []
  for (const entry of expressions) {
    if (!isTree(entry)) continue
    const name = text(entry["key"]).toLowerCase()
    // Such a name could only be a trick to be taken for a file elsewhere in the statement.
    if (looksLikeFile.test(name)) throw new Refusal(`a common table expression cannot be named ${JSON.stringify(name)}`)
    walk(entry["value"], new Set(scope), catalog, tables)
    scope.add(name)
  }
  const own = text(
    type === "RECURSIVE_CTE_NODE" ? node["cte_name"] : (node["ctename"] ?? node["cte_name"])
  ).toLowerCase()
  if (type === "CTE_NODE") {
    walk(node["query"], scope, catalog, tables)
    walk(node["child"], new Set([...scope, own]), catalog, tables)
    return
  }
  if (type === "RECURSIVE_CTE_NODE") {
    walk(node["left"], scope, catalog, tables)
    scope.add(own)
  }
  for (const [key, part] of Object.entries(node)) {
    if (key === "cte_map" || (type === "RECURSIVE_CTE_NODE" && key === "left")) continue
    walk(part, scope, catalog, tables)
  }
}

const checkExpression = (expression: Tree, kind: string): void => {
  if (kind === "PARAMETER") throw new Refusal("a statement cannot have parameters")
  if (!expressionClasses.has(kind)) throw new Refusal(`a statement with ${kind} is not allowed`)
  if (kind !== "FUNCTION" && kind !== "WINDOW") return
  const name = text(expression["function_name"]).toLowerCase()
  if (!functions.has(name)) throw new Refusal(`the function ${name} is not allowed, or does not exist`)
}

/** Names that the engine could take for a file or an address. */
const looksLikeFile = /[/\\:*?[\]]|\.[A-Za-z0-9]+$/

const checkTable = (node: Tree, scope: Scope, catalog: Catalog, tables: Map<string, string>): void => {
  const name = text(node["table_name"])
  const schema = text(node["schema_name"]).toLowerCase()
  const database = text(node["catalog_name"])
  if (node["at_clause"] !== null && node["at_clause"] !== undefined) {
    throw new Refusal("reading a table AT a version is not allowed")
  }
  if (schema === "" && database === "" && scope.has(name.toLowerCase())) return
  const table = (schema === "" || schema === "main") && database === "" ? catalog.resolve(name) : undefined
  if (table !== undefined) {
    tables.set(name, table)
    return
  }
  const written = [database, schema, name].filter((part) => part !== "").join(".")
  if (schema !== "" || database !== "") {
    throw new Refusal(`the table ${written} is not one of this source; ${tablesOf(catalog)}`)
  }
  if (looksLikeFile.test(name)) {
    throw new Refusal(`a statement cannot read the file ${JSON.stringify(name)}; ${tablesOf(catalog)}`)
  }
  throw new UnknownTable(`there is no table ${JSON.stringify(name)}; ${tablesOf(catalog)}`)
}

const mostNames = 40

const tablesOf = (catalog: Catalog): string => {
  if (catalog.names.length === 0) return catalog.withoutNames ?? "this source has no tables"
  const more = catalog.names.length - mostNames
  return `the tables are ${catalog.names.slice(0, mostNames).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}
