/**
 * The schemas of the document, made fit to read.
 */
import { componentExamples } from "../Examples.ts"
import { isArray, isObject, type Json, type JsonObject, mapObjects, objectAt, rewrite, without } from "./JsonTree.ts"

const schemaPrefix = "#/components/schemas/"

/** A reference to a schema by its name. */
export const refTo = (name: string): JsonObject => ({ $ref: `${schemaPrefix}${name}` })

/** The name of the component that a schema refers to. */
export const componentOf = (schema: Json | undefined): string | undefined => {
  if (!isObject(schema)) return undefined
  const { $ref } = schema
  return typeof $ref === "string" && $ref.startsWith(schemaPrefix) ? $ref.slice(schemaPrefix.length) : undefined
}

/** The names of the components that a schema refers to, itself or by its alternatives. */
export const componentsOf = (schema: Json | undefined): ReadonlyArray<string> => {
  const name = componentOf(schema)
  if (name !== undefined) return [name]
  const alternatives = isObject(schema) ? schema["anyOf"] : undefined
  return alternatives !== undefined && isArray(alternatives) ? alternatives.flatMap(componentsOf) : []
}

/** A schema whose refinements stand beside its type, not in an `allOf` of their own. */
const flatten = (schema: JsonObject): JsonObject => {
  const { allOf } = schema
  if (allOf === undefined || !isArray(allOf)) return schema
  const parts = allOf.filter(isObject)
  if (parts.length !== allOf.length || parts.some((part) => "$ref" in part)) return schema
  return Object.assign({}, without(schema, "allOf"), ...parts)
}

/** The bounds of every integer of JavaScript say nothing about this one. */
const withoutSafeBounds = (schema: JsonObject): JsonObject =>
  without(
    schema,
    ...(schema["minimum"] === Number.MIN_SAFE_INTEGER ? ["minimum"] : []),
    ...(schema["maximum"] === Number.MAX_SAFE_INTEGER ? ["maximum"] : [])
  )

/** More fields may come, and unknown ones are ignored. */
const open = (schema: JsonObject): JsonObject =>
  schema["additionalProperties"] === false ? without(schema, "additionalProperties") : schema

/** A schema without what the derivation leaves of its own workings. */
export const tidySchema = (schema: JsonObject): JsonObject => open(withoutSafeBounds(flatten(schema)))

/** Puts the components of texts that hold JSON in the places that refer to them. */
export const inlineEncoded = (document: JsonObject): JsonObject => {
  const components = objectAt(document, "components")
  const schemas = objectAt(components, "schemas")
  const encoded = Object.keys(schemas).filter((name) => name.endsWith("Encoded"))
  const inlined = rewrite(document, (value) => {
    const name = componentOf(value)
    return name !== undefined && encoded.includes(name) ? objectAt(schemas, name) : value
  })
  if (!isObject(inlined)) return document
  const tidied = objectAt(inlined, "components")
  return {
    ...inlined,
    components: { ...tidied, schemas: without(objectAt(tidied, "schemas"), ...encoded) }
  }
}

/** A union of objects that a field tells apart says so. */
const discriminated = (schema: JsonObject, schemas: JsonObject): JsonObject => {
  const { anyOf } = schema
  if (anyOf === undefined || !isArray(anyOf)) return schema
  const mapping: Record<string, string> = {}
  for (const member of anyOf) {
    const name = componentOf(member)
    if (name === undefined) return schema
    const { enum: values } = objectAt(objectAt(objectAt(schemas, name), "properties"), "type")
    const only = values !== undefined && isArray(values) ? values[0] : undefined
    if (typeof only !== "string") return schema
    mapping[only] = `${schemaPrefix}${name}`
  }
  return { ...without(schema, "anyOf"), oneOf: anyOf, discriminator: { propertyName: "type", mapping } }
}

/** The schemas in the order of their names, each with an example. */
export const tidySchemas = (schemas: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(mapObjects(schemas, (schema) => discriminated(schema, schemas)))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => {
        const example = componentExamples[name]
        return [name, isObject(schema) && example !== undefined ? { ...schema, examples: [example] } : schema]
      })
  )
