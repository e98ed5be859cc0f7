/**
 * Plans one source of a draft: what its columns are called, what they are for, which measures they get. Nothing is
 * written here; every name of the source is settled here, once.
 */
import { count as counted } from "@castellan/core/text/Count"
import { humanise, inside, words } from "../../internal/Label.ts"
import type { ColumnProfile, KeyReference, TableProfile } from "../TableProfile.ts"
import { isUncountable, plural } from "./Grammar.ts"
import { betterName, contentOf, identifier, Names, thingOf } from "./Naming.ts"
import { type Role, roleOf } from "./Roles.ts"
import { unitOf } from "./Units.ts"

/** A column with what the draft makes of it. */
export interface PlannedColumn {
  readonly column: ColumnProfile
  readonly role: Role
  /** Its name in the source: another one than the column's where that would have to be quoted. */
  readonly name: string
  readonly renamed: boolean
  /** Told better by a dimension of the draft, and so left out of the description. */
  readonly hidden: boolean
  readonly label: string
  readonly unit: string | undefined
}

/** A dimension that the draft adds. */
export interface PlannedDimension {
  readonly name: string
  readonly label: string | undefined
  readonly comment: string | undefined
  readonly expression: Expression
}

/** What a dimension or measure computes. Names are written by whoever writes the model. */
export type Expression =
  | { readonly _tag: "Count" }
  | { readonly _tag: "CountDistinct"; readonly of: string }
  | { readonly _tag: "CountWhere"; readonly field: string; readonly is: "true" | "1" }
  | { readonly _tag: "Share"; readonly part: string; readonly whole: string }
  | { readonly _tag: "Aggregate"; readonly of: string; readonly by: "sum" | "avg" | "min" | "max" }
  | { readonly _tag: "TextTime"; readonly of: string; readonly temporal: NonNullable<ColumnProfile["temporal"]> }
  | { readonly _tag: "YearStart"; readonly year: string; readonly month: string | undefined }

/** A measure that the draft adds. */
export interface PlannedMeasure {
  readonly name: string
  readonly label: string
  readonly unit: string | undefined
  readonly synonyms: ReadonlyArray<string>
  readonly expression: Expression
}

/** A join that the draft adds. */
export interface PlannedJoin {
  readonly name: string
  readonly reference: KeyReference
  /** The name of the referring column in this source. */
  readonly field: string
}

/** A source of the draft. */
export interface SourcePlan {
  readonly table: TableProfile
  readonly name: string
  readonly label: string | undefined
  readonly columns: ReadonlyArray<PlannedColumn>
  readonly primaryKey: string | undefined
  readonly joins: ReadonlyArray<PlannedJoin>
  readonly dimensions: ReadonlyArray<PlannedDimension>
  readonly measures: ReadonlyArray<PlannedMeasure>
  readonly timeField: string | undefined
}

/** Beyond these columns of amounts, a source gets only the measures that are asked for most. */
const manyAmounts = 12

/** Text columns of which the different values are counted. */
const maximumCounts = 8

/** Plans the source of a table; `references` are those from and to it. */
export const plan = (table: TableProfile, sourceName: string, references: ReadonlyArray<KeyReference>): SourcePlan => {
  const names = new Names()
  const thing = thingOf(table.name)
  for (const { name } of table.columns) names.reserve(name)
  const rows = table.rowCount ?? 0
  const named = table.columns.filter(({ name }) => name !== "").map((column) => planColumn(column, rows, thing, names))

  const joins = references
    .filter((reference) => reference.table === table.name)
    .flatMap((reference): ReadonlyArray<PlannedJoin> => {
      const from = named.find(({ column }) => column.name === reference.column)
      return from === undefined ? [] : [{ name: names.claim(...joinNames(reference)), reference, field: from.name }]
    })
  const dimensions = planDimensions(named, thing, names)
  const parts = new Set(
    dimensions.flatMap(({ expression }) =>
      expression._tag === "YearStart" ? [expression.year, expression.month ?? expression.year] : []
    )
  )
  const columns = named.map((one) => ({ ...one, hidden: one.renamed && parts.has(one.name) }))
  const measures = planMeasures(columns, thing, names)
  const label =
    humanise(sourceName) === humanise(table.name) || contentOf(table.name) === sourceName
      ? undefined
      : humanise(table.name)
  return {
    table,
    name: sourceName,
    label,
    columns,
    primaryKey: primaryKeyOf(table, columns, references),
    joins,
    dimensions,
    measures,
    timeField: timeFieldOf(columns, dimensions)
  }
}

