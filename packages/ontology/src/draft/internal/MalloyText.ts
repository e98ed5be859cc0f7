/**
 * Writes the plan of a source as a Malloy file: laid out as a person would keep it, and safe whatever the names and
 * values hold.
 */
import { humanise } from "../../internal/Label.ts"
import * as MalloyName from "../../malloy/MalloyName.ts"
import * as SqlName from "../../internal/SqlName.ts"
import type { ColumnProfile } from "../TableProfile.ts"
import { singular } from "./Grammar.ts"
import type { Expression, PlannedColumn, PlannedDimension, PlannedMeasure, SourcePlan } from "./SourcePlan.ts"

/** Where a join of a source leads. */
export interface JoinTarget {
  /** The source to join; undefined for the bare table, where the source would join in a circle. */
  readonly source: string | undefined
  readonly table: string
  /** The name of the key in the target. */
  readonly key: string
}

/** Everything that a file of the draft needs beside its plan. */
export interface FileContext {
  readonly connector: string
  /** Files that the file imports. */
  readonly imports: ReadonlyArray<string>
  readonly targetOf: (join: SourcePlan["joins"][number]) => JoinTarget
}

const indent = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.map((line) => (line === "" ? "" : `  ${line}`))

/** The content of the file of one source. */
export const write = (plan: SourcePlan, context: FileContext): string => {
  const { dimensions, joins, measures, table } = plan
  const head = [
    ...context.imports.map((path) => `import ${text(path)}`),
    ...(context.imports.length > 0 ? [""] : []),
    comment(
      `Drafted from the columns${table.rowCount === undefined ? "" : ` and the ${grouped(table.rowCount)} rows`} of ${table.name}.`
    ),
    comment("Make it yours: add descriptions, units and measures, and take out what nobody needs."),
    ...tagLine([
      ["label", plan.label],
      // A tag is one line: a name that is not cannot stand in it.
      ["time", plan.timeField === undefined || oneLine(plan.timeField) !== plan.timeField ? undefined : plan.timeField]
    ]),
    `source: ${MalloyName.quote(plan.name)} is ${tableOf(context.connector, table.name)} extend {`
  ]
  const blocks = [
    plan.primaryKey === undefined ? [] : [`primary_key: ${MalloyName.quote(plan.primaryKey)}`],
    block("rename:", plan.columns.filter(({ renamed }) => renamed).map(renameLines)),
    valueComments(plan.columns),
    block(
      "join_one:",
      joins.map((join) => joinLines(join, context))
    ),
    block("dimension:", dimensions.map(dimensionLines)),
    block("measure:", measures.map(measureLines)),
    viewLines(plan)
  ].filter((lines) => lines.length > 0)
  const body = blocks.flatMap((lines, index) => (index === 0 ? lines : ["", ...lines]))
  return [...head, ...indent(body), "}", ""].join("\n")
}

