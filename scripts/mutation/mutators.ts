/**
 * What is tried on a rule: each mutator looks at one place of the syntax and proposes other texts for it. What no test
 * of behaviour should pin down is left alone: types, sentences for people, and the declarations of schemas.
 */
import { around, calleeName, type Node, type Place, rootName } from "./syntax.ts"

/** Another text for a range of the source. */
export interface Proposal {
  readonly mutator: string
  readonly start: number
  readonly end: number
  readonly replacement: string
}

/** Gives the text of a node. */
export type TextOf = (node: Node) => string

type Mutator = (place: Place, text: TextOf) => ReadonlyArray<Proposal>

const instead = (mutator: string, node: Node, ...replacements: ReadonlyArray<string>): ReadonlyArray<Proposal> =>
  replacements.map((replacement) => ({ mutator, start: node.start, end: node.end, replacement }))

const operators: ReadonlyMap<string, ReadonlyArray<string>> = new Map(
  Object.entries({
    "===": ["!=="],
    "!==": ["==="],
    "<": ["<=", ">="],
    "<=": ["<", ">"],
    ">": [">=", "<="],
    ">=": [">", "<"],
    "+": ["-"],
    "-": ["+"],
    "*": ["/"],
    "/": ["*"],
    "%": ["*"],
    "|": ["&"],
    "&": ["|"],
    "<<": [">>"],
    ">>": ["<<"],
    ">>>": ["<<"]
  })
)

const isText = (node: Node): boolean =>
  node.type === "TemplateLiteral" ||
  (node.type === "Literal" && typeof node.value === "string") ||
  (node.type === "BinaryExpression" && node.operator === "+" && (isText(node.left) || isText(node.right)))

const binary: Mutator = ({ node }, text) => {
  if (node.type !== "BinaryExpression" || (node.operator === "+" && isText(node))) return []
  return (operators.get(node.operator) ?? []).flatMap((operator) =>
    instead(
      node.operator.includes("=") || /[<>]/.test(node.operator) ? "comparison" : "arithmetic",
      node,
      `${text(node.left)} ${operator} ${text(node.right)}`
    )
  )
}

const logical: Mutator = ({ node }, text) => {
  if (node.type !== "LogicalExpression") return []
  const [left, right] = [text(node.left), text(node.right)]
  if (node.operator === "??") return instead("fallback", node, left, right)
  const other = node.operator === "&&" ? "||" : "&&"
  return [...instead("logic", node, `(${left}) ${other} (${right})`), ...instead("operand", node, left, right)]
}

const unary: Mutator = ({ node }, text) => {
  if (node.type === "UpdateExpression") {
    const operator = node.operator === "++" ? "--" : "++"
    const argument = text(node.argument)
    return instead("arithmetic", node, node.prefix ? `${operator}${argument}` : `${argument}${operator}`)
  }
  if (node.type !== "UnaryExpression" || (node.operator !== "!" && node.operator !== "-")) return []
  return instead(node.operator === "!" ? "negation" : "arithmetic", node, text(node.argument))
}

const assignments: ReadonlyMap<string, string> = new Map(
  Object.entries({ "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=" })
)

const assignment: Mutator = ({ node }, text) => {
  if (node.type !== "AssignmentExpression") return []
  const operator = assignments.get(node.operator)
  if (operator === undefined || isText(node.right)) return []
  return instead("arithmetic", node, `${text(node.left)} ${operator} ${text(node.right)}`)
}

const booleanMethods = new Set(["some", "every", "filter", "find", "findIndex", "findLast", "findFirst"])

/** Whether a function answers yes or no: by its declared type, or as the question of a search through a list. */
const answersBoolean = (place: Place | undefined): boolean => {
  if (place === undefined) return false
  const { key, node, parent } = place
  if (node.type !== "ArrowFunctionExpression" && node.type !== "FunctionExpression") {
    return node.type === "FunctionDeclaration" && node.returnType?.typeAnnotation.type === "TSBooleanKeyword"
  }
  if (node.returnType?.typeAnnotation.type === "TSBooleanKeyword") return true
  return key === "arguments" && parent !== undefined && booleanMethods.has(calleeName(parent.node) ?? "")
}