const planColumn = (
  column: ColumnProfile,
  rows: number,
  thing: string,
  names: Names
): Omit<PlannedColumn, "hidden"> => {
  const role = roleOf(column, rows)
  const told = role === "amount" || role === "level" ? unitOf(column.name) : undefined
  const name = nameWithoutUnit(column.name, told?.rest, names) ?? betterName(column.name, thing, names)
  if (name !== undefined) names.release(column.name)
  return {
    column,
    role,
    name: name ?? column.name,
    renamed: name !== undefined,
    label: humanise((told?.rest ?? words(column.name)).join(" ") || column.name),
    unit: told?.unit ?? (role === "amount" || role === "level" ? percentOf(column) : undefined)
  }
}

/** `weight` for `Weight_in_lbs`: what is said as a unit needs no second place in the name. */
const nameWithoutUnit = (column: string, rest: ReadonlyArray<string> | undefined, names: Names): string | undefined => {
  const plain = rest === undefined ? undefined : identifier(rest.join(" "))
  return plain === undefined || plain === identifier(column) || !names.isFree(plain) ? undefined : names.claim(plain)
}

/** Percent where the name says so and the values bear it out: a share between 0 and 1 is not a percentage. */
const percentOf = (column: ColumnProfile): string | undefined =>
  /%|(?:^|[^a-z])(?:perc|pct|percent|percentage)(?:$|[^a-z])/i.test(words(column.name).join(" ")) &&
  (column.range?.greatest ?? 0) > 1
    ? "%"
    : undefined

/** `customer_id` to customers is `customer`; `origin` to airports is `origin_airport`. */
const joinNames = ({ column, toColumn, toTable }: KeyReference): readonly [string, ...ReadonlyArray<string>] => {
  const own = identifier(column) ?? "joined"
  const thing = thingOf(toTable)
  const stem = own.replace(/_(?:id|key|code|no|nr|number|uuid|name)$/, "")
  const both = `${stem}_${thing}`
  if (stem === thing || stem.endsWith(`_${thing}`)) return [stem, `${stem}_details`]
  if (own === identifier(toColumn)) return [thing, both, `${both}_details`]
  return stem === own ? [both, `${both}_details`] : [stem, both, `${both}_details`]
}

const primaryKeyOf = (
  table: TableProfile,
  columns: ReadonlyArray<PlannedColumn>,
  references: ReadonlyArray<KeyReference>
): string | undefined => {
  const unique = columns.filter(({ column }) => column.unique)
  const referred = (name: string) =>
    references.filter((one) => one.toTable === table.name && one.toColumn === name).length
  const looks = ({ column, name }: PlannedColumn) =>
    name === "id" || /_?(?:id|key|code|uuid)$/i.test(column.name) ? 1 : 0
  const [best] = unique.toSorted((a, b) => referred(b.column.name) - referred(a.column.name) || looks(b) - looks(a))
  // A column may be different in every row by chance: only one that is used, or named, as a key is declared as one.
  return best !== undefined && (referred(best.column.name) > 0 || looks(best) > 0) ? best.name : undefined
}

const planDimensions = (
  columns: ReadonlyArray<Omit<PlannedColumn, "hidden">>,
  thing: string,
  names: Names
): ReadonlyArray<PlannedDimension> => {
  const dimensions: Array<PlannedDimension> = []
  for (const { column, label, name } of columns) {
    if (column.temporal === undefined) continue
    const { format, unreadable } = column.temporal
    const base = identifier(name) ?? thing
    dimensions.push({
      name: names.claim(`${base}_${format.type === "date" ? "date" : "time"}`, `${base}_as_${format.type}`),
      label,
      comment:
        `the text of ${label} as a ${format.type}` +
        (unreadable > 0 ? `, without ${counted(unreadable, "value")} that cannot be read as one` : ""),
      expression: { _tag: "TextTime", of: name, temporal: column.temporal }
    })
  }
  const hasTime = columns.some(({ role }) => role === "time" || role === "textTime")
  const year = columns.find(({ role }) => role === "year")
  if (year !== undefined && !hasTime) {
    const month = columns.find(
      ({ column, role }) =>
        role === "calendar" &&
        /month$/i.test(column.name) &&
        (column.range?.greatest ?? 0) <= 12 &&
        (column.range?.least ?? 0) >= 1
    )
    dimensions.push({
      name: names.claim(`${thing}_date`, `${thing}_start`),
      label: month === undefined ? "Year" : "Month",
      comment: `the first day of the ${month === undefined ? "year" : "month"}`,
      expression: { _tag: "YearStart", year: year.name, month: month?.name }
    })
  }
  return dimensions
}