const block = (keyword: string, items: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> =>
  items.length === 0 ? [] : [keyword, ...indent(items.flat())]

const renameLines = ({ column, hidden, label, name, unit }: PlannedColumn): ReadonlyArray<string> => [
  ...(hidden
    ? ["#(castellan) hidden"]
    : tagLine([
        ["label", label === humanise(name) ? undefined : label],
        ["unit", unit]
      ])),
  `${MalloyName.quote(name)} is ${MalloyName.quote(column.name)}`
]

/** The values of columns of few values: for the reader only, because the service reads them from the data. */
const valueComments = (columns: ReadonlyArray<PlannedColumn>): ReadonlyArray<string> =>
  columns.flatMap(({ column, name, role }) =>
    role === "category" && column.common?.complete === true
      ? [comment(`${name}: ${column.common.values.toSorted().join(", ")}`)]
      : []
  )

const joinLines = (join: SourcePlan["joins"][number], context: FileContext): ReadonlyArray<string> => {
  const { key, source, table } = context.targetOf(join)
  const name = MalloyName.quote(join.name)
  const target = source === undefined ? tableOf(context.connector, table) : MalloyName.quote(source)
  return [
    ...(join.reference.toldBy === "values"
      ? [comment(`Every value of ${join.field} is one of ${table}.${key}; check that it means the same.`)]
      : []),
    `${name} is ${target} on ${MalloyName.quote(join.field)} = ${name}.${MalloyName.quote(key)}`
  ]
}

const dimensionLines = ({ comment: said, expression, label, name }: PlannedDimension): ReadonlyArray<string> => [
  ...(said === undefined ? [] : [doc(said)]),
  ...tagLine([["label", label === humanise(name) ? undefined : label]]),
  `${MalloyName.quote(name)} is ${expressionText(expression)}`
]

const measureLines = ({ expression, label, name, synonyms, unit }: PlannedMeasure): ReadonlyArray<string> => [
  ...tagLine([
    ["label", label === humanise(name) ? undefined : label],
    ["unit", unit],
    ["synonyms", synonyms.filter((synonym) => oneLine(synonym) !== "")]
  ]),
  `${MalloyName.quote(name)} is ${expressionText(expression)}`
]

/** One view to begin with: the rows by the column that divides them best. */
const viewLines = ({ columns, measures }: SourcePlan): ReadonlyArray<string> => {
  const [count, ...others] = measures
  const by = columns.find(({ column, role }) => role === "category" && column.distinct >= 2 && column.distinct <= 20)
  if (by === undefined || count === undefined) return []
  const figure = others.find(({ expression }) => expression._tag === "Aggregate")
  const taken = new Set([
    ...columns.map(({ name }) => name.toLowerCase()),
    ...measures.map(({ name }) => name.toLowerCase())
  ])
  const name = `by_${singular(by.name.toLowerCase())}`
  if (taken.has(name) || !MalloyName.isBare(name)) return []
  return [
    `view: ${name} is {`,
    `  group_by: ${MalloyName.quote(by.name)}`,
    `  aggregate: ${[count, ...(figure === undefined ? [] : [figure])].map((one) => MalloyName.quote(one.name)).join(", ")}`,
    "}"
  ]
}

const expressionText = (expression: Expression): string => {
  switch (expression._tag) {
    case "Count":
      return "count()"
    case "CountDistinct":
      return `count(${MalloyName.quote(expression.of)})`
    case "CountWhere":
      return `count() { where: ${MalloyName.quote(expression.field)} = ${expression.is} }`
    case "Share":
      return `100 * ${MalloyName.quote(expression.part)} / nullif(${MalloyName.quote(expression.whole)}, 0)`
    case "Aggregate":
      return `${MalloyName.quote(expression.of)}.${expression.by}()`
    case "TextTime":
      return textTime(MalloyName.quote(expression.of), expression.temporal)
    case "YearStart": {
      const month = expression.month === undefined ? "1" : MalloyName.quote(expression.month)
      return `make_date!date(${MalloyName.quote(expression.year)}, ${month}, 1)`
    }
  }
}

const textTime = (column: string, { format }: NonNullable<ColumnProfile["temporal"]>): string => {
  // Three colons: a text that is no date becomes null, not an error.
  if (format.pattern === undefined) return `${column}:::${format.type}`
  const moment = `try_strptime!timestamp(${column}, ${MalloyName.literal(format.pattern)})`
  return format.type === "date" ? `${moment}::date` : moment
}

/** A line of the service's own tags; none when there is nothing to say. */
const tagLine = (
  tags: ReadonlyArray<readonly [name: string, value: string | ReadonlyArray<string> | undefined]>
): ReadonlyArray<string> => {
  const said = tags.flatMap(([name, value]) =>
    value === undefined || value.length === 0
      ? []
      : [`${name}=${typeof value === "string" ? text(value) : `[${value.map(text).join(", ")}]`}`]
  )
  return said.length === 0 ? [] : [`#(castellan) ${said.join(" ")}`]
}

/** A text on one line: what would end the line becomes a space. */
const oneLine = (value: string): string => value.replace(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").trim()

/** A text between double quotes, as tags and imports write it. */
const text = (value: string): string => `"${oneLine(value).replace(/[\\"]/g, String.raw`\$&`)}"`

/**
 * A table as the model names it: a plain identifier as it is, any other name in SQL's quotes. Malloy takes no name with
 * what might end a statement, even in quotes: such a table is named in a statement of its own.
 */
const tableOf = (connector: string, name: string): string => {
  const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : SqlName.quoted(name)
  return /;|--/.test(name)
    ? `${connector}.sql(${MalloyName.literal(`SELECT * FROM ${plain}`)})`
    : `${connector}.table(${MalloyName.literal(plain)})`
}

const longestComment = 118

const comment = (value: string): string => {
  const line = `-- ${oneLine(value)}`
  return line.length > longestComment ? `${line.slice(0, longestComment - 1)}…` : line
}

const doc = (value: string): string => {
  const line = oneLine(value)
  return `#" ${line.charAt(0).toUpperCase()}${line.slice(1)}.`
}

const grouped = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ",")
