/**
 * Gathers the figures of a draft: for each table one aggregating statement over its columns (more where it has very
 * many), one that counts the values of columns that may be keys, and one that reads text that may be dates. Each is
 * answered by one row; a table that does not answer is drafted from its schema.
 */
import type { Connector } from "@castellan/core/connector/Connector"
import { ConnectorDriver, type ConnectorError, type QueryLimits } from "@castellan/core/connector/ConnectorDriver"
import type { ResultTable, Value } from "@castellan/core/connector/ResultTable"
import type { TableColumn, TableSchema } from "@castellan/core/connector/TableSchema"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlName from "../../internal/SqlName.ts"
import type { ColumnProfile, TableProfile, TemporalFormat } from "../TableProfile.ts"
import * as Dates from "./Dates.ts"

const limits: QueryLimits = { timeout: Duration.seconds(60), maxRows: 1, maxBytes: 4_000_000 }

/** Columns of one statement: a table of more is asked in parts. */
const columnsAtOnce = 60

/** Values of a column that are looked at. */
const commonValues = 30

/** Longer values are looked at by their beginning. */
const lookedAt = 100

/** Columns of one table whose values are counted exactly, which takes memory for each different value. */
const maximumKeys = 6

/** A text column with this share of unreadable values is not a time. */
const unreadableShare = 0.02

/** The figures of one table. */
export const profile: (
  connector: Connector,
  table: TableSchema
) => Effect.Effect<TableProfile, never, ConnectorDriver> = Effect.fnUntraced(
  function* (connector: Connector, table: TableSchema) {
    const from = SqlName.quoted(table.name)
    const ask = askOne(connector)
    const columns: Array<ColumnProfile> = []
    let rowCount = 0
    for (let start = 0; start < Math.max(table.columns.length, 1); start += columnsAtOnce) {
      const part = table.columns.slice(start, start + columnsAtOnce)
      const facts = part.flatMap((column, index) => figuresOf(column, index))
      const row = yield* ask(`SELECT ${["count(*) AS n", ...facts].join(", ")} FROM ${from}`)
      rowCount = numberIn(row("n"))
      columns.push(...part.map((column, index) => readFigures(column, index, row)))
    }
    const counted = yield* withKeys(ask, from, rowCount, columns)
    const dated = yield* withDates(ask, from, counted)
    return { name: table.name, rowCount, columns: dated } satisfies TableProfile
  },
  (effect, _connector, table) =>
    Effect.catch(effect, (error) =>
      Effect.as(
        Effect.logWarning(`the draft of ${table.name} is made without its values: ${error.message}`),
        schemaOnly(table)
      )
    )
)

const schemaOnly = (table: TableSchema): TableProfile => ({
  name: table.name,
  ...(table.rowCount === undefined ? {} : { rowCount: table.rowCount }),
  columns: table.columns.map((column) => ({ ...column, present: 0, distinct: 0, unique: false }))
})

/** The one row of an answer, by the names of its columns. */
type Row = (name: string) => Value

const askOne =
  (connector: Connector) =>
  (statement: string): Effect.Effect<Row, ConnectorError, ConnectorDriver> =>
    ConnectorDriver.use((driver) => Effect.map(driver.query(connector, statement, limits), rowOf))

const rowOf = (table: ResultTable): Row => {
  const [first = []] = table.rows
  const byName = new Map(table.columns.map((column, index) => [column.name, first[index] ?? null]))
  return (name) => byName.get(name) ?? null
}

/** What is asked of a column in the first statement. */
const figuresOf = (column: TableColumn, index: number): ReadonlyArray<string> => {
  const name = SqlName.column(column.name)
  switch (column.type) {
    case "integer":
    case "number":
    case "decimal":
      return [
        `count(${name}) AS c${index}`,
        `approx_count_distinct(${name}) AS d${index}`,
        `min(${name})::DOUBLE AS a${index}`,
        `max(${name})::DOUBLE AS z${index}`
      ]
    case "text": {
      const text = `${name}::VARCHAR`
      return [
        `count(${name}) AS c${index}`,
        `approx_count_distinct(${name}) AS d${index}`,
        `min(left(${text}, ${lookedAt})) AS a${index}`,
        `max(left(${text}, ${lookedAt})) AS z${index}`,
        `min(length(${text})) AS s${index}`,
        `max(length(${text})) AS l${index}`,
        `approx_top_k(left(${text}, ${lookedAt}), ${commonValues + 1}) AS v${index}`
      ]
    }
    case "json":
      return [`count(${name}) AS c${index}`]
    default:
      return [`count(${name}) AS c${index}`, `approx_count_distinct(${name}) AS d${index}`]
  }
}

