/**
 * Vega-Lite's own JSON schema, as the judge of what a specification may say.
 *
 * The schema is read from the package and walked directly. A validator generated from it (Ajv) takes a second to
 * compile and reports dozens of errors for one slip, because nearly everything in Vega-Lite is a choice between
 * alternatives. The walk starts at once, finds the alternative that was most likely meant, and names one place and one
 * reason. A test holds its verdicts equal to Ajv's.
 */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { TopLevelSpec } from "vega-lite"
import {
  arrayAt,
  at,
  closest,
  isArray,
  isObject,
  numberAt,
  objectAt,
  shown,
  textAt,
  without,
  type Json,
  type JsonObject,
  type Place,
  type Problem
} from "./Json.ts"

const require = createRequire(import.meta.url)

const load = (): JsonObject => {
  const schema: Json = JSON.parse(readFileSync(require.resolve("vega-lite/vega-lite-schema.json"), "utf8"))
  return objectAt(schema, "definitions")
}

let loaded: JsonObject | undefined
/** The definitions of the schema, read from the disk when they are first needed. */
const definitions = (): JsonObject => (loaded ??= load())

/** A node of the schema with its references followed. */
const resolved = (node: Json | undefined): JsonObject => {
  let current = isObject(node) ? node : {}
  for (let name = textAt(current, "$ref"); name !== undefined; name = textAt(current, "$ref")) {
    current = objectAt(definitions(), decodeURIComponent(name.slice("#/definitions/".length)))
  }
  return current
}

const typeOf = (value: Json): string => {
  if (value === null) return "null"
  if (isArray(value)) return "array"
  return typeof value
}

const typesOf = (schema: JsonObject): ReadonlyArray<string> => {
  const type = at(schema, "type")
  if (typeof type === "string") return [type]
  return isArray(type) ? type.filter((each) => typeof each === "string") : []
}

const hasType = (schema: JsonObject, value: Json): boolean => {
  const types = typesOf(schema)
  if (types.length === 0) return true
  return types.includes(typeOf(value)) || (Number.isInteger(value) && types.includes("integer"))
}

const same = (left: Json, right: Json): boolean =>
  left === right || (typeof left === "object" && JSON.stringify(left) === JSON.stringify(right))

/** The values that a schema allows by name, or `undefined` when it does not list them. */
const allowed = (schema: JsonObject): ReadonlyArray<Json> | undefined => {
  const constant = at(schema, "const")
  if (constant !== undefined) return [constant]
  const listed = at(schema, "enum")
  return isArray(listed) ? listed : undefined
}

const unknownKeys = (schema: JsonObject, value: JsonObject): ReadonlyArray<string> => {
  if (at(schema, "additionalProperties") !== false) return []
  const known = objectAt(schema, "properties")
  return Object.keys(value).filter((key) => !Object.hasOwn(known, key))
}

const missingKeys = (schema: JsonObject, value: JsonObject): ReadonlyArray<string> =>
  arrayAt(schema, "required")
    .filter((key) => typeof key === "string" && !Object.hasOwn(value, key))
    .map(String)

/** The schema of one key of an object. */
const schemaOfKey = (schema: JsonObject, key: string): Json | undefined =>
  at(objectAt(schema, "properties"), key) ?? at(schema, "additionalProperties")

/** What is wrong with a value itself, not looking inside it. */
const ownProblem = (schema: JsonObject, value: Json): string | undefined => {
  const minimum = numberAt(schema, "minimum")
  const maximum = numberAt(schema, "maximum")
  if (typeof value === "number") {
    if (minimum !== undefined && value < minimum) return `must be at least ${minimum}, but is ${value}`
    if (maximum !== undefined && value > maximum) return `must be at most ${maximum}, but is ${value}`
  }
  if (typeof value === "string") {
    const length = [...value].length
    if (length < (numberAt(schema, "minLength") ?? 0)) return "must not be empty"
    if (length > (numberAt(schema, "maxLength") ?? Infinity)) {
      return `must have at most ${numberAt(schema, "maxLength")} characters`
    }
  }
  if (isArray(value)) {
    const least = numberAt(schema, "minItems") ?? 0
    const most = numberAt(schema, "maxItems") ?? Infinity
    if (value.length < least) return `must have at least ${least} elements, but has ${value.length}`
    if (value.length > most) return `must have at most ${most} elements, but has ${value.length}`
  }
  if (isObject(value) && Object.keys(value).length < (numberAt(schema, "minProperties") ?? 0)) {
    return "must not be empty"
  }
  return undefined
}

const itemSchema = (schema: JsonObject, index: number): Json | undefined => {
  const items = at(schema, "items")
  return isArray(items) ? items[index] : items
}