const planMeasures = (
  columns: ReadonlyArray<PlannedColumn>,
  thing: string,
  names: Names
): ReadonlyArray<PlannedMeasure> => {
  const things = isUncountable(thing) ? "rows" : plural(thing)
  const count: PlannedMeasure = {
    name: isUncountable(thing)
      ? names.claim("row_count", `${thing}_row_count`)
      : names.claim(`${thing}_count`, `${thing}_row_count`),
    label: `Number of ${inWords(things)}`,
    unit: undefined,
    synonyms: things === "rows" ? ["rows"] : [inWords(things), "rows"],
    expression: { _tag: "Count" }
  }
  const quantities = columns.filter(({ role }) => role === "amount" || role === "level")
  const all = quantities.length <= manyAmounts
  return [
    count,
    ...columns.filter(({ role }) => role === "flag").flatMap((one) => flagMeasures(one, count.name, things, names)),
    ...quantities.flatMap((one) => quantityMeasures(one, all, names)),
    ...columns
      .filter(isCounted)
      .slice(0, maximumCounts)
      .map((one) => distinctMeasure(one, names))
  ]
}

const inWords = (name: string): string => name.replaceAll("_", " ")

const flagMeasures = (
  { column, label, name }: PlannedColumn,
  whole: string,
  things: string,
  names: Names
): ReadonlyArray<PlannedMeasure> => {
  const base = (identifier(name) ?? "flag").replace(/^(?:is|has|was)_/, "")
  const part = names.claim(`${base}_count`, `${base}_true_count`)
  const asked = inWords(base)
  return [
    {
      name: part,
      label: `Number of ${inWords(things)} with ${asked}`,
      unit: undefined,
      synonyms: [asked],
      expression: { _tag: "CountWhere", field: name, is: column.type === "boolean" ? "true" : "1" }
    },
    {
      name: names.claim(`${base}_share`, `${base}_true_share`),
      label: `${label} share`,
      unit: "%",
      synonyms: [`share of ${asked}`, `${asked} rate`],
      expression: { _tag: "Share", part, whole }
    }
  ]
}

const quantityMeasures = (
  { label, name, role, unit }: PlannedColumn,
  all: boolean,
  names: Names
): ReadonlyArray<PlannedMeasure> => {
  const base = identifier(name) ?? identifier(label) ?? "value"
  const asked = inside(label)
  const measure = (
    prefix: string,
    word: string,
    by: "sum" | "avg" | "min" | "max",
    synonyms: ReadonlyArray<string>
  ): PlannedMeasure => ({
    name: names.claim(`${prefix}_${base}`, `${prefix}_${base}_value`),
    label: `${word} ${asked}`,
    unit,
    synonyms,
    expression: { _tag: "Aggregate", of: name, by }
  })
  const sum =
    role !== "amount"
      ? []
      : /^(?:total|sum)(?:_|$)/.test(base)
        ? [measure("sum_of", "Sum of", "sum", [asked, `${asked} amount`])]
        : [measure("total", "Total", "sum", [asked, `sum of ${asked}`])]
  const average = measure("average", "Average", "avg", role === "amount" ? [`mean ${asked}`] : [asked, `mean ${asked}`])
  return all
    ? [
        ...sum,
        average,
        measure("highest", "Highest", "max", [`maximum ${asked}`, `largest ${asked}`]),
        measure("lowest", "Lowest", "min", [`minimum ${asked}`, `smallest ${asked}`])
      ]
    : [...sum, average]
}

/** Columns of which one asks how many different values they have. */
const isCounted = ({ column, role }: PlannedColumn): boolean =>
  (role === "category" || (role === "identifier" && !column.unique)) && column.distinct > 10

const distinctMeasure = ({ label, name }: PlannedColumn, names: Names): PlannedMeasure => {
  const key = /[ _](?:id|key|code|name)$/i
  const stem = (identifier(name) ?? "value").replace(key, "")
  const many = inside(label.replace(key, "")).replace(/\p{L}+$/u, (word) =>
    /\p{Lu}/u.test(word) ? word : plural(word)
  )
  return {
    name: names.claim(`${stem}_count`, `distinct_${stem}_count`),
    label: `Number of different ${many}`,
    unit: undefined,
    synonyms: [many, `different ${many}`],
    expression: { _tag: "CountDistinct", of: name }
  }
}

/** Words of times that a question about time rarely means. */
const secondary =
  /(?:^|_)(?:updated?|modified|deleted|birth(?:day|date)?|dob|born|expir\w*|due|cancel\w*|end|ended|closed|finished|last)(?:_|$)/

/** The time that a question means: the first one, unless its name says that it is about something else. */
const timeFieldOf = (
  columns: ReadonlyArray<PlannedColumn>,
  dimensions: ReadonlyArray<PlannedDimension>
): string | undefined => {
  const own = columns.filter(({ role }) => role === "time").map(({ name }) => name)
  const added = dimensions
    .filter(({ expression }) => expression._tag === "TextTime" || expression._tag === "YearStart")
    .map(({ name }) => name)
  const all = [...own, ...added]
  return all.find((name) => !secondary.test(identifier(name) ?? name)) ?? all[0]
}
