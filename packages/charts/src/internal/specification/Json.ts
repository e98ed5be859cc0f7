/**
 * JSON as a type, and how to look into it without tripping over a prototype.
 *
 * A chart specification is written by a language model, so it stays plain JSON until the schema of Vega-Lite has
 * accepted it. Everything between reads and rebuilds it with the few functions below.
 */

/** Any JSON value. */
export type Json = null | boolean | number | string | JsonArray | JsonObject
/** A JSON array. */
export interface JsonArray extends ReadonlyArray<Json> {}
/** A JSON object. Read it with {@link at}: its keys come from outside. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** A place in a JSON document: the keys and positions that lead to it. */
export type Place = ReadonlyArray<string | number>

/** What is wrong, and where. An empty place is the document itself. */
export interface Problem {
  readonly place: Place
  /** Says what is wrong, without the place; starts in lower case and ends without a full stop. */
  readonly message: string
}

/** Whether a value is a JSON array. */
export const isArray = (value: Json | undefined): value is JsonArray => Array.isArray(value)

/** Whether a value is a JSON object (and neither `null` nor an array). Ask it about JSON only. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The value under a key, or `undefined` when the value is no object or has no such key of its own. */
export const at = (value: Json | undefined, key: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

/** The object under a key, or an empty one. */
export const objectAt = (value: Json | undefined, key: string): JsonObject => {
  const found = at(value, key)
  return isObject(found) ? found : {}
}

/** The text under a key, or `undefined` when there is something else or nothing. */
export const textAt = (value: Json | undefined, key: string): string | undefined => {
  const found = at(value, key)
  return typeof found === "string" ? found : undefined
}

/** The number under a key, or `undefined` when there is something else or nothing. */
export const numberAt = (value: Json | undefined, key: string): number | undefined => {
  const found = at(value, key)
  return typeof found === "number" ? found : undefined
}

/** The array under a key, or an empty one. */
export const arrayAt = (value: Json | undefined, key: string): JsonArray => {
  const found = at(value, key)
  return isArray(found) ? found : []
}

/** An object without some of its keys. */
export const without = (value: JsonObject, ...keys: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))

/** Two objects on top of each other, all the way down; where both hold a value that is not an object, `over` wins. */
export const merge = (under: JsonObject, over: JsonObject): JsonObject => {
  const merged: Record<string, Json> = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const below = at(under, key)
    merged[key] = isObject(below) && isObject(value) ? merge(below, value) : value
  }
  return merged
}

const plainKey = /^[A-Za-z_$][\w$-]*$/

/** A place as text: `encoding.x.type`, `layer[0].mark`, `["odd key"]`. */
export const placeText = (place: Place): string =>
  place.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`
    if (!plainKey.test(step)) return `${text}[${JSON.stringify(shorten(step))}]`
    return text === "" ? step : `${text}.${step}`
  }, "")

/** A problem as one sentence that starts with its place. */
export const sentence = (problem: Problem): string => {
  const place = placeText(problem.place)
  const text = place === "" ? capitalised(problem.message) : `${place}: ${problem.message}`
  return /[.?!]$/.test(text) ? text : `${text}.`
}

/** A text with its first letter in upper case. */
export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** A text cut to a length that fits into a message. */
export const shorten = (text: string, length = 60): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`

/** A value as it would be shown in a message. */
export const shown = (value: Json | undefined): string => {
  if (value === undefined) return "nothing"
  if (isArray(value)) return "a list"
  if (isObject(value)) return "an object"
  return typeof value === "string" ? JSON.stringify(shorten(value)) : String(value)
}

/** The candidate that a misspelt name was probably meant to be, if one is close. */
export const closest = (name: string, candidates: Iterable<string>): string | undefined => {
  const wanted = name.toLowerCase()
  let best: string | undefined
  let least = (name.length <= 3 ? 1 : Math.max(2, Math.floor(name.length / 3))) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least) continue
    const found = distance(wanted, candidate.toLowerCase())
    if (found < least) {
      least = found
      best = candidate
    }
  }
  return best
}

/** How many letters one has to add, drop or change to get from one word to the other (Levenshtein). */
const distance = (left: string, right: string): number => {
  let above = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const line = [row]
    for (let column = 1; column <= right.length; column++) {
      const change = (above[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1)
      line.push(Math.min(change, (above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1))
    }
    above = line
  }
  return above[right.length] ?? 0
}
