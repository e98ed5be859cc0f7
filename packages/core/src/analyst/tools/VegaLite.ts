/**
 * Charts that programs made, as Vega-Lite specifications with their data inside: taken apart into what a renderer is
 * given, the specification without data, and the data as a table.
 */
import * as Schema from "effect/Schema"
import type { Column, ColumnType, ResultTable, Value } from "../../connector/ResultTable.ts"

/** Whether a media type is that of a Vega-Lite specification, of whichever version. */
export const isVegaLite = (mediaType: string): boolean => /^application\/vnd\.vegalite\.v\d+\+json$/.test(mediaType)

const WithData = Schema.fromJsonString(
  Schema.StructWithRest(
    Schema.Struct({
      title: Schema.optionalKey(Schema.Unknown),
      data: Schema.Struct({ values: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)) })
    }),
    [Schema.Record(Schema.String, Schema.Unknown)]
  )
)

/** Reads a specification with its data; fails where it has none, or is none. */
export const decode = Schema.decodeUnknownResult(WithData)

/** A specification with its data, read. */
export type ChartWithData = typeof WithData.Type

const Title = Schema.Union([
  Schema.NonEmptyString,
  Schema.Struct({ text: Schema.Union([Schema.NonEmptyString, Schema.Array(Schema.String)]) })
])
const isTitle = Schema.is(Title)

/** What a chart is called, where its specification says so. */
export const titleOf = ({ title }: ChartWithData): string | undefined => {
  if (!isTitle(title)) return undefined
  if (typeof title === "string") return title
  const joined = typeof title.text === "string" ? title.text : title.text.join(" ")
  return joined.trim() === "" ? undefined : joined
}

const valueOf = (value: unknown): Value => {
  if (value === undefined || value === null) return null
  if (typeof value === "string" || typeof value === "boolean") return value
  if (typeof value === "number") return Number.isFinite(value) ? value : null
  return JSON.stringify(value) ?? null
}

const typeOf = (values: ReadonlyArray<Value>): ColumnType => {
  const given = values.filter((value) => value !== null)
  if (given.length === 0) return "text"
  if (given.every((value) => typeof value === "number")) {
    return given.every((value) => Number.isSafeInteger(value)) ? "integer" : "number"
  }
  if (given.every((value) => typeof value === "boolean")) return "boolean"
  const all = (shape: RegExp) => given.every((value) => typeof value === "string" && shape.test(value))
  if (all(/^\d{4}-\d{2}-\d{2}$/)) return "date"
  return all(/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/) ? "timestamp" : "text"
}

/** The specification without its data. */
export const specificationOf = (chart: ChartWithData): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(chart).filter(([key]) => key !== "data"))

/** The data as a table: a column for each field that any row has, in the order in which they come. */
export const dataOf = ({ data }: ChartWithData): ResultTable => {
  const names = [...new Set(data.values.flatMap((row) => Object.keys(row)))]
  const rows = data.values.map((row) => names.map((name) => valueOf(Object.hasOwn(row, name) ? row[name] : null)))
  const columns = names.map((name, index): Column => ({ name, type: typeOf(rows.map((row) => row[index] ?? null)) }))
  // A column of more than one type is one of text: a table has no other.
  const texts = columns.map(({ type }) => type === "text")
  const uniform = rows.map((row) =>
    row.map((value, index) => (texts[index] === true && value !== null ? String(value) : value))
  )
  return { columns, rows: uniform, truncated: false }
}
