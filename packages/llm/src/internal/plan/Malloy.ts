/**
 * Malloy's lexical forms: how names, texts, numbers and days are written, and expressions and filters made of them.
 * Whatever a question or a value contains stays inside its quotes.
 */
import { monthNames, weekdayNames } from "../language/Calendar.ts"
import type { CalendarPart, Day } from "../language/Calendar.ts"
import type { AggregateFunction } from "../language/Operator.ts"
import type { Period } from "../language/Period.ts"
import type { FieldFacts } from "../understanding/Facts.ts"
import { yearsOf } from "../understanding/passes/Times.ts"
import type { Expression, Filter, Group } from "./Plan.ts"

/** What its quotes hold, with everything escaped that could end it or that the grammar does not take raw. */
const held = (value: string, quote: string): string =>
  value.replace(/[\\`'\p{Cc}\u2028\u2029]/gu, (mark) => {
    if (mark === "\\" || mark === quote) return `\\${mark}`
    return mark === "`" || mark === "'" ? mark : `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`
  })

/** A name in backquotes: any text can be one. */
export const identifier = (name: string): string => `\`${held(name, "`")}\``

/** A field by its path through joins, each step in backquotes. */
export const path = (name: string): string => name.split(".").map(identifier).join(".")

/** A field of a source. */
export const reference = (facts: FieldFacts): string => path(facts.field.name)

/** A text in quotes. */
export const text = (value: string): string => `'${held(value, "'")}'`

/** A number without an exponent. */
export const number = (value: number): string => {
  const written = String(value)
  const plain = /e/.test(written)
    ? value.toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 20 })
    : written
  return value < 0 ? `(${plain})` : plain
}

const day = (value: Day): string => `@${value.slice(0, 10)}`

const aggregates: Readonly<Record<Exclude<AggregateFunction, "median">, string>> = {
  average: "avg",
  total: "sum",
  maximum: "max",
  minimum: "min",
  deviation: "stddev"
}

/**
 * An aggregate of a field. Along a join the average or the sum is taken over the joined rows, each once: that is what
 * Malloy computes for a path, and what the reader is told.
 */
const aggregate = (name: AggregateFunction, facts: FieldFacts): string => {
  const field = reference(facts)
  if (name === "median") return `avg(${field})`
  const joined = facts.path.length > 0
  return joined && (name === "average" || name === "total")
    ? `${field}.${aggregates[name]}()`
    : `${aggregates[name]}(${field})`
}

/** A number that is computed from rows. */
export const expression = (one: Expression): string => {
  switch (one._tag) {
    case "Declared":
      return reference(one.facts)
    case "Rows":
      return "count()"
    case "Distinct":
      return `count(${reference(one.facts)}${one.grain === undefined || one.facts.time === "year" ? "" : `.${one.grain}`})`
    case "Aggregate":
      return aggregate(one.function, one.facts)
    case "Ratio":
      return `${expression(one.numerator)} / nullif(${expression(one.denominator)}, 0)`
    case "Portion":
      return `100 * ${filtered(one.of, one.filters)} / nullif(${expression(one.of)}, 0)`
  }
}

/** A number over some of the rows. */
export const filtered = (one: Expression, filters: ReadonlyArray<Filter>): string =>
  filters.length === 0 ? expression(one) : `(${expression(one)} { where: ${filters.map(filter).join(" and ")} })`

/** A condition that a time lies in a period. */
export const within = (facts: FieldFacts, period: Period): string => {
  const field = reference(facts)
  const parts: Array<string> = []
  if (facts.time === "year") {
    const { from, to } = yearsOf(period)
    if (from !== undefined) parts.push(`${field} >= ${number(from)}`)
    if (to !== undefined) parts.push(`${field} <= ${number(to)}`)
  } else {
    if (period.from !== undefined) parts.push(`${field} >= ${day(period.from)}`)
    if (period.until !== undefined) parts.push(`${field} < ${day(period.until)}`)
  }
  return parts.length === 0 ? `${field} is not null` : `(${parts.join(" and ")})`
}

/** A part of the calendar as a number. */
export const partNumber = (facts: FieldFacts, part: CalendarPart): string => {
  const field = reference(facts)
  return {
    month: `month(${field})`,
    weekday: `day_of_week(${field})`,
    hour: `hour(${field})`,
    quarter: `quarter(${field})`
  }[part]
}

/** A condition on rows. */
export const filter = (one: Filter): string => {
  const field = reference(one.facts)
  switch (one._tag) {
    case "OneOf":
      return one.negated
        ? `(${field} is not null and ${one.values.map((value) => `${field} != ${text(value)}`).join(" and ")})`
        : `(${one.values.map((value) => `${field} = ${text(value)}`).join(" or ")})`
    case "Compare":
      return one.relation === "!="
        ? `(${field} is not null and ${field} != ${number(one.value)})`
        : `${field} ${one.relation} ${number(one.value)}`
    case "Range": {
      const inside = `(${field} >= ${number(one.from)} and ${field} <= ${number(one.to)})`
      return one.negated ? `(${field} is not null and not ${inside})` : inside
    }
    case "Within": {
      const any = one.periods.map((period) => within(one.facts, period)).join(" or ")
      return one.negated ? `(${field} is not null and not (${any}))` : `(${any})`
    }
    case "Recurring": {
      const numbers = one.numbers.map((value) => `${partNumber(one.facts, one.part)} = ${number(value)}`).join(" or ")
      return one.negated ? `(${field} is not null and not (${numbers}))` : `(${numbers})`
    }
    case "Flag":
      return one.value ? `${field} = true` : `${field} = false`
    case "Known":
      return `${field} is ${one.known ? "not " : ""}null`
  }
}

const named = (facts: FieldFacts, part: "weekday" | "month", names: ReadonlyArray<string>): string =>
  `${names.map((name, index) => `pick ${text(name)} when ${partNumber(facts, part)} = ${index + 1}`).join(" ")} else null`

/** What rows are put together by; bins need their width. */
export const group = (one: Group, width: number): string => {
  const field = reference(one.facts)
  switch (one._tag) {
    case "Field":
      return field
    case "Grain":
      return one.facts.time === "year" ? field : `${field}.${one.grain}`
    case "Part":
      if (one.part === "weekday") return named(one.facts, "weekday", weekdayNames)
      if (one.part === "month") return named(one.facts, "month", monthNames)
      return partNumber(one.facts, one.part)
    case "Periods":
      return `${one.periods.map((period) => `pick ${text(period.label)} when ${within(one.facts, period)}`).join(" ")} else null`
    case "Bins":
      return `floor(${field} / ${number(width)}) * ${number(width)}`
  }
}
