/**
 * The expressions inside a specification: which ones are allowed, and how they are made independent of a time zone.
 *
 * Vega's expressions are a small language of their own. They are never compiled to JavaScript here (the interpreter
 * walks their syntax tree), and of their functions only those are allowed that compute a value from values: nothing
 * that reads the clock, draws random numbers, reaches into the running view, or makes something of unbounded size.
 */
import { parseExpression } from "vega"
import { closest, shorten } from "./Json.ts"

/** Functions that compute a value from values, by their Vega names. */
const pure: ReadonlySet<string> = new Set(
  [
    "isArray isBoolean isDate isDefined isNumber isObject isRegExp isString isValid isNaN isFinite",
    "toBoolean toDate toNumber toString if",
    "abs acos asin atan atan2 ceil clamp cos exp floor hypot log max min pow round sin sqrt tan",
    "cumulativeNormal cumulativeLogNormal cumulativeUniform densityNormal densityLogNormal densityUniform",
    "quantileNormal quantileLogNormal quantileUniform",
    "utc utcdate utcday utcdayofyear utcweek utcisoweek utcyear utcquarter utcmonth utchours utcminutes utcseconds",
    "utcmilliseconds utcFormat utcParse utcOffset time dayFormat dayAbbrevFormat monthFormat monthAbbrevFormat",
    "timeUnitSpecifier",
    "extent clampRange indexof inrange join lastindexof length lerp peek pluck reverse slice sort span",
    "indexof length lower parseFloat parseInt replace slice split substring trim truncate upper format",
    "merge regexp test rgb hsl lab hcl luminance contrast"
  ].flatMap((line) => line.split(" "))
)

/** The longest expression that is read, in characters. */
const longest = 2000

/** Functions that read a moment in the machine's time zone, and those that read it in UTC. */
const universal: Readonly<Record<string, string>> = {
  date: "utcdate",
  day: "utcday",
  dayofyear: "utcdayofyear",
  week: "utcweek",
  isoweek: "utcisoweek",
  year: "utcyear",
  quarter: "utcquarter",
  month: "utcmonth",
  hours: "utchours",
  minutes: "utcminutes",
  seconds: "utcseconds",
  milliseconds: "utcmilliseconds",
  timeFormat: "utcFormat",
  timeParse: "utcParse",
  timeOffset: "utcOffset"
}

/** Members that lead from a value to its prototype and its constructor. */
const forbiddenMembers: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"])

/** An expression that was read: its text, with every time in UTC, and the fields that it takes from a row. */
export interface Expression {
  readonly text: string
  readonly fields: ReadonlySet<string>
}

/** Reads an expression, or says in one phrase why it cannot be one. */
export const read = (text: string): Expression | string => {
  if (text.length > longest) return `${quoted(text)} is longer than ${longest} characters`
  const tree = parse(text)
  const rewritten = tree === undefined ? text : inUtc(text, tree)
  const rewrittenTree = parse(rewritten)
  if (rewrittenTree === undefined) return `${quoted(text)} is not a valid Vega expression`
  const fields = new Set<string>()
  const problem = walk(rewrittenTree, fields)
  return problem === undefined ? { text: rewritten, fields } : `${quoted(text)} ${problem}`
}

const parse = (text: string): object | undefined => {
  try {
    return parseExpression(text)
  } catch {
    // The parser throws on a text that is no expression; there is nothing else to learn from it.
    return undefined
  }
}

const quoted = (text: string): string => `the expression ${JSON.stringify(shorten(text))}`

const property = (node: object, key: string): unknown => (Object.hasOwn(node, key) ? Reflect.get(node, key) : undefined)

const isNode = (value: unknown): value is object => typeof value === "object" && value !== null

/** The name of a member: `datum.price` and `datum["price"]`. A computed one has none. */
const memberName = (node: object): string | undefined => {
  const member = property(node, "property")
  if (!isNode(member)) return undefined
  const name = property(member, "value") ?? property(member, "name")
  // The parser reads `datum["constructor"]` as the name of a variable: it is refused as what it was meant to be.
  if (property(node, "computed") === true && !Object.hasOwn(member, "value") && !forbiddenMembers.has(String(name))) {
    return undefined
  }
  return typeof name === "string" || typeof name === "number" ? String(name) : undefined
}

const walk = (node: object, fields: Set<string>): string | undefined => {
  const type = property(node, "type")
  if (type === "CallExpression") {
    const callee = property(node, "callee")
    const name = isNode(callee) ? property(callee, "name") : undefined
    if (typeof name !== "string") return "calls something that is not a function's name"
    if (!pure.has(name)) {
      const meant = closest(name, pure)
      return `uses the function ${JSON.stringify(shorten(name))}, which is not available${meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`}`
    }
  }
  if (type === "MemberExpression") {
    const object = property(node, "object")
    const name = memberName(node)
    if (name !== undefined && forbiddenMembers.has(name))
      return `reads the member ${JSON.stringify(name)}, which is not allowed`
    if (name !== undefined && isNode(object) && property(object, "name") === "datum") fields.add(name)
  }
  if (type === "Property") {
    const key = property(node, "key")
    const name = isNode(key) ? (property(key, "name") ?? property(key, "value")) : undefined
    if (typeof name === "string" && forbiddenMembers.has(name))
      return `writes the member ${JSON.stringify(name)}, which is not allowed`
  }
  for (const inner of inside(node)) {
    const problem = walk(inner, fields)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** The nodes right below a node, in the order of the text. */
const inside = (node: object): ReadonlyArray<object> =>
  Object.values(node).flatMap((value: unknown) => {
    const values: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
    return values.filter((each) => isNode(each)).filter((each) => !(each instanceof RegExp))
  })

/** How many arguments each call of `datetime` has, in the order of the text. */
const datetimeArguments = (node: object): ReadonlyArray<number> => {
  const callee = property(node, "callee")
  const given = property(node, "arguments")
  const own = isNode(callee) && property(callee, "name") === "datetime" && Array.isArray(given) ? [given.length] : []
  return [...own, ...inside(node).flatMap(datetimeArguments)]
}

/** Texts, regular expressions, and names that are called: what has to be told apart to rename a function. */
const token =
  /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?<=[(,=:[!&|?{};+]\s*|^\s*)\/(?:\\.|[^/\\\n])+\/|(?<![\w$.])[A-Za-z]\w*(?=\s*\()/g

const inUtc = (text: string, tree: object): string => {
  const counts = datetimeArguments(tree)
  let datetimes = 0
  return text.replaceAll(token, (found) => {
    // With one argument it reads a moment that is there already; with more it builds one from its parts.
    if (found === "datetime") return counts[datetimes++] === 1 ? "toDate" : "utc"
    return Object.hasOwn(universal, found) ? (universal[found] ?? found) : found
  })
}
