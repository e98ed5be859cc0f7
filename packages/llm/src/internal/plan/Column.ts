/**
 * The columns that a plan's result has: what the query calls them, what people call them, and their units.
 */
import type { Grain } from "../language/Calendar.ts"
import { nameOf } from "../understanding/Facts.ts"
import { lowerFirst } from "../understanding/Measuring.ts"
import type { FieldFacts, SourceFacts } from "../understanding/Facts.ts"
import type { Group, Measure, Rows, Summary } from "./Plan.ts"

/** A column of a result. */
export interface Column {
  /** In the query and the result. */
  readonly name: string
  /** For people. */
  readonly label: string
  readonly unit: string | undefined
  /** The column is a field of the source under its own name, so that the query need not name it. */
  readonly bare: boolean
}

/** A column of groups. */
export interface GroupColumn extends Column {
  readonly group: Group
}

/** A column of numbers. */
export interface MeasureColumn extends Column {
  readonly measure: Measure
}

/** A name for a column: the words of a label in small letters, joined by underscores. */
const snake = (text: string): string => {
  const name = text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 60)
  return name === "" || /^\d/.test(name) ? `column_${name}` : name
}

interface Namer {
  /** A name that no other column has, and no field of the source: a query must not mistake one for the other. */
  readonly fresh: (wanted: string) => string
  /** A field's own name, where it can stand in a chart without quotes and is still free. */
  readonly own: (facts: FieldFacts) => string | undefined
}

const namer = (source: SourceFacts): Namer => {
  const fields = new Set(
    source.fields.filter((facts) => facts.path.length === 0).map((facts) => facts.field.name.toLowerCase())
  )
  const taken = new Set<string>()
  return {
    fresh: (wanted) => {
      let name = snake(wanted)
      for (let count = 2; taken.has(name) || fields.has(name); count++) name = `${snake(wanted)}_${count}`
      taken.add(name)
      return name
    },
    own: (facts) => {
      const { name } = facts.field
      if (facts.path.length > 0 || taken.has(name.toLowerCase()) || !/^[\p{L}\p{N}_ ()%$/+-]{1,100}$/u.test(name))
        return undefined
      taken.add(name.toLowerCase())
      return name
    }
  }
}

/** A column that is a field as it is, or a fresh one. */
const columnOf = (
  names: Namer,
  facts: FieldFacts | undefined,
  words: string,
  label: string,
  unit: string | undefined
): Column => {
  const own = facts === undefined ? undefined : names.own(facts)
  return { name: own ?? names.fresh(words), label, unit, bare: own !== undefined }
}

const fieldWords = (facts: FieldFacts): string => facts.field.name.replaceAll(".", "_")

/** The first letter large, for headings. */
export const upperFirst = (label: string): string => label.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase())

const grainLabels: Readonly<Record<Grain, string>> = {
  year: "Year",
  quarter: "Quarter",
  month: "Month",
  week: "Week",
  day: "Day",
  hour: "Hour"
}

const partLabels = {
  month: "Month of the year",
  weekday: "Day of the week",
  hour: "Hour of the day",
  quarter: "Quarter of the year"
} as const

/** What people call a group. */
export const groupLabel = (group: Group): string => {
  switch (group._tag) {
    case "Field":
    case "Bins":
      return nameOf(group.facts)
    case "Grain":
      return grainLabels[group.grain]
    case "Part":
      return partLabels[group.part]
    case "Periods":
      return "Period"
  }
}

const groupWords = (group: Group): string => {
  switch (group._tag) {
    case "Field":
    case "Bins":
      return fieldWords(group.facts)
    case "Grain":
      return group.grain
    case "Part":
      return `${group.part}_name`
    case "Periods":
      return "period"
  }
}

const measureWords = (measure: Measure): string => {
  const { expression } = measure
  switch (expression._tag) {
    case "Declared":
      return fieldWords(expression.facts)
    case "Aggregate":
      return `${expression.function}_${fieldWords(expression.facts)}`
    case "Distinct":
      return expression.grain === undefined ? `different_${fieldWords(expression.facts)}` : `${expression.grain}s`
    case "Rows":
    case "Ratio":
      return measure.label
    case "Portion":
      return "share"
  }
}

