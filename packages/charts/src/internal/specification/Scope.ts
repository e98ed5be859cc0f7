/**
 * The fields that a place of a specification can name: the columns of the result, changed by the transforms above it.
 */
import { splitAccessPath } from "vega"
import { arrayAt, at, closest, isArray, isObject, shorten, textAt, type Json, type JsonObject } from "./Json.ts"

/** What a field holds, as far as a chart cares. */
export type Kind = "text" | "number" | "boolean" | "temporal" | "structure" | "unknown"

/** A field in scope. */
export interface Field {
  readonly kind: Kind
  /** The column of the result whose values it holds unchanged. */
  readonly column?: string
}

/** The fields in scope, by name. */
export type Scope = ReadonlyMap<string, Field>

/** A field that a specification named and that is there. */
export interface Found extends Field {
  /** The name as Vega-Lite reads it: dots and brackets that belong to the name are escaped. */
  readonly field: string
}

/** Finds a field by the name that a specification gives, or says that there is none. */
export const find = (scope: Scope, name: string): Found | string => {
  const field = scope.get(name)
  if (field !== undefined) return { ...field, field: escaped(keyOf(name)) }
  const steps = accessPath(name)
  const [first] = steps
  if (first !== undefined) {
    const outer = scope.get(first)
    if (outer !== undefined && steps.length === 1) return { ...outer, field: escaped(keyOf(first)) }
    // A path into a structured value: what it holds is not known before it is read.
    if (outer !== undefined && outer.kind === "structure") return { kind: "unknown", field: name }
  }
  return unknown(scope, name)
}

/** Says that a field is not there, which ones are, and which one was probably meant. */
export const unknown = (scope: Scope, name: string): string => {
  const names = [...scope.keys()]
  const listed = names.slice(0, 40).map((each) => JSON.stringify(shorten(each)))
  const columns = names.length > listed.length ? `${listed.join(", ")}, …` : listed.join(", ")
  const meant = closest(name, names)
  const hint = meant === undefined ? "" : `; did you mean ${JSON.stringify(shorten(meant))}?`
  return `there is no column ${JSON.stringify(shorten(name))} here; the columns are ${columns === "" ? "none" : columns}${hint}`
}

const accessPath = (name: string): ReadonlyArray<string> => {
  try {
    return splitAccessPath(name)
  } catch {
    // Unbalanced brackets or quotes: a name, if anything, and no path.
    return []
  }
}

/** Whether a name is one that every JavaScript object answers to. Vega-Lite looks names up without asking whose. */
export const isInherited = (name: string): boolean => name in Object.prototype

/** The name under which a row holds a column: its own, unless objects inherit that. */
export const keyOf = (name: string): string => (isInherited(name) ? `${name}_` : name)

/** A name as Vega-Lite reads it literally: brackets, dots, quotes and backslashes mean nothing after a backslash. */
export const escaped = (name: string): string => name.replaceAll(/[\\.[\]'"]/g, "\\$&")

/** What an aggregate makes of a field. */
const aggregated = (op: Json | undefined, field: Field | undefined): Field =>
  (op === "min" || op === "max") && field?.kind === "temporal" ? { kind: "temporal" } : { kind: "number" }

const names = (value: Json | undefined): ReadonlyArray<string> =>
  isArray(value) ? value.filter((each) => typeof each === "string") : typeof value === "string" ? [value] : []

const fieldIn = (scope: Scope, name: string): Field | undefined => {
  const found = find(scope, name)
  return typeof found === "string" ? undefined : found
}

const kept = (scope: Scope, groups: Json | undefined): Map<string, Field> =>
  new Map(
    names(groups).map((name) => {
      const found = find(scope, name)
      return [name, typeof found === "string" ? { kind: "unknown" } : withoutName(found)]
    })
  )

const withoutName = (found: Found): Field =>
  found.column === undefined ? { kind: found.kind } : { kind: found.kind, column: found.column }

/** The distinct values of a column as texts, when they are few enough to become columns themselves. */
export type DistinctValues = (column: string) => ReadonlyArray<string> | undefined

/** The scope below a transform. `undefined` when its fields depend on data that is not known before it runs. */
export const after = (scope: Scope, transform: JsonObject, distinct: DistinctValues): Scope | undefined => {
  const added = new Map(scope)
  const groups = at(transform, "groupby")
  const named = names(at(transform, "as"))
  const as = (index: number, otherwise: string): string => named[index] ?? otherwise
  const has = (key: string): boolean => Object.hasOwn(transform, key)

  if (has("aggregate") || has("joinaggregate") || has("window")) {
    const below = has("aggregate") ? kept(scope, groups) : added
    for (const each of ["aggregate", "joinaggregate", "window"].flatMap((key) => arrayAt(transform, key))) {
      const name = textAt(each, "as")
      if (name === undefined || !isObject(each)) continue
      const op = at(each, "op")
      const source = fieldIn(scope, textAt(each, "field") ?? "")
      const passes = ["lag", "lead", "first_value", "last_value", "nth_value", "mode"].includes(String(op))
      below.set(
        name,
        passes ? { kind: source?.kind ?? "unknown" } : isObject(op) ? { kind: "unknown" } : aggregated(op, source)
      )
    }
    return below
  }
  if (has("calculate")) return added.set(as(0, ""), { kind: "unknown" })
  if (has("bin")) {
    added.set(as(0, ""), { kind: "number" })
    return named[0] === undefined ? added : added.set(as(1, `${named[0]}_end`), { kind: "number" })
  }
  if (has("timeUnit")) {
    added.set(as(0, ""), { kind: "temporal" })
    return named[0] === undefined ? added : added.set(`${named[0]}_end`, { kind: "temporal" })
  }
  if (has("stack")) {
    return added.set(as(0, ""), { kind: "number" }).set(as(1, `${as(0, "")}_end`), { kind: "number" })
  }
  if (has("fold")) return added.set(as(0, "key"), { kind: "text" }).set(as(1, "value"), foldKind(scope, transform))
  if (has("flatten")) {
    for (const [index, name] of names(at(transform, "flatten")).entries())
      added.set(as(index, name), { kind: "unknown" })
    return added
  }
  if (has("density")) {
    return kept(scope, groups).set(as(0, "value"), { kind: "number" }).set(as(1, "density"), { kind: "number" })
  }
  if (has("quantile")) {
    return kept(scope, groups).set(as(0, "prob"), { kind: "number" }).set(as(1, "value"), { kind: "number" })
  }
  if (has("regression") || has("loess")) {
    const dependent = textAt(transform, "regression") ?? textAt(transform, "loess") ?? ""
    const independent = textAt(transform, "on") ?? ""
    if (at(transform, "params") === true) {
      return kept(scope, groups).set("coef", { kind: "structure" }).set("rSquared", { kind: "number" })
    }
    const x = fieldIn(scope, independent)?.kind ?? "number"
    return kept(scope, groups).set(as(0, independent), { kind: x }).set(as(1, dependent), { kind: "number" })
  }
  if (has("pivot")) {
    const source = fieldIn(scope, textAt(transform, "pivot") ?? "")
    const values = source?.column === undefined ? undefined : distinct(source.column)
    if (values === undefined) return undefined
    const below = kept(scope, groups)
    for (const value of values) below.set(value, { kind: "number" })
    return below
  }
  return added
}

const foldKind = (scope: Scope, transform: JsonObject): Field => {
  const kinds = new Set(names(at(transform, "fold")).map((name) => fieldIn(scope, name)?.kind ?? "unknown"))
  const [only] = kinds
  return { kind: kinds.size === 1 && only !== undefined ? only : "unknown" }
}
