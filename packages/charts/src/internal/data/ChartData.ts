/**
 * The rows behind a chart: the columns of a result that a specification uses, as values that Vega reads one way only.
 *
 * Exact decimals become numbers, moments become UTC, JSON becomes its structure. What cannot be drawn as asked (a text
 * as a quantity) is said with the place that asked for it.
 */
import type { ColumnType, ResultTable, Value } from "@castellan/core/connector/ResultTable"
import * as Result from "effect/Result"
import type { Uses } from "../specification/Binding.ts"
import { shown, type Json, type JsonObject, type Place, type Problem } from "../specification/Json.ts"
import { keyOf, type Field, type Kind, type Scope } from "../specification/Scope.ts"
import * as Instant from "./Instant.ts"

/** How much data a chart takes. More is not legible, and belongs into the query. */
export const limits = {
  rows: 50_000,
  /** Cells of the columns that the chart uses. */
  cells: 400_000,
  /** Characters of one text; a longer one is cut. */
  text: 500
} as const

const kinds: Readonly<Record<ColumnType, Kind>> = {
  text: "text",
  integer: "number",
  number: "number",
  decimal: "number",
  boolean: "boolean",
  date: "temporal",
  time: "text",
  timestamp: "temporal",
  json: "structure"
}

/** The columns of a result as fields in scope. A repeated name means its first column. */
export const scopeOf = (table: ResultTable): Scope => {
  const scope = new Map<string, Field>()
  for (const { name, type } of table.columns) {
    if (!scope.has(name)) scope.set(name, { kind: kinds[type], column: name })
  }
  return scope
}

/** The distinct texts of a column, unless there are too many to become columns. */
export const distinctIn =
  (table: ResultTable) =>
  (column: string): ReadonlyArray<string> | undefined => {
    const index = table.columns.findIndex(({ name }) => name === column)
    const found = new Set<string>()
    for (const row of table.rows) {
      const value = row[index]
      if (value !== undefined && value !== null) found.add(String(value))
      if (found.size > 500) return undefined
    }
    return [...found]
  }

/** One column, ready to be drawn. */
interface DrawnColumn {
  readonly name: string
  readonly values: ReadonlyArray<Json>
}

/** The rows of a result as a chart draws them: the named columns, in the order of the result. */
export const rows = (
  table: ResultTable,
  names: ReadonlySet<string>,
  uses: Uses
): Result.Result<ReadonlyArray<JsonObject>, Problem> =>
  Result.gen(function* () {
    if (table.rows.length === 0) {
      return yield* Result.fail<Problem>({ place: [], message: "the result has no rows, so there is nothing to draw" })
    }
    const used = table.columns.flatMap((column, index) =>
      names.has(column.name) && table.columns.findIndex(({ name }) => name === column.name) === index
        ? [{ ...column, index }]
        : []
    )
    if (table.rows.length > limits.rows || table.rows.length * used.length > limits.cells) {
      return yield* Result.fail<Problem>({
        place: [],
        message: `the result has ${table.rows.length.toLocaleString("en-US")} rows, too many for a chart: aggregate them in the query`
      })
    }
    const columns: Array<DrawnColumn> = []
    for (const { index, name, type } of used) {
      const source = table.rows.map((row) => row[index] ?? null)
      columns.push({ name, values: yield* drawn(name, type, source, uses) })
    }
    return table.rows.map((_, row) =>
      Object.fromEntries(columns.map(({ name, values }) => [keyOf(name), values[row] ?? null]))
    )
  })

const drawn = (
  name: string,
  type: ColumnType,
  values: ReadonlyArray<Value>,
  uses: Uses
): Result.Result<ReadonlyArray<Json>, Problem> => {
  const temporal = uses.temporal.get(name)
  if (temporal !== undefined) return asMoments(name, values, temporal)
  const quantitative = uses.quantitative.get(name)
  if (quantitative !== undefined) return asNumbers(name, type, values, quantitative)
  return Result.succeed(values.map((value) => asIs(type, value)))
}

const asIs = (type: ColumnType, value: Value): Json => {
  if (typeof value !== "string") return value
  switch (type) {
    case "decimal":
      return exactEnough(value)
    case "date":
    case "timestamp":
      return Instant.read(value) ?? cut(value)
    case "json":
      return structure(value)
    default:
      return cut(value)
  }
}

const cut = (text: string): string => (text.length > limits.text ? `${text.slice(0, limits.text - 1)}…` : text)

/** A decimal as a number, unless it is a whole number with more digits than one holds: then it is a name. */
const exactEnough = (text: string): Json => {
  const value = Number(text)
  if (!Number.isFinite(value)) return text
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? text : value
}

const structure = (text: string): Json => {
  try {
    const value: Json = JSON.parse(text)
    return value
  } catch {
    // A source may call a column JSON and still hold other text in it.
    return cut(text)
  }
}

const asNumbers = (
  name: string,
  type: ColumnType,
  values: ReadonlyArray<Value>,
  place: Place
): Result.Result<ReadonlyArray<Json>, Problem> => {
  const column = JSON.stringify(name)
  if (type === "date" || type === "timestamp" || type === "time") {
    return Result.fail({
      place,
      message: `the column ${column} holds a ${type}: use the type "temporal", not "quantitative"`
    })
  }
  const numbers: Array<Json> = []
  for (const value of values) {
    if (value === null || typeof value === "number") numbers.push(value)
    else if (typeof value === "boolean") numbers.push(value ? 1 : 0)
    else if (value.trim() === "") numbers.push(null)
    else if (Number.isFinite(Number(value))) numbers.push(Number(value))
    else {
      return Result.fail({
        place,
        message: `the column ${column} holds texts such as ${shown(value)}, which are not numbers: use the type "nominal", or count them with "aggregate": "count"`
      })
    }
  }
  return Result.succeed(numbers)
}

const asMoments = (
  name: string,
  values: ReadonlyArray<Value>,
  place: Place
): Result.Result<ReadonlyArray<Json>, Problem> => {
  const column = JSON.stringify(name)
  // Whole numbers are years where all of them can be one; otherwise milliseconds, as JavaScript counts them.
  const years = values.every((value) => value === null || (Number.isInteger(value) && isYear(value)))
  const moments: Array<Json> = []
  for (const value of values) {
    const read = momentOf(value, years)
    if (read === undefined) {
      return Result.fail({
        place,
        message: `the column ${column} holds values such as ${shown(value)}, which are not dates: use the type "ordinal", or make them dates in the query`
      })
    }
    moments.push(read)
  }
  return Result.succeed(moments)
}

const isYear = (value: Value): boolean => typeof value === "number" && value >= 1000 && value < 3000

const momentOf = (value: Value, years: boolean): Json | undefined => {
  if (value === null) return null
  if (typeof value === "boolean") return undefined
  if (typeof value === "string") return value.trim() === "" ? null : (Instant.read(value) ?? Instant.readTime(value))
  if (years) return `${value}-01-01`
  // Anything smaller is a day or month number that would be drawn within a second of 1970.
  return Math.abs(value) >= 1e8 && Math.abs(value) < 8.64e15 ? value : undefined
}