/** The declared measure that a number is, if it is one as it stands. */
const declaredIn = (measure: Measure): FieldFacts | undefined =>
  measure.expression._tag === "Declared" ? measure.expression.facts : undefined

/** The columns of a summary. */
export interface SummaryColumns {
  readonly groups: ReadonlyArray<GroupColumn>
  readonly measures: ReadonlyArray<MeasureColumn>
  /** Each group's part of the whole, in percent. */
  readonly share: Column
  readonly before: Column
  readonly after: Column
  readonly change: Column
  readonly changePercent: Column
  readonly alternative: Column
  /** The upper end of a bin. */
  readonly to: Column
  /** One figure over all groups, and how many groups there were. */
  readonly outer: Column
  readonly outerGroups: Column
}

/** The columns of a summary's queries. */
export const summaryColumns = (plan: Summary): SummaryColumns => {
  const names = namer(plan.facts)
  const groups = plan.groups.map((group) => ({
    ...columnOf(
      names,
      group._tag === "Field" || (group._tag === "Grain" && group.facts.time === "year") ? group.facts : undefined,
      groupWords(group),
      groupLabel(group),
      group._tag === "Bins" || group._tag === "Field" ? group.facts.unit : undefined
    ),
    group
  }))
  const measures = plan.measures.map((measure) => ({
    ...columnOf(names, declaredIn(measure), measureWords(measure), upperFirst(measure.label), measure.unit),
    measure
  }))
  const [first] = measures
  const label = first?.measure.label ?? ""
  const column = (wanted: string, heading: string, unit: string | undefined): Column => ({
    name: names.fresh(wanted),
    label: heading,
    unit,
    bare: false
  })
  const { alternative, change } = plan
  return {
    groups,
    measures,
    share: column("share_percent", `Share of the ${label}`, "%"),
    before: column("before", `${upperFirst(label)}, ${change?.from.label ?? ""}`, first?.unit),
    after: column("after", `${upperFirst(label)}, ${change?.to.label ?? ""}`, first?.unit),
    change: column("change", "Change", first?.unit),
    changePercent: column("change_percent", "Change in percent", "%"),
    alternative: columnOf(
      names,
      alternative === undefined ? undefined : declaredIn(alternative),
      alternative === undefined ? "alternative" : measureWords(alternative),
      upperFirst(alternative?.label ?? ""),
      alternative?.unit
    ),
    to: column("up_to", "Up to", groups[0]?.unit),
    outer: column(
      plan.outer === "count" ? `number_of_${groups[0]?.name ?? "groups"}` : `${plan.outer ?? ""}_${first?.name ?? ""}`,
      outerLabel(plan),
      plan.outer === "count" ? undefined : first?.unit
    ),
    outerGroups: column("groups", "Groups", undefined)
  }
}

const outerWords = {
  average: "average",
  total: "total",
  maximum: "highest",
  minimum: "lowest",
  median: "median",
  deviation: "standard deviation of the",
  count: "number of"
} as const

/** A figure over the groups' figures: `average number of flights per day`. */
export const outerLabel = (plan: Summary): string => {
  if (plan.outer === undefined) return ""
  const [group] = plan.groups
  const per = group === undefined ? "group" : lowerFirst(groupLabel(group))
  return plan.outer === "count"
    ? `Number of different ${per} values`
    : upperFirst(`${outerWords[plan.outer]} ${plan.measures[0]?.label ?? ""} per ${per}`)
}

/** The columns of a listing. */
export const rowsColumns = (plan: Rows): ReadonlyArray<Column & { readonly facts: FieldFacts }> => {
  const names = namer(plan.facts)
  return plan.columns.map((facts) => ({
    ...columnOf(names, facts, fieldWords(facts), nameOf(facts), facts.unit),
    facts
  }))
}
