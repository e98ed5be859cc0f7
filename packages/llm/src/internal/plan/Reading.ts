/**
 * How a question was read, in words, so that a reader can check it: which number, by what, of which rows, over which
 * time.
 */
import type { Grain } from "../language/Calendar.ts"
import type { Relation } from "../language/Operator.ts"
import { type FieldFacts, nameOf } from "../understanding/Facts.ts"
import { lowerFirst, rowsOf } from "../understanding/Measuring.ts"
import { groupLabel, outerLabel, upperFirst } from "./Column.ts"
import type { Filter, Group, Measure, Plan, Statistics } from "./Plan.ts"

/** Some things as one phrase: `a`, `a and b`, `a, b and c`. */
export const listed = (items: ReadonlyArray<string>, word = "and"): string =>
  items.length < 2 ? (items[0] ?? "") : `${items.slice(0, -1).join(", ")} ${word} ${items.at(-1) ?? ""}`

const relations: Readonly<Record<Relation, string>> = {
  ">": "over",
  ">=": "at least",
  "<": "under",
  "<=": "at most",
  "=": "is",
  "!=": "other than"
}

/** A plain number with thousands separators. */
const figure = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 10 })

const withUnit = (value: number, unit: string | undefined): string => {
  if (unit === "USD") return `$${figure(value)}`
  if (unit === "%") return `${figure(value)} %`
  return unit === undefined ? figure(value) : `${figure(value)} ${unit}`
}

const fieldName = (facts: FieldFacts): string => {
  const label = lowerFirst(nameOf(facts))
  const path = facts.path.join(" ")
  return path === "" || label.toLowerCase().includes(path) ? label : `${path} ${label}`
}

/** A condition in words. */
export const filterWords = (filter: Filter): string => {
  const name = fieldName(filter.facts)
  switch (filter._tag) {
    case "OneOf":
      return `${name} ${filter.negated ? "other than" : "is"} ${listed(filter.values, "or")}`
    case "Compare":
      return `${name} ${relations[filter.relation]} ${withUnit(filter.value, filter.facts.unit)}`
    case "Range":
      return `${name} ${filter.negated ? "not " : ""}from ${withUnit(filter.from, filter.facts.unit)} to ${withUnit(filter.to, filter.facts.unit)}`
    case "Within": {
      const periods = listed(
        filter.periods.map((period) => period.label),
        "or"
      )
      return filter.negated ? `outside ${periods}` : periods
    }
    case "Recurring":
      return filter.negated ? `not ${filter.label}` : filter.label
    case "Flag":
      return filter.value ? name : `not ${name}`
    case "Known":
      return filter.known ? `${name} known` : `${name} missing`
  }
}

const units: Readonly<Record<Grain, string>> = {
  year: "year",
  quarter: "quarter",
  month: "month",
  week: "week",
  day: "day",
  hour: "hour"
}

/** What rows are put together by, in words. */
export const groupWords = (group: Group): string => {
  switch (group._tag) {
    case "Field":
      return fieldName(group.facts)
    case "Bins":
      return `ranges of ${fieldName(group.facts)}`
    case "Grain":
      return units[group.grain]
    case "Part":
      return lowerFirst(groupLabel(group))
    case "Periods":
      return "period"
  }
}

/** A number with its unit: `average delay (minutes)`. */
export const measureWords = (measure: Measure): string =>
  measure.unit === undefined || measure.label.includes(measure.unit)
    ? measure.label
    : `${measure.label} (${measure.unit})`

const conditions = (plan: Plan): ReadonlyArray<string> => {
  const compared =
    plan._tag === "Summary" ? plan.groups.filter((group) => group._tag === "Periods").map((group) => group.facts) : []
  const grouped = plan._tag === "Summary" ? plan.groups.map((group) => group.facts) : []
  const words = plan.filters
    .filter((filter) => filter._tag !== "Within" || !compared.includes(filter.facts))
    // A group is of rows that have one: that goes without saying.
    .filter((filter) => filter._tag !== "Known" || !filter.known || !grouped.includes(filter.facts))
    .map(filterWords)
  const groups =
    plan._tag === "Summary"
      ? plan.having.map(
          (one) => `${one.measure.label} ${relations[one.relation]} ${withUnit(one.value, one.measure.unit)}`
        )
      : []
  return [...words, ...groups]
}

/** A statistic in words. */
const statisticWords = ({ columns, kind, series }: Statistics): string => {
  const names = columns.map(fieldName)
  const of =
    series === undefined
      ? listed(names)
      : `${listed(series.measures.map(measureWords))} by ${listed(series.groups.map(groupWords))}`
  switch (kind) {
    case "correlation":
      return `correlations of ${of}`
    case "distribution":
      return `distribution of ${of}`
    case "regression":
      return `linear regression of ${names[0] ?? ""} on ${names[1] ?? ""}`
    case "outliers":
      return `outliers in ${of}`
    case "decomposition":
      return `seasonal decomposition of ${of}`
  }
}

const subject = (plan: Plan): string => {
  switch (plan._tag) {
    case "Scatter":
      return `${fieldName(plan.y)} against ${fieldName(plan.x)}`
    case "Statistics":
      return statisticWords(plan)
    case "Rows": {
      if (plan.order === undefined) return rowsOf(plan.facts)
      const end =
        plan.order.facts.time === undefined
          ? plan.order.descending
            ? "highest"
            : "lowest"
          : plan.order.descending
            ? "latest"
            : "earliest"
      return `the ${plan.limit === 1 ? "" : `${plan.limit} `}${rowsOf(plan.facts)} with the ${end} ${fieldName(plan.order.facts)}`
    }
    case "Summary": {
      const measures = listed(plan.measures.map(measureWords))
      const by = plan.groups.length === 0 ? "" : ` by ${listed(plan.groups.map(groupWords))}`
      if (plan.outer !== undefined) return lowerFirst(outerLabel(plan))
      if (plan.share) return `share of the ${measures}${by}`
      if (plan.measures.some((measure) => measure.expression._tag === "Portion")) {
        const [measure] = plan.measures
        const part = measure?.expression._tag === "Portion" ? measure.expression.filters.map(filterWords) : []
        return `${measure?.label ?? ""} (%) with ${listed(part)}${by}`
      }
      if (plan.change !== undefined)
        return `change of the ${measures}${by} from ${plan.change.from.label} to ${plan.change.to.label}`
      return `${measures}${by}`
    }
  }
}

/** How a question was read. */
export const reading = (plan: Plan): string => {
  const ranked =
    plan._tag === "Summary" && plan.ranking !== undefined
      ? [
          `${plan.ranking.descending ? "highest" : "lowest"}${plan.ranking.asked && plan.ranking.limit > 1 ? ` ${plan.ranking.limit}` : ""} first`
        ]
      : []
  const compared =
    plan._tag === "Summary"
      ? plan.groups.flatMap((group) =>
          group._tag === "Periods" ? [`${listed(group.periods.map((period) => period.label))} compared`] : []
        )
      : []
  return upperFirst([subject(plan), ...compared, ...conditions(plan), ...ranked].join(", "))
}

/** A title for a step, a chart or a table: the reading without its details, cut to fit. */
export const title = (plan: Plan, limit = 120): string => {
  const whole = upperFirst([subject(plan), ...conditions(plan)].join(", "))
  return whole.length <= limit ? whole : `${whole.slice(0, limit - 1).trimEnd()}…`
}