/** Whether a value is what a schema asks for. */
const accepts = (node: Json | undefined, value: Json): boolean => {
  const schema = resolved(node)
  const alternatives = at(schema, "anyOf")
  if (isArray(alternatives) && !alternatives.some((alternative) => accepts(alternative, value))) return false
  if (!hasType(schema, value) || ownProblem(schema, value) !== undefined) return false
  const listed = allowed(schema)
  if (listed !== undefined && !listed.some((candidate) => same(candidate, value))) return false
  if (isArray(value)) return value.every((item, index) => accepts(itemSchema(schema, index), item))
  if (!isObject(value)) return true
  // Keys first: they tell the alternatives apart, and looking inside each of them would take exponential time.
  if (unknownKeys(schema, value).length > 0 || missingKeys(schema, value).length > 0) return false
  return Object.entries(value).every(([key, inner]) => accepts(schemaOfKey(schema, key), inner))
}

/** The alternatives of a schema, flattened: none of them is a choice again. */
const alternativesOf = (node: Json | undefined): ReadonlyArray<JsonObject> => {
  const schema = resolved(node)
  const alternatives = at(schema, "anyOf")
  if (!isArray(alternatives)) return [schema]
  // A bound may stand beside the alternatives and not inside them.
  const common = without(schema, "anyOf", "description")
  return alternatives.flatMap(alternativesOf).map((alternative) => ({ ...common, ...alternative }))
}

/** How far an object is from an alternative. The nearest one is the one that was meant. */
const remoteness = (schema: JsonObject, value: JsonObject): number => {
  const wrong = Object.entries(value).filter(
    ([key, inner]) => Object.hasOwn(objectAt(schema, "properties"), key) && !accepts(schemaOfKey(schema, key), inner)
  )
  // A wrong constant (`"type": "bar"`) says that another alternative was meant; another wrong value says much less.
  const constants = wrong.filter(([key]) => allowed(resolved(schemaOfKey(schema, key)))?.length === 1)
  return (
    unknownKeys(schema, value).length * 4 +
    missingKeys(schema, value).length * 3 +
    constants.length * 3 +
    (wrong.length - constants.length)
  )
}

/** The alternatives that are nearest to an object: usually one. */
const nearest = (schemas: ReadonlyArray<JsonObject>, value: JsonObject): ReadonlyArray<JsonObject> => {
  const measured = schemas.map((schema) => ({ schema, remoteness: remoteness(schema, value) }))
  const least = Math.min(...measured.map((each) => each.remoteness))
  return measured.filter((each) => each.remoteness === least).map(({ schema }) => schema)
}

/** Names a schema may list that are refused elsewhere, so that no message offers them. */
const unavailable: ReadonlySet<Json> = new Set<Json>(["image", "geoshape", "href", "url", "time", "data", "datasets"])

const listText = (values: ReadonlyArray<Json>, most = 30): string => {
  const offered = [...new Set(values.filter((value) => !unavailable.has(value)).map((value) => JSON.stringify(value)))]
  return offered.length > most ? `${offered.slice(0, most).join(", ")}, …` : offered.join(", ")
}

const kindText = (schemas: ReadonlyArray<JsonObject>): string => {
  const names: Readonly<Record<string, string>> = {
    string: "a text",
    number: "a number",
    integer: "a whole number",
    boolean: "true or false",
    object: "an object",
    array: "a list",
    null: "null"
  }
  const kinds = [...new Set(schemas.flatMap(typesOf).map((type) => names[type] ?? type))]
  return kinds.length < 2 ? kinds.join("") : `${kinds.slice(0, -1).join(", ")} or ${kinds.at(-1)}`
}

/** What other tools call it, and what it is called here. */
const synonyms: Readonly<Record<string, string>> = {
  avg: "average",
  total: "sum",
  number: "quantitative",
  numeric: "quantitative",
  numerical: "quantitative",
  category: "nominal",
  categorical: "nominal",
  string: "nominal",
  date: "temporal",
  datetime: "temporal",
  pie: "arc",
  donut: "arc",
  scatter: "point",
  column: "bar",
  histogram: "bar",
  heatmap: "rect"
}

/** The value that was probably meant by one that is not allowed. */
const meantBy = (value: Json, values: ReadonlyArray<Json>): string | undefined => {
  if (typeof value !== "string") return undefined
  const synonym = Object.hasOwn(synonyms, value.toLowerCase()) ? synonyms[value.toLowerCase()] : undefined
  if (synonym !== undefined && values.includes(synonym)) return synonym
  return closest(value, values.filter((each) => typeof each === "string" && !unavailable.has(each)).map(String))
}