/** Whether an expression decides which way to go, or is the whole answer to a question. */
const isCondition = ({ key, node, parent }: Place): boolean => {
  if (parent === undefined) return false
  const above = parent.node
  if (above.type === "IfStatement" || above.type === "ConditionalExpression") return key === "test"
  if (above.type === "ArrowFunctionExpression" && key === "body") {
    return node.type !== "BlockStatement" && answersBoolean(parent)
  }
  if (above.type !== "ReturnStatement") return false
  return answersBoolean([...around(parent)].find((one) => one.node.type.includes("Function")))
}

const condition: Mutator = (place, text) => {
  if (
    place.key === "test" &&
    ["WhileStatement", "ForStatement", "DoWhileStatement"].includes(place.parent?.node.type ?? "")
  ) {
    return instead("condition", place.node, "false")
  }
  if (!isCondition(place) || place.node.type === "Literal") return []
  return instead("condition", place.node, "true", "false").filter(({ replacement }) => replacement !== text(place.node))
}

const isKeyOrName = ({ key, parent }: Place): boolean => {
  const above = parent?.node
  if (above === undefined) return true
  if (key === "source" || key === "attributes") return true
  if ((above.type === "Property" || above.type === "PropertyDefinition") && key === "key") return !above.computed
  return above.type === "ExpressionStatement"
}

/** Names of things, not values: what a schema, a service or a span is called. */
const isNaming = (place: Place): boolean =>
  [place, ...around(place)].some(({ key, node, parent }) => {
    if (key === "superClass") return true
    if (parent?.node.type !== "CallExpression" || key !== "arguments") return false
    const root = rootName(parent.node)
    return (root === "Schema" && node.type !== "ArrowFunctionExpression") || calleeName(parent.node) === "fn"
  })

const isDecision = (node: Node | undefined): boolean =>
  node?.type === "CallExpression" && ["allow", "deny"].includes(calleeName(node) ?? "")

const literal: Mutator = (place) => {
  const { node, parent } = place
  if (node.type !== "Literal" || isKeyOrName(place)) return []
  if (typeof node.value === "boolean") return instead("boolean", node, String(!node.value))
  if (typeof node.value === "number") {
    const one = instead("number", node, String(node.value + 1))
    return node.value > 0 ? [...one, ...instead("number", node, String(node.value - 1))] : one
  }
  if ("regex" in node) {
    const anchors = [node.regex.pattern.replace(/^\^/, ""), node.regex.pattern.replace(/(?<!\\)\$$/, "")]
    return anchors
      .filter((pattern) => pattern !== node.regex.pattern && pattern !== "")
      .flatMap((pattern) => instead("pattern", node, `/${pattern}/${node.regex.flags}`))
  }
  if (typeof node.value !== "string" || isNaming(place)) return []
  // With white space in it, it is a sentence for people.
  if (/\s\S|\S\s/.test(node.value)) return []
  // A tag or a code that is compared: to turn the comparison around is the same and more.
  if (parent?.node.type === "BinaryExpression" && /[!=]==/.test(parent.node.operator)) return []
  if (parent?.node.type === "SwitchCase" || parent?.node.type === "ImportExpression") return []
  return instead("string", node, node.value === "" ? '"mutated"' : '""')
}

const template: Mutator = ({ node, parent }, text) => {
  if (node.type !== "TemplateLiteral" || parent?.node.type === "TaggedTemplateExpression") return []
  const quasis = node.quasis.map((quasi) => quasi.value.raw)
  if (quasis.some((raw) => /\s/.test(raw)) || quasis.join("") === "") return []
  return instead("template", node, `\`${node.expressions.map((one) => `\${${text(one)}}`).join("")}\``)
}

const methods: ReadonlyMap<string, string> = new Map(
  Object.entries({
    some: "every",
    every: "some",
    startsWith: "endsWith",
    endsWith: "startsWith",
    min: "max",
    max: "min",
    toLowerCase: "toUpperCase",
    toUpperCase: "toLowerCase",
    find: "findLast",
    indexOf: "lastIndexOf",
    lastIndexOf: "indexOf",
    floor: "ceil",
    ceil: "floor",
    isLessThan: "isLessThanOrEqualTo",
    isLessThanOrEqualTo: "isLessThan",
    isGreaterThan: "isGreaterThanOrEqualTo",
    isGreaterThanOrEqualTo: "isGreaterThan",
    getSuccess: "getFailure",
    isSuccess: "isFailure",
    isFailure: "isSuccess",
    isSome: "isNone",
    isNone: "isSome"
  })
)

