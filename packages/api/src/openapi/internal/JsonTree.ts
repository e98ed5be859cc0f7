/**
 * Reading and rewriting JSON whose shape is known only in part.
 */
import * as Schema from "effect/Schema"

/** A value of JSON. */
export type Json = Schema.Json

/** An object of JSON. */
export type JsonObject = { readonly [key: string]: Json }

/** Any value as JSON; throws when it is none. */
export const decodeJson = Schema.decodeUnknownSync(Schema.Json)

/** Whether a value is an array. */
export const isArray = (json: Json): json is ReadonlyArray<Json> => Array.isArray(json)

/** Whether a value is an object, and no array. */
export const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !isArray(json)

/** The object at a key; an empty one where there is none. */
export const objectAt = (json: JsonObject, key: string): JsonObject => {
  const value = json[key]
  return isObject(value) ? value : {}
}

/** An object with its values changed. */
export const mapValues = (json: JsonObject, f: (value: Json, key: string) => Json): JsonObject =>
  Object.fromEntries(Object.entries(json).map(([key, value]) => [key, f(value, key)]))

/** An object with those of its values changed that are objects. */
export const mapObjects = (json: JsonObject, f: (value: JsonObject, key: string) => Json): JsonObject =>
  mapValues(json, (value, key) => (isObject(value) ? f(value, key) : value))

/** An object without some of its keys. */
export const without = (json: JsonObject, ...keys: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(Object.entries(json).filter(([key]) => !keys.includes(key)))

/** Rewrites every object of a tree, from the leaves up; what is an example is data, and stays. */
export const rewrite = (json: Json, f: (value: JsonObject) => JsonObject): Json => {
  if (isArray(json)) return json.map((item) => rewrite(item, f))
  if (!isObject(json)) return json
  return f(mapValues(json, (value, key) => (key === "example" || key === "examples" ? value : rewrite(value, f))))
}
