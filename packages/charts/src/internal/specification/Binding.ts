/**
 * Ties a specification to the columns of a result: every field that it names is there, every encoding knows its type,
 * every expression is allowed, and every moment is read in UTC, so that no day shifts with a reader's time zone.
 */
import * as Result from "effect/Result"
import { computing, counting, secondary, typeOf } from "./Channels.ts"
import * as Expressions from "./Expressions.ts"
import { arrayAt, at, isArray, isObject, textAt, type Json, type JsonObject, type Place, type Problem } from "./Json.ts"
import * as Scope from "./Scope.ts"
import { isDateTime, momentInUtc, moments, unitInUtc } from "./UniversalTime.ts"

/** How the specification uses a column, and where it first does. */
export interface Uses {
  /** Columns that are read as moments. */
  readonly temporal: ReadonlyMap<string, Place>
  /** Columns that are read as quantities. */
  readonly quantitative: ReadonlyMap<string, Place>
}

/** A specification whose fields are bound. */
export interface Bound {
  readonly specification: JsonObject
  readonly uses: Uses
}

/** The keys of transforms whose texts name fields. */
const naming: ReadonlySet<string> = new Set([
  "field",
  "groupby",
  "fold",
  "flatten",
  "density",
  "loess",
  "on",
  "regression",
  "quantile",
  "pivot",
  "value",
  "impute",
  "key",
  "stack",
  "extent"
])

