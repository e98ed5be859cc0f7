/**
 * The words on axes and legends: a column's name as a person would write it, with what was done to the column.
 */
import { at, capitalised, isObject, textAt, type JsonObject } from "../specification/Json.ts"

/** Words that are written in capitals. */
const acronyms: ReadonlySet<string> = new Set(
  "id url uri ip api cpu gpu ram usd eur gbp chf jpy gdp gmv arr mrr roi sql vat sku b2b b2c us uk eu imdb mpg".split(
    " "
  )
)

/** Units at the end of a name, as they are written. */
const units: Readonly<Record<string, string>> = {
  usd: "USD",
  eur: "EUR",
  gbp: "GBP",
  chf: "CHF",
  jpy: "JPY",
  pct: "%",
  percent: "%",
  mm: "mm",
  cm: "cm",
  km: "km",
  kg: "kg",
  lbs: "lbs",
  ms: "ms",
  sec: "s",
  minutes: "min",
  hrs: "h",
  kwh: "kWh",
  mwh: "MWh",
  kb: "kB",
  mb: "MB",
  gb: "GB",
  celsius: "°C",
  fahrenheit: "°F"
}

/** A column's name as words: `avg_delay_min` becomes "Avg delay min", `customerId` "Customer ID". */
export const humanised = (name: string): string => {
  const plain = name.replaceAll(/\\(.)/g, "$1")
  // A name with spaces was written for people already.
  if (/\s/.test(plain.trim())) return capitalised(plain.trim())
  const words = plain
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .split(/[_\-.\s]+/)
    .filter((word) => word !== "")
  const last = words.at(-1)?.toLowerCase() ?? ""
  const unit = words.length > 1 && Object.hasOwn(units, last) ? units[last] : undefined
  if (unit === undefined) return words.length === 0 ? plain : capitalised(words.map(cased).join(" "))
  const named = words.slice(0, -1)
  // "Weight in lbs" says with two letters what brackets say, too.
  if (named.length > 1 && named.at(-1)?.toLowerCase() === "in") named.pop()
  return `${capitalised(named.map(cased).join(" "))} (${unit})`
}

const cased = (word: string): string => {
  if (acronyms.has(word.toLowerCase())) return word.toUpperCase()
  return /^[A-Z\d]+$/.test(word) ? word : word.toLowerCase()
}

const aggregates: Readonly<Record<string, string>> = {
  average: "Average",
  mean: "Average",
  median: "Median",
  min: "Lowest",
  max: "Highest",
  sum: "Total",
  distinct: "Distinct",
  valid: "Known",
  missing: "Missing",
  product: "Product of",
  q1: "Lower quartile of",
  q3: "Upper quartile of",
  stdev: "Standard deviation of",
  stdevp: "Standard deviation of",
  variance: "Variance of",
  variancep: "Variance of",
  stderr: "Standard error of",
  ci0: "Lower confidence bound of",
  ci1: "Upper confidence bound of"
}

/** A name in the middle of a phrase: its first letter small, unless the first word is an acronym or a proper name. */
const inPhrase = (text: string): string => {
  const [first = ""] = text.split(" ")
  return /^[A-Z][a-z]*$/.test(first) && !text.slice(1).match(/\b[A-Z][a-z]/)
    ? text.charAt(0).toLowerCase() + text.slice(1)
    : text
}

/** The title of what an encoding shows, unless there is nothing to name. */
export const titleOf = (definition: JsonObject): string | undefined => {
  const aggregate = at(definition, "aggregate")
  const field = textAt(definition, "field")
  if (aggregate === "count") return "Number of records"
  if (field === undefined) return undefined
  const name = humanised(field)
  if (typeof aggregate === "string") {
    const words = Object.hasOwn(aggregates, aggregate) ? aggregates[aggregate] : undefined
    // "Total total delay" says it twice.
    const repeats = words !== undefined && name.toLowerCase().startsWith(words.toLowerCase())
    return words === undefined || repeats ? name : `${words} ${inPhrase(name)}`
  }
  return name
}

/** Whether an encoding was given a title, be it "none", by its author. */
export const isTitled = (definition: JsonObject): boolean =>
  Object.hasOwn(definition, "title") ||
  ["axis", "legend", "header"].some((key) => {
    const guide = at(definition, key)
    return isObject(guide) && Object.hasOwn(guide, "title")
  })
