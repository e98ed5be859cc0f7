/**
 * Writes rows of text as a table of types. What each column means is guessed from the first rows, and held to in
 * every row while they are written: where one contradicts, all rows are examined and the table is written again.
 */
import type { DuckDBConnection } from "@duckdb/node-api"
import { identifier, literal } from "./SqlText.ts"
import { ambiguous, present, presentText, type Proposal } from "./TextTypes.ts"

/** A way to read a file. */
export interface Reading {
  /** SQL for its rows, to stand after FROM. */
  readonly sql: string
  readonly columns: ReadonlyArray<ReadColumn>
}

/** A column as a reading has it. */
export interface ReadColumn {
  readonly name: string
  /**
   * - `text`: text that may mean something else
   * - `json`: values of several types; text, where none of them is a list or an object
   * - `typed`: has its type already, or nearly
   */
  readonly kind: "text" | "json" | "typed"
  /** What its values may mean, the most particular first. */
  readonly proposals: ReadonlyArray<Proposal>
}

/** What is written for a column: one of its proposals, its text, or, where it is nested, the column as it is. */
type Choice = Proposal | "text" | "nested"

const sampleRows = 1000
const contradiction = "a value contradicts the type of its column"

/** Writes the rows of a reading into the table `target`. */
export const writeTyped = async (connection: DuckDBConnection, reading: Reading, target: string): Promise<void> => {
  const columns = await withLooks(connection, reading)
  const create = async (choices: ReadonlyArray<Choice>): Promise<void> => {
    const selected = columns.map((column, index) => {
      const sql = expression(column, index, choices[index] ?? "text")
      return `${sql} AS ${identifier(column.name)}`
    })
    await connection.run(
      `CREATE OR REPLACE TABLE ${target} AS SELECT ${selected.join(", ")} FROM ${positional(columns, reading.sql)}`
    )
  }
  if (columns.some((column) => column.proposals.some(isAmbiguous)))
    return create(await examine(connection, columns, reading))
  try {
    await create(columns.map(({ proposals }) => proposals[0] ?? "text"))
  } catch (error) {
    if (!(error instanceof Error && error.message.includes(contradiction))) throw error
    await create(await examine(connection, columns, reading))
  }
}

/** Leaves each column the proposals that its first values look like. */
const withLooks = async (
  connection: DuckDBConnection,
  { columns, sql }: Reading
): Promise<ReadonlyArray<ReadColumn>> => {
  const open = columns.filter((column) => column.kind !== "typed")
  if (open.length === 0) return columns
  const texts = open.map((column) => plainText(column, identifier(column.name)))
  const sample = await connection.runAndReadAll(`SELECT ${texts.join(", ")} FROM ${sql} LIMIT ${sampleRows}`)
  const values = new Map(sample.getColumnsJson().map((cells, index) => [open[index]?.name, new Set(cells)]))
  return columns.map((column) => {
    if (column.kind === "typed") return column
    const seen = [...(values.get(column.name) ?? [])].flatMap((cell) =>
      typeof cell === "string" ? (presentText(cell) ?? []) : []
    )
    const fits = ({ pattern }: Proposal): boolean => seen.length > 0 && seen.every((value) => pattern.test(value))
    const either = ambiguous.filter(({ monthFirst }) => fits(monthFirst))
    return {
      ...column,
      proposals: [
        ...column.proposals.filter(fits),
        ...either.flatMap(({ dayFirst, monthFirst }) => [monthFirst, dayFirst])
      ]
    }
  })
}

/** SQL of a column as text; of a list or an object, its JSON text. */
const plainText = ({ kind }: ReadColumn, column: string): string => (kind === "json" ? `(${column} ->> '$')` : column)

/**
 * The rows of a reading by positions: `r0` is the first column as it is, `w0` what its proposals read, `n0` whether
 * it is nested.
 */
const positional = (columns: ReadonlyArray<ReadColumn>, rows: string): string => {
  const parts = columns.flatMap((column, index) => {
    const name = identifier(column.name)
    const text = column.kind === "typed" ? name : present(plainText(column, name))
    return [
      `${name} AS r${index}`,
      ...(column.proposals.length === 0 ? [] : [`${text} AS w${index}`]),
      ...(column.kind === "json" ? [`json_type(${name}) IN ('OBJECT', 'ARRAY') AS n${index}`] : [])
    ]
  })
  return `(SELECT ${parts.join(", ")} FROM ${rows})`
}

/** SQL of a column as it is written, which fails on a value that contradicts the choice. */
const expression = (column: ReadColumn, index: number, choice: Choice): string => {
  const raw = `r${index}`
  const refuse = `error(${literal(contradiction)})`
  if (choice === "nested") return raw
  if (choice === "text")
    return column.kind === "json" ? `CASE WHEN n${index} THEN ${refuse} ELSE ${raw} ->> '$' END` : raw
  const typed = `CASE WHEN w${index} IS NOT NULL THEN coalesce(${choice.value(`w${index}`)}, ${refuse}) END`
  return column.kind === "json" ? `CASE WHEN n${index} THEN ${refuse} ELSE ${typed} END` : typed
}

/** What all rows allow for each column. */
const examine = async (
  connection: DuckDBConnection,
  columns: ReadonlyArray<ReadColumn>,
  reading: Reading
): Promise<ReadonlyArray<Choice>> => {
  const questions = ["count(*)"]
  const ask = (sql: string): number => questions.push(sql) - 1
  const plans = columns.map((column, index) => ({
    nested: column.kind === "json" ? ask(`count(*) FILTER (WHERE n${index})`) : undefined,
    tests: column.proposals.map((proposal) => ({
      proposal,
      misses: ask(`count(*) FILTER (WHERE w${index} IS NOT NULL AND (${proposal.value(`w${index}`)}) IS NULL)`),
      days: isAmbiguous(proposal) ? ask(`count(DISTINCT day(${proposal.value(`w${index}`)}))`) : undefined
    }))
  }))
  const asked = await connection.runAndReadAll(
    `SELECT ${questions.join(", ")} FROM ${positional(columns, reading.sql)}`
  )
  const [answers = []] = asked.getRowsJson()
  const answer = (index: number): number => Number(answers[index])

  return plans.map(({ nested, tests }): Choice => {
    if (nested !== undefined && answer(nested) > 0) return "nested"
    const holding = tests.filter((test) => answer(test.misses) === 0)
    const certain = holding.find((test) => test.days === undefined)
    const uncertain = holding.filter((test) => test.days !== undefined)
    const monthly = uncertain.filter((test) => test.days !== undefined && answer(test.days) === 1)
    return (certain ?? only(uncertain) ?? only(monthly))?.proposal ?? "text"
  })
}

const isAmbiguous = (proposal: Proposal): boolean =>
  ambiguous.some((pair) => pair.monthFirst === proposal || pair.dayFirst === proposal)

/** The one element of a list of one. */
const only = <A>(list: ReadonlyArray<A>): A | undefined => (list.length === 1 ? list[0] : undefined)
