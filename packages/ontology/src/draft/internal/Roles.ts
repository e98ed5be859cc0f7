/**
 * What a column is for, from its name, its type and the figures over its values. A role decides which measures make
 * sense: nobody adds up years, codes or temperatures.
 */
import { words } from "../../internal/Label.ts"
import type { ColumnProfile } from "../TableProfile.ts"

/** What a column is for. */
export type Role =
  /** Tells things apart: an id, a code, a number that is a name. */
  | "identifier"
  /** A date or a moment. */
  | "time"
  /** A date or a moment, written as text. */
  | "textTime"
  /** A year, as a number. */
  | "year"
  /** A part of a date or a time, as a number: a month, a weekday, an hour. */
  | "calendar"
  /** A place on earth. */
  | "coordinate"
  /** Yes or no, as a truth value or as 0 and 1. */
  | "flag"
  /** A number that adds up: an amount, a count. */
  | "amount"
  /** A number that does not add up: a price, a rate, a temperature. */
  | "level"
  /** Text of few words that rows are grouped by. */
  | "category"
  /** Other text. */
  | "text"
  /** A structure, or nothing that a model can work with. */
  | "other"

const identifying = new Set(
  (
    "id ids key uuid guid code codes zip zipcode postcode postal phone fax fips sku isbn ean upc gtin ssn iban vat " +
    "number no nr num hash token reference ref pk fk identifier serial rank position order index line row"
  ).split(" ")
)

const grouping = new Set(
  "type class category cluster group level tier grade stage status segment district sex".split(" ")
)

const calendar = new Set(
  "month day hour minute second week quarter weekday dayofweek dow doy hr yearmonth monthnum decade century".split(" ")
)

const coordinates = new Set("lat latitude lon lng longitude easting northing".split(" "))

/** Words of numbers that are compared and averaged, not added up. */
const levels = new Set(
  (
    "pct percent percentage perc rate rates ratio share score rating ratings grade temperature temp age speed velocity " +
    "price prices height width depth elevation altitude pressure humidity concentration density probability average " +
    "avg mean median min max minimum maximum std stddev deviation variance index acceleration efficiency fertility " +
    "expectancy frequency angle ph co2 aqi mpg gallon bpm factor coefficient yield voltage wind open close high low " +
    "adjclose horsepower displacement cylinders power gpa bmi iq magnitude mag odds salary wage income rent per length size diameter radius mass"
  ).split(" ")
)

/** What a column is for. `rows` is the number of rows of its table. */
export const roleOf = (column: ColumnProfile, rows: number): Role => {
  const parts = words(column.name).map((word) => word.toLowerCase())
  const last = parts.at(-1) ?? ""
  switch (column.type) {
    case "date":
    case "timestamp":
      return "time"
    case "boolean":
      return "flag"
    case "integer":
    case "number":
    case "decimal":
      return numberRole(column, parts, last, rows)
    case "text":
      return textRole(column, last, rows)
    case "time":
    case "json":
      return "other"
  }
}

const numberRole = (column: ColumnProfile, parts: ReadonlyArray<string>, last: string, rows: number): Role => {
  const { least, greatest } = column.range ?? { least: 0, greatest: 0 }
  const whole = column.type === "integer"
  const measured = column.range !== undefined && rows > 0
  if (parts.some((part) => coordinates.has(part)) && least >= -180.5 && greatest <= 360.5) return "coordinate"
  if (whole && /^(?:year|years|yr|fy)$/.test(last) && measured && least >= 1000 && greatest <= 2999) return "year"
  if (identifying.has(last) && whole) return "identifier"
  if (whole && calendar.has(last) && measured && least >= 0 && greatest <= 366) return "calendar"
  if (whole && measured && least === 0 && greatest === 1 && column.present > 2) return "flag"
  if (whole && grouping.has(last)) return "identifier"
  // A key by its values: different in every row, and dense.
  if (whole && column.unique && rows > 20 && greatest - least < 2 * rows && /id/.test(last)) return "identifier"
  return parts.some((part) => levels.has(part)) || /%/.test(column.name) ? "level" : "amount"
}

const textRole = (column: ColumnProfile, last: string, rows: number): Role => {
  if (column.temporal !== undefined) return "textTime"
  const longest = column.texts?.longest ?? 0
  if (column.unique || (identifying.has(last) && column.distinct > 50)) return longest <= 80 ? "identifier" : "text"
  if (longest > 80 || column.distinct < 2) return "text"
  return column.distinct <= 50 || column.distinct <= rows / 3 ? "category" : "text"
}
