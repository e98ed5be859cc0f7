/**
 * Repeated views, written out: `repeat` becomes the views that it stands for, so that each of them is checked, typed
 * and typeset like any other.
 */
import * as Result from "effect/Result"
import {
  at,
  isArray,
  isObject,
  objectAt,
  textAt,
  without,
  type Json,
  type JsonObject,
  type Place,
  type Problem
} from "./Json.ts"

/** The most plots that one chart is made of. */
export const mostPlots = 40

/** The most views that are written out before that is even counted. */
const mostViews = 500

/** The field that each kind of repetition puts in: `{"repeat": "column"}` stands for it. */
type Fields = ReadonlyMap<string, string>

/** Writes out every repetition. */
export const expand = (specification: JsonObject): Result.Result<JsonObject, Problem> => {
  let views = 0
  let problem: Problem | undefined

  const view = (value: JsonObject, fields: Fields, place: Place): JsonObject => {
    if (problem !== undefined) return value
    const repeat = at(value, "repeat")
    const spec = at(value, "spec")
    if (repeat !== undefined && isObject(spec)) return repeated(value, repeat, spec, fields, place)
    if (++views > mostViews) problem = { place, message: `the chart is made of more than ${mostPlots} plots` }
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]): [string, Json] => {
        const here = [...place, key]
        if (key === "spec" && isObject(inner)) return [key, view(inner, fields, here)]
        if (["layer", "concat", "hconcat", "vconcat"].includes(key) && isArray(inner)) {
          return [key, inner.map((each, index) => (isObject(each) ? view(each, fields, [...here, index]) : each))]
        }
        return [key, substituted(inner, fields)]
      })
    )
  }

  const repeated = (value: JsonObject, repeat: Json, spec: JsonObject, above: Fields, place: Place): JsonObject => {
    const rest = without(value, "repeat", "spec", "columns")
    const of = (fields: Fields): JsonObject => view(spec, new Map([...above, ...fields]), [...place, "spec"])
    if (isArray(repeat)) {
      const columns = at(value, "columns")
      const concat = texts(repeat).map((field) => of(new Map([["repeat", field]])))
      return { ...rest, concat, ...(columns === undefined ? {} : { columns }) }
    }
    const layers = texts(at(repeat, "layer"))
    const layered = (fields: Fields): JsonObject =>
      layers.length === 0 ? of(fields) : { layer: layers.map((layer) => of(new Map([...fields, ["layer", layer]]))) }
    const rows = texts(at(repeat, "row"))
    const columns = texts(at(repeat, "column"))
    if (rows.length === 0 && columns.length === 0) return { ...rest, ...layered(new Map()) }
    const grid = (rows.length === 0 ? [undefined] : rows).flatMap((row) =>
      (columns.length === 0 ? [undefined] : columns).map((column) => {
        const fields = new Map<string, string>()
        if (row !== undefined) fields.set("row", row)
        if (column !== undefined) fields.set("column", column)
        return layered(fields)
      })
    )
    return { ...rest, concat: grid, columns: Math.max(1, columns.length) }
  }

  const expanded = view(specification, new Map(), [])
  if (plotsIn(expanded) > mostPlots)
    problem ??= { place: [], message: `the chart is made of more than ${mostPlots} plots` }
  return problem === undefined ? Result.succeed(expanded) : Result.fail(problem)
}

const texts = (value: Json | undefined): ReadonlyArray<string> =>
  isArray(value) ? value.filter((each) => typeof each === "string") : []

/** A value with every `{"repeat": …}` replaced by the field that it stands for. */
const substituted = (value: Json, fields: Fields): Json => {
  if (isArray(value)) return value.map((each) => substituted(each, fields))
  if (!isObject(value)) return value
  const repeat = textAt(value, "repeat")
  if (repeat !== undefined && Object.keys(value).length === 1) return fields.get(repeat) ?? value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, substituted(inner, fields)]))
}

/** How many plots a specification is made of. */
const plotsIn = (value: JsonObject): number => {
  const children = ["concat", "hconcat", "vconcat"].flatMap((key) => {
    const list = at(value, key)
    return isArray(list) ? list.filter((each) => isObject(each)) : []
  })
  if (children.length > 0) return children.map(plotsIn).reduce((sum, each) => sum + each, 0)
  return Object.hasOwn(value, "spec") ? plotsIn(objectAt(value, "spec")) : 1
}