/** Why a schema does not accept a value. Only asked when it does not. */
const explain = (node: Json | undefined, value: Json, place: Place): Problem => {
  const schemas = alternativesOf(node)
  const ofType = schemas.filter((schema) => hasType(schema, value))
  if (ofType.length === 0) {
    const values = schemas.flatMap((schema) => allowed(schema) ?? [])
    const expected = values.length > 0 ? `one of ${listText(values)}` : kindText(schemas)
    const objects = values.length > 0 && schemas.some((schema) => typesOf(schema).includes("object"))
    return { place, message: `must be ${expected}${objects ? " or an object" : ""}, but is ${shown(value)}` }
  }
  if (isObject(value)) return explainObject(ofType, value, place)
  if (isArray(value)) return explainList(ofType, value, place)
  const values = ofType.flatMap((schema) => allowed(schema) ?? [])
  if (values.length > 0) {
    const meant = meantBy(value, values)
    const hint = meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`
    return { place, message: `must be one of ${listText(values)}, but is ${shown(value)}${hint}` }
  }
  const own = ofType.map((schema) => ownProblem(schema, value)).find((problem) => problem !== undefined)
  return { place, message: own ?? `cannot be ${shown(value)}` }
}

const explainObject = (schemas: ReadonlyArray<JsonObject>, value: JsonObject, place: Place): Problem => {
  const near = nearest(schemas, value)
  const [schema = {}] = near
  const [unknown] = unknownKeys(schema, value)
  if (unknown !== undefined) {
    const known = [...new Set(schemas.flatMap((each) => Object.keys(objectAt(each, "properties"))))]
    const meant = closest(unknown, known)
    // A key of another alternative is not unknown as such: it only does not go together with the rest.
    const name = JSON.stringify(unknown)
    if (known.includes(unknown)) {
      const others = Object.keys(value).filter((key) => key !== unknown)
      return { place, message: `${name} does not go together with ${listText(others)}` }
    }
    const hint = meant === undefined || unavailable.has(meant) ? "" : `; did you mean ${JSON.stringify(meant)}?`
    return { place, message: `${name} is not a property here (there are ${listText(known)})${hint}` }
  }
  const missing = new Set(near.flatMap((each) => missingKeys(each, value).slice(0, 1)))
  if (missing.size > 0) {
    return { place, message: `${[...missing].map((key) => JSON.stringify(key)).join(" or ")} is missing` }
  }
  for (const [key, inner] of Object.entries(value)) {
    const inside = schemaOfKey(schema, key)
    if (!accepts(inside, inner)) return explain(inside, inner, [...place, key])
  }
  return { place, message: ownProblem(schema, value) ?? "is not what Vega-Lite expects here" }
}

const explainList = (schemas: ReadonlyArray<JsonObject>, value: ReadonlyArray<Json>, place: Place): Problem => {
  const lengths = schemas.map((schema) => ownProblem(schema, value))
  const schema = schemas[lengths.indexOf(undefined)]
  if (schema === undefined) return { place, message: lengths[0] ?? "is not what Vega-Lite expects here" }
  const index = value.findIndex((item, position) => !accepts(itemSchema(schema, position), item))
  const item = value[index]
  if (item === undefined) return { place, message: "is not what Vega-Lite expects here" }
  return explain(itemSchema(schema, index), item, [...place, index])
}

const kinds = [
  ["layer", "TopLevelLayerSpec"],
  ["repeat", "TopLevelRepeatSpec"],
  ["facet", "TopLevelFacetSpec"],
  ["vconcat", "TopLevelVConcatSpec"],
  ["hconcat", "TopLevelHConcatSpec"],
  ["concat", "TopLevelConcatSpec"]
] as const

/**
 * Checks a specification against the schema of Vega-Lite. The data is not the specification's: it is judged as if the
 * result were bound to it already.
 */
export const check = (specification: JsonObject): Problem | undefined => {
  const bound = { ...specification, data: { name: "result" } }
  const [, name] = kinds.find(([key]) => Object.hasOwn(bound, key)) ?? ["mark", "TopLevelUnitSpec"]
  if (name === "TopLevelUnitSpec" && !Object.hasOwn(bound, "mark")) {
    const marks = alternativesOf({ $ref: "#/definitions/AnyMark" }).flatMap((schema) => allowed(schema) ?? [])
    return { place: [], message: `the specification needs a "mark", one of ${listText(marks)}, and an "encoding"` }
  }
  const node = { $ref: `#/definitions/${name}` }
  return accepts(node, bound) ? undefined : explain(node, bound, [])
}

/** Whether a specification follows the schema, and so is what the compiler of Vega-Lite takes. */
export const isSpecification = (specification: unknown): specification is TopLevelSpec =>
  isObject(specification) && check(specification) === undefined