const readFigures = (column: TableColumn, index: number, row: Row): ColumnProfile => {
  const least = row(`a${index}`)
  const greatest = row(`z${index}`)
  const values = Option.getOrElse(decodeTexts(row(`v${index}`)), () => [])
  const longest = numberIn(row(`l${index}`))
  return {
    ...column,
    present: numberIn(row(`c${index}`)),
    distinct: numberIn(row(`d${index}`)),
    unique: false,
    ...(typeof least === "number" && typeof greatest === "number" ? { range: { least, greatest } } : {}),
    ...(typeof least === "string" && typeof greatest === "string"
      ? { texts: { first: least, last: greatest, shortest: numberIn(row(`s${index}`)), longest } }
      : {}),
    ...(values.length > 0
      ? {
          common: {
            values: values.slice(0, commonValues),
            complete: values.length <= commonValues && longest <= lookedAt
          }
        }
      : {})
  }
}

const decodeTexts = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Array(Schema.String)))

/** A count; one too large for a double to hold comes as text. */
const numberIn = (value: Value): number =>
  typeof value === "number" ? value : typeof value === "string" ? Number(value) || 0 : 0

type Ask = ReturnType<typeof askOne>

/** Columns that may tell every row from every other, the likely ones first: the estimate of their values is rough. */
const mayBeKeys = (rows: number, columns: ReadonlyArray<ColumnProfile>): ReadonlyArray<number> =>
  columns
    .map((column, index) => ({ column, index }))
    .filter(
      ({ column }) =>
        rows > 0 &&
        column.present === rows &&
        (column.type === "integer" || column.type === "text" || column.type === "decimal") &&
        column.distinct >= 0.75 * rows &&
        (column.texts?.longest ?? 0) <= 200
    )
    .toSorted((a, b) => Number(looksLikeKey(b.column)) - Number(looksLikeKey(a.column)) || a.index - b.index)
    .slice(0, maximumKeys)
    .map(({ index }) => index)

const looksLikeKey = ({ name }: ColumnProfile): boolean => /(?:id|key|code|uuid|guid|no|nr|number)$/i.test(name)

/** Counts the values of columns that may be keys. Where that takes too much, no column is one. */
const withKeys = (ask: Ask, from: string, rows: number, columns: ReadonlyArray<ColumnProfile>) => {
  const candidates = mayBeKeys(rows, columns)
  if (candidates.length === 0) return Effect.succeed(columns)
  const counts = candidates.map((index) => `count(DISTINCT ${SqlName.column(columns[index]?.name ?? "")}) AS k${index}`)
  return ask(`SELECT ${counts.join(", ")} FROM ${from}`).pipe(
    Effect.map((row) =>
      columns.map((column, index) =>
        candidates.includes(index)
          ? { ...column, distinct: numberIn(row(`k${index}`)), unique: numberIn(row(`k${index}`)) === rows }
          : column
      )
    ),
    Effect.orElseSucceed(() => columns)
  )
}

/** Reads text that looks like dates as such, all of it. */
const withDates = (ask: Ask, from: string, columns: ReadonlyArray<ColumnProfile>) => {
  const tries = columns.flatMap((column, index) =>
    Dates.formatsOf(column.common?.values ?? []).map((format, attempt) => ({ column, index, format, attempt }))
  )
  if (tries.length === 0) return Effect.succeed(columns)
  const reads = tries.map(
    ({ attempt, column, format, index }) =>
      `count(${Dates.sqlOf(format, SqlName.column(column.name))}) AS r${index}_${attempt}`
  )
  return ask(`SELECT ${reads.join(", ")} FROM ${from}`).pipe(
    Effect.map((row) =>
      columns.map((column, index) => {
        const readings = tries
          .filter((one) => one.index === index)
          .map(({ attempt, format }) => ({
            format,
            unreadable: column.present - numberIn(row(`r${index}_${attempt}`))
          }))
          .filter(({ unreadable }) => unreadable <= unreadableShare * column.present)
          .toSorted((a, b) => a.unreadable - b.unreadable)
        const [best, other] = readings
        // `03/04/2020` all the way down: nobody can tell, so nobody does.
        const certain =
          best !== undefined && (other === undefined || other.unreadable > best.unreadable || !swapped(best, other))
        return certain ? { ...column, temporal: best } : column
      })
    ),
    Effect.orElseSucceed(() => columns)
  )
}

/** Two readings that differ in which number is the day. */
const swapped = (a: { readonly format: TemporalFormat }, b: { readonly format: TemporalFormat }): boolean =>
  a.format.pattern?.startsWith("%m") !== b.format.pattern?.startsWith("%m")
