/**
 * The first door: any JavaScript value in, a bounded and plain JSON object out.
 *
 * What a model wrote may be of any shape and size. It is copied here, so that nothing later meets a cycle, a getter,
 * a prototype or a document large enough to matter.
 */
import * as Result from "effect/Result"
import type { Json, JsonObject, Place, Problem } from "./Json.ts"

/** How large a specification may be: far more than any chart needs, far less than what would hurt. */
export const limits = {
  /** Objects and lists inside one another. */
  depth: 24,
  /** Objects, lists and single values together. */
  values: 10_000,
  /** Characters of all texts and keys together. */
  characters: 100_000
} as const

/** Keys that name a prototype. No specification needs them. */
const forbiddenKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"])

/** Reads a specification into plain JSON, or says why it cannot be one. */
export const read = (input: unknown): Result.Result<JsonObject, Problem> =>
  Result.flatMap(
    Result.try({
      // Reading a foreign value runs its getters and proxies, which may throw anything.
      try: () => copyAll(input),
      catch: (): Problem => ({ place: [], message: "the specification cannot be read as JSON" })
    }),
    (result) => result
  )

const copyAll = (input: unknown): Result.Result<JsonObject, Problem> => {
  let values = 0
  let characters = 0
  let problem: Problem | undefined

  const refuse = (place: Place, message: string): null => {
    problem ??= { place, message }
    return null
  }

  const count = (text: string): void => {
    characters += text.length
    if (characters > limits.characters) {
      refuse([], `the specification is larger than ${limits.characters.toLocaleString("en-US")} characters`)
    }
  }

  const copy = (value: unknown, place: Place): Json => {
    if (problem !== undefined) return null
    values++
    if (values > limits.values) {
      return refuse([], `the specification holds more than ${limits.values.toLocaleString("en-US")} values`)
    }
    if (value === null || typeof value === "boolean") return value
    if (typeof value === "string") {
      count(value)
      return value
    }
    if (typeof value === "number") {
      return Number.isFinite(value) ? value : refuse(place, `${value} is not a number that JSON knows`)
    }
    if (typeof value !== "object") return refuse(place, `a ${typeof value} is not JSON`)
    if (place.length >= limits.depth) {
      return refuse([], `the specification is nested deeper than ${limits.depth} levels`)
    }
    return Array.isArray(value) ? copyList(value, place) : copyObject(value, place)
  }

  const copyList = (list: ReadonlyArray<unknown>, place: Place): Json => {
    if (list.length > limits.values) {
      return refuse([], `the specification holds more than ${limits.values.toLocaleString("en-US")} values`)
    }
    return Array.from(list, (value, index) => copy(value, [...place, index]))
  }

  const copyObject = (object: object, place: Place): JsonObject | null => {
    const prototype: unknown = Object.getPrototypeOf(object)
    // A plain object of another realm has a root prototype too, only not ours.
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
      return refuse(place, "only plain objects are JSON")
    }
    const copied: Record<string, Json> = {}
    for (const [key, value] of Object.entries(object)) {
      if (problem !== undefined) return null
      if (forbiddenKeys.has(key)) return refuse(place, `the key ${JSON.stringify(key)} is not allowed`)
      count(key)
      // As in JSON: a key without a value is no key.
      if (value !== undefined) copied[key] = copy(value, [...place, key])
    }
    return copied
  }

  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    const got =
      input === null || input === undefined ? String(input) : Array.isArray(input) ? "a list" : `a ${typeof input}`
    return Result.fail({ place: [], message: `the specification must be a Vega-Lite object, but it is ${got}` })
  }
  const specification = copyObject(input, [])
  return problem === undefined && specification !== null
    ? Result.succeed(specification)
    : Result.fail(problem ?? { place: [], message: "the specification cannot be read as JSON" })
}
