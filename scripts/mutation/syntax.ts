/**
 * The syntax of a source file, as far as mutations need it: nodes in order, and what each one stands in.
 */
import { type Node, parseSync, visitorKeys } from "oxc-parser"

export type { Node } from "oxc-parser"

/** A node, with the way to it. */
export interface Place {
  readonly node: Node
  readonly parent: Place | undefined
  /** The parent's field that holds it. */
  readonly key: string
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "start" in value

/** The nodes right below a place, in the order of their fields. */
export const below = (place: Place): ReadonlyArray<Place> => {
  const fields = new Map<string, unknown>(Object.entries(place.node))
  return (visitorKeys[place.node.type] ?? []).flatMap((key) => {
    const value = fields.get(key)
    return (Array.isArray(value) ? value : [value])
      .filter((item) => isNode(item))
      .map((node): Place => ({ node, parent: place, key }))
  })
}

/** The whole of a TypeScript file; throws when it does not parse. */
export const parse = (name: string, source: string): Place => {
  const { errors, program } = parseSync(name, source)
  const first = errors[0]
  if (first !== undefined) throw new SyntaxError(`${name}: ${first.message}`)
  return { node: program, parent: undefined, key: "" }
}

/** What lies around a place, nearest first. */
export const around = function* (place: Place): Generator<Place> {
  for (let above = place.parent; above !== undefined; above = above.parent) yield above
}

/** The name of the declaration at the top of the file that a place is in; empty outside of any. */
export const declarationOf = (place: Place): string => {
  for (const { node } of [place, ...around(place)].toReversed()) {
    if (node.type === "VariableDeclarator" && node.id.type === "Identifier") return node.id.name
    if ((node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") && node.id !== null) {
      return node.id.name
    }
  }
  return ""
}

/** The name at the far left of `a.b.c(…)`: `a`. */
export const rootName = (node: Node): string | undefined => {
  if (node.type === "Identifier") return node.name
  if (node.type === "MemberExpression") return rootName(node.object)
  return node.type === "CallExpression" ? rootName(node.callee) : undefined
}

/** The last name of a callee: `some` of `list.some`, `deny` of `deny`. */
export const calleeName = (node: Node): string | undefined => {
  if (node.type !== "CallExpression" && node.type !== "NewExpression") return undefined
  const { callee } = node
  if (callee.type === "Identifier") return callee.name
  return callee.type === "MemberExpression" && callee.property.type === "Identifier" ? callee.property.name : undefined
}