const removable = new Set([
  "filter",
  "toSorted",
  "sort",
  "toReversed",
  "reverse",
  "slice",
  "trim",
  "normalize",
  "toLowerCase",
  "toUpperCase"
])

/** A list's own methods, and the module functions that take the list first: `list.some(f)`, `DateTime.isLessThan(a, b)`. */
const method: Mutator = ({ node }, text) => {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return []
  const { object, property } = node.callee
  if (property.type !== "Identifier" || node.callee.computed) return []
  const other = methods.get(property.name)
  const swapped: ReadonlyArray<Proposal> =
    other === undefined ? [] : [{ mutator: "method", start: property.start, end: property.end, replacement: other }]
  if (!removable.has(property.name)) return swapped
  const ofModule = object.type === "Identifier" && /^[A-Z]/.test(object.name)
  const [first, second] = node.arguments
  if (!ofModule) return [...swapped, ...instead("method removal", node, text(object))]
  return first === undefined || second === undefined
    ? swapped
    : [...swapped, ...instead("method removal", node, text(first))]
}

const chain: Mutator = ({ node }, text) => {
  if (node.type === "MemberExpression" && node.optional && !node.computed) {
    return instead("optional chaining", node, `${text(node.object)}.${text(node.property)}`)
  }
  return []
}

const array: Mutator = (place, text) => {
  const { node } = place
  if (node.type !== "ArrayExpression" || node.elements.length > 24 || isNaming(place)) return []
  return node.elements.flatMap((_, index) =>
    instead(
      "element removal",
      node,
      `[${node.elements
        .filter((one, at) => one !== null && at !== index)
        .map((one) => (one === null ? "" : text(one)))
        .join(", ")}]`
    )
  )
}

const object: Mutator = (place, text) => {
  const { key, node, parent } = place
  if (node.type !== "ObjectExpression" || node.properties.length === 0 || isNaming(place)) return []
  // The facts of a decision: shown to people, so it counts that they are there.
  if (key === "arguments" && isDecision(parent?.node)) return instead("facts", node, "{}")
  if (!node.properties.some((property) => property.type === "SpreadElement")) return []
  return node.properties.flatMap((_, index) =>
    instead(
      "property removal",
      node,
      `{ ${node.properties
        .filter((__, at) => at !== index)
        .map((one) => text(one))
        .join(", ")} }`
    )
  )
}

const removableStatements = new Set([
  "ExpressionStatement",
  "ReturnStatement",
  "ThrowStatement",
  "ContinueStatement",
  "BreakStatement"
])

/** Removes a statement. The only one of an `if` is left to the mutator of its condition. */
const statement: Mutator = ({ key, node, parent }) => {
  if (!removableStatements.has(node.type)) return []
  if (node.type === "ExpressionStatement" && node.expression.type === "Literal") return []
  const block = parent?.node.type === "BlockStatement" && parent.node.body.length === 1 ? parent : undefined
  const holder = block === undefined ? parent : block.parent
  const at = block === undefined ? key : block.key
  if (holder?.node.type === "IfStatement" && at === "consequent" && holder.node.alternate === null) return []
  return instead("statement removal", node, ";")
}

const loop: Mutator = ({ key, node, parent }) =>
  parent?.node.type === "ForOfStatement" && key === "right" ? instead("empty loop", node, "[]") : []

/** Every mutator. */
export const mutators: ReadonlyArray<Mutator> = [
  binary,
  logical,
  unary,
  assignment,
  condition,
  literal,
  template,
  method,
  chain,
  array,
  object,
  statement,
  loop
]

/** Whether nothing at or below a place is mutated: types, imports, and sentences for people. */
export const isLeftAlone = ({ node, parent }: Place): boolean => {
  if (node.type === "ImportDeclaration" || node.type === "ExportAllDeclaration") return true
  if (node.type.startsWith("TS")) {
    return !["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"].includes(node.type)
  }
  if (node.type === "TemplateLiteral") {
    return parent?.node.type === "TaggedTemplateExpression" || node.quasis.some((quasi) => /\s/.test(quasi.value.raw))
  }
  // `get message() { … }` of a refusal.
  return node.type === "MethodDefinition" && node.key.type === "Identifier" && node.key.name === "message"
}