/** Binds a specification to fields in scope. */
export const bind = (
  specification: JsonObject,
  columns: Scope.Scope,
  distinct: Scope.DistinctValues
): Result.Result<Bound, Problem> => {
  const temporal = new Map<string, Place>()
  const quantitative = new Map<string, Place>()
  let problem: Problem | undefined

  const refuse = (place: Place, message: string): void => {
    problem ??= { place, message }
  }

  /** An undefined scope is one that only the data will tell: there, every name passes. */
  const resolve = (scope: Scope.Scope | undefined, name: string, place: Place): Scope.Found => {
    const found = scope === undefined ? undefined : Scope.find(scope, name)
    if (typeof found === "string") refuse(place, found)
    return typeof found === "object" ? found : { kind: "unknown", field: name }
  }

  const expression = (text: string, scope: Scope.Scope | undefined, place: Place): string => {
    const read = Expressions.read(text)
    if (typeof read === "string") {
      refuse(place, read)
      return text
    }
    for (const name of scope === undefined ? [] : read.fields) {
      if (scope?.has(name) === false) refuse(place, Scope.unknown(scope, name))
      else if (Scope.isInherited(name))
        refuse(place, `the column ${JSON.stringify(name)} cannot be used in an expression`)
    }
    return read.text
  }

  const timeUnit = (value: Json): Json => {
    if (typeof value === "string") return unitInUtc(value)
    if (!isObject(value)) return value
    const unit = textAt(value, "unit")
    return { ...value, utc: true, ...(unit === undefined ? {} : { unit: unit.replace(/^utc/, "") }) }
  }

  /** Everything that means the same wherever it stands: expressions, moments, conditions. */
  const anywhere = (value: Json, scope: Scope.Scope | undefined, place: Place): Json => {
    if (isArray(value)) return value.map((item, index) => anywhere(item, scope, [...place, index]))
    if (!isObject(value)) return value
    if (isDateTime(value)) return { ...value, utc: true }
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]): [string, Json] => {
        const here = [...place, key]
        // The rows behind an `expr` or a `labelExpr` are Vega's own, not the result's.
        if ((key === "expr" || key === "labelExpr") && typeof inner === "string") {
          return [key, expression(inner, undefined, here)]
        }
        if (key === "test") return [key, predicate(inner, scope, here, false)]
        return [key, anywhere(inner, scope, here)]
      })
    )
  }

  const predicate = (value: Json, scope: Scope.Scope | undefined, place: Place, strict = true): Json => {
    if (typeof value === "string") return expression(value, strict ? scope : undefined, place)
    if (isArray(value)) return value.map((item, index) => predicate(item, scope, [...place, index], strict))
    if (!isObject(value)) return value
    const name = textAt(value, "field")
    const found = name === undefined ? undefined : resolve(strict ? scope : undefined, name, [...place, "field"])
    if (found !== undefined && (found.kind === "temporal" || Object.hasOwn(value, "timeUnit")))
      use(temporal, found, place)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]): [string, Json] => {
        const here = [...place, key]
        if (key === "and" || key === "or" || key === "not") return [key, predicate(inner, scope, here, strict)]
        if (key === "field") return [key, found?.field ?? inner]
        if (key === "timeUnit") return [key, timeUnit(inner)]
        return [key, anywhere(found?.kind === "temporal" ? moments(inner) : inner, scope, here)]
      })
    )
  }

  const use = (uses: Map<string, Place>, found: Scope.Found, place: Place): void => {
    if (found.column !== undefined && !uses.has(found.column)) uses.set(found.column, place)
  }

  const transforms = (
    list: ReadonlyArray<Json>,
    above: Scope.Scope | undefined,
    place: Place
  ): { readonly list: ReadonlyArray<Json>; readonly scope: Scope.Scope | undefined } => {
    let scope = above
    const rewritten = list.map((each, index): Json => {
      if (!isObject(each)) return each
      const bound = transform(each, scope, [...place, index])
      scope = scope === undefined || problem !== undefined ? undefined : Scope.after(scope, each, distinct)
      return bound
    })
    return { list: rewritten, scope }
  }

  const transform = (value: JsonObject, scope: Scope.Scope | undefined, place: Place): JsonObject =>
    Object.fromEntries(
      Object.entries(value).map(([key, inner]): [string, Json] => {
        const here = [...place, key]
        if (key === "calculate" && typeof inner === "string") return [key, expression(inner, scope, here)]
        if (key === "filter") return [key, predicate(inner, scope, here)]
        if (key === "timeUnit") {
          const name = textAt(value, "field")
          if (name !== undefined) use(temporal, resolve(scope, name, [...place, "field"]), place)
          return [key, timeUnit(inner)]
        }
        // The `value` of an imputation is a value; that of a pivot is a field.
        if (naming.has(key) && !(key === "value" && !Object.hasOwn(value, "pivot")))
          return [key, fields(inner, scope, here)]
        if (key === "aggregate" || key === "joinaggregate" || key === "window" || key === "sort") {
          return [key, isArray(inner) ? inner.map((each, index) => operation(each, scope, [...here, index])) : inner]
        }
        return [key, anywhere(inner, scope, here)]
      })
    )

  const operation = (value: Json, scope: Scope.Scope | undefined, place: Place): Json => {
    const name = textAt(value, "field")
    if (!isObject(value) || name === undefined || (name === "*" && at(value, "op") === "count")) return value
    const found = resolve(scope, name, [...place, "field"])
    if (computing.has(at(value, "op"))) use(quantitative, found, [...place, "field"])
    return { ...value, field: found.field }
  }

  const fields = (value: Json, scope: Scope.Scope | undefined, place: Place): Json => {
    if (typeof value === "string") return resolve(scope, value, place).field
    if (isArray(value)) return value.map((item, index) => fields(item, scope, [...place, index]))
    return anywhere(value, scope, place)
  }

  const encoding = (value: JsonObject, scope: Scope.Scope | undefined, place: Place): JsonObject =>
    Object.fromEntries(
      Object.entries(value).map(([channel, definition]): [string, Json] => {
        const here = [...place, channel]
        return [
          channel,
          isArray(definition)
            ? definition.map((each, index) => channelDefinition(channel, each, scope, [...here, index]))
            : channelDefinition(channel, definition, scope, here)
        ]
      })
    )

  const channelDefinition = (channel: string, value: Json, scope: Scope.Scope | undefined, place: Place): Json => {
    if (!isObject(value)) return value
    const name = textAt(value, "field")
    const found = name === undefined ? undefined : resolve(scope, name, [...place, "field"])
    const bound: Record<string, Json> = {}
    for (const [key, inner] of Object.entries(value)) {
      const here = [...place, key]
      if (key === "field") bound[key] = found?.field ?? inner
      else if (key === "timeUnit") bound[key] = timeUnit(inner)
      else if (key === "condition") {
        bound[key] = isArray(inner)
          ? inner.map((each, index) => condition(channel, each, scope, [...here, index]))
          : condition(channel, inner, scope, here)
      } else if (key === "sort") bound[key] = sort(inner, scope, here)
      else bound[key] = anywhere(inner, scope, here)
    }
    if (found === undefined) return bound
    const type = typeOf(channel, value, found)
    if (type !== undefined && !secondary.has(channel)) bound["type"] = type
    const typed = type ?? textAt(value, "type")
    const aggregate = at(value, "aggregate")
    if ((typed === "temporal" && !counting.has(aggregate)) || Object.hasOwn(value, "timeUnit")) {
      use(temporal, found, place)
    } else if (typed === "quantitative" && (aggregate === undefined || computing.has(aggregate))) {
      use(quantitative, found, place)
    }
    return typed === "temporal" ? momentInUtc(channel, bound) : bound
  }

  const condition = (channel: string, value: Json, scope: Scope.Scope | undefined, place: Place): Json => {
    const bound = channelDefinition(channel, value, scope, place)
    return isObject(bound) && Object.hasOwn(bound, "test")
      ? { ...bound, test: predicate(at(value, "test") ?? null, scope, [...place, "test"], false) }
      : bound
  }

  const sort = (value: Json, scope: Scope.Scope | undefined, place: Place): Json => {
    const name = textAt(value, "field")
    return isObject(value) && name !== undefined
      ? { ...value, field: resolve(scope, name, [...place, "field"]).field }
      : anywhere(value, scope, place)
  }

  /** A view, or several: what is below it sees the fields that its transforms leave. */
  const view = (value: JsonObject, above: Scope.Scope | undefined, place: Place): JsonObject => {
    const transformed = transforms(arrayAt(value, "transform"), above, [...place, "transform"])
    const { scope } = transformed
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]): [string, Json] => {
        const here = [...place, key]
        if (key === "transform") return [key, transformed.list]
        if (key === "encoding" && isObject(inner)) return [key, encoding(inner, scope, here)]
        if (key === "spec" && isObject(inner)) return [key, view(inner, scope, here)]
        if (key === "facet" && isObject(inner)) return [key, facet(inner, scope, here)]
        if (key === "repeat") return [key, repeated(inner, scope, here)]
        if (["layer", "concat", "hconcat", "vconcat"].includes(key) && isArray(inner)) {
          return [key, inner.map((each, index) => (isObject(each) ? view(each, scope, [...here, index]) : each))]
        }
        return [key, anywhere(inner, scope, here)]
      })
    )
  }

  const facet = (value: JsonObject, scope: Scope.Scope | undefined, place: Place): Json =>
    Object.hasOwn(value, "field") ? channelDefinition("facet", value, scope, place) : encoding(value, scope, place)

  const repeated = (value: Json, scope: Scope.Scope | undefined, place: Place): Json =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fields(inner, scope, [...place, key])]))
      : fields(value, scope, place)

  const bound = view(specification, columns, [])
  return problem === undefined
    ? Result.succeed({ specification: bound, uses: { temporal, quantitative } })
    : Result.fail(problem)
}
