/**
 * What the text of a column means: numbers, dates and times are recognised in every value of the column or not at
 * all, so that nothing is lost. A sample proposes a type; the conversion then holds every row to it.
 *
 * - Numbers with leading zeros stay text: they are codes (`00501`).
 * - Words for a missing value (`NA`, `N/A`, `null`, …) are null in a column of another type, and stay in a text one.
 * - `03/04/2020` is a date only where the column tells which number is the day: one above 12, or the same day of the
 *   month in every row, as monthly figures have it.
 */
import { literal } from "./SqlText.ts"

/** What a column of text may be read as. */
export interface Proposal {
  /** The name of the type, with the format where there are several. */
  readonly name: string
  /** What a value of the type looks like, from end to end. */
  readonly pattern: RegExp
  /** SQL that is the value of the text `w`, which is never null, or null where it is not of the type. */
  readonly value: (w: string) => string
}

const missing = [
  "",
  "NA",
  "N/A",
  "n/a",
  "#N/A",
  "NULL",
  "null",
  "NaN",
  "nan",
  "None",
  "none",
  "nil",
  "-",
  "--",
  "?",
  "."
]

/** SQL of a text without space around it, null where it stands for a missing value. */
export const present = (text: string): string => {
  const trimmed = `trim(${text})`
  return `CASE WHEN ${trimmed} IN (${missing.map(literal).join(", ")}) THEN NULL ELSE ${trimmed} END`
}

/** The same of a value in hand. */
export const presentText = (text: string): string | undefined => {
  const trimmed = text.replaceAll(/^ +| +$/g, "")
  return missing.includes(trimmed) ? undefined : trimmed
}

/** An integer that was read wider than it has to be. */
export const narrowed: Proposal = { name: "BIGINT", pattern: /^/, value: (w) => `TRY_CAST(${w} AS BIGINT)` }

const whole = (pattern: string): RegExp => new RegExp(`^(${pattern})$`)

/** A type whose values are told by their look. */
const looking = (name: string, pattern: string, value: (w: string) => string): Proposal => ({
  name,
  pattern: whole(pattern),
  value: (w) => `CASE WHEN regexp_full_match(${w}, ${literal(pattern)}) THEN ${value(w)} END`
})

const integer: Proposal = {
  name: "BIGINT",
  pattern: whole("[+-]?(0|[1-9][0-9]*)"),
  // Written back, it is the same text: so it had no leading zero, fraction, exponent or separator.
  value: (w) => `CASE WHEN TRY_CAST(${w} AS BIGINT)::VARCHAR = ltrim(${w}, '+') THEN TRY_CAST(${w} AS BIGINT) END`
}

/** More digits than a double holds are an identifier, as are digits after a leading zero. */
const number: Proposal = {
  name: "DOUBLE",
  pattern: whole("[+-]?((0|[1-9][0-9]*)(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?"),
  value: (w) => `CASE
    WHEN translate(${w}, '0123456789+-.eE', '') <> '' THEN NULL
    WHEN ltrim(${w}, '+-')[1] = '0' AND ltrim(${w}, '+-')[2] BETWEEN '0' AND '9' THEN NULL
    WHEN length(${w}) > 16 AND TRY_CAST(${w} AS HUGEINT)::VARCHAR = ${w} THEN NULL
    ELSE TRY_CAST(${w} AS DOUBLE) END`
}

/** `1,234.50`, `$12`, `€1,000` */
const grouped = looking(
  "DOUBLE with separators",
  "[+-]?[$€£]?([0-9]{1,3}(,[0-9]{3})+|0|[1-9][0-9]{0,14})(\\.[0-9]+)?",
  (w) => `TRY_CAST(regexp_replace(${w}, '[$€£,]', '', 'g') AS DOUBLE)`
)

/** `1.234,50` */
const withComma = looking(
  "DOUBLE with a decimal comma",
  "[+-]?[$€£]?([0-9]{1,3}(\\.[0-9]{3})+|0|[1-9][0-9]{0,14})(,[0-9]+)?",
  (w) => `TRY_CAST(replace(regexp_replace(${w}, '[$€£.]', '', 'g'), ',', '.') AS DOUBLE)`
)

const boolean: Proposal = {
  name: "BOOLEAN",
  pattern: /^(true|false)$/i,
  value: (w) => `CASE lower(${w}) WHEN 'true' THEN true WHEN 'false' THEN false END`
}

const day = "[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}"
const clock = "[0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,9})?)?"
const zone = " ?(Z|UTC|[+-][0-9]{2}(:?[0-9]{2})?)"

const date = looking("DATE", day, (w) => `TRY_CAST(${w} AS DATE)`)
const timestamp = looking("TIMESTAMP", `${day}([T ]${clock})?`, (w) => `TRY_CAST(${w} AS TIMESTAMP)`)
const moment = looking(
  "TIMESTAMP WITH TIME ZONE",
  `${day}[T ]${clock}${zone}`,
  (w) =>
    // `+0200` is `+02:00`, and `UTC` is `Z`.
    `TRY_CAST(replace(regexp_replace(${w}, '([+-]\\d\\d)(\\d\\d)$', '\\1:\\2'), 'UTC', 'Z') AS TIMESTAMPTZ)`
)
const time = looking("TIME", clock, (w) => `TRY_CAST(${w} AS TIME)`)

const formatted = (type: "DATE" | "TIMESTAMP", format: string, pattern: string): Proposal =>
  looking(`${type} ${format}`, pattern, (w) => `CAST(try_strptime(${w}, ${literal(format)}) AS ${type})`)

const month = "[A-Za-z]{3,9}"
const one = "[0-9]{1,2}"
const year = "[0-9]{4}"

/** Days of which the order of day and month is certain. */
const certainDays: ReadonlyArray<readonly [format: string, pattern: string]> = [
  ["%b %d %Y", `${month} ${one} ${year}`],
  ["%b %d, %Y", `${month} ${one}, ${year}`],
  ["%B %d %Y", `${month} ${one} ${year}`],
  ["%B %d, %Y", `${month} ${one}, ${year}`],
  ["%d %b %Y", `${one} ${month} ${year}`],
  ["%d %B %Y", `${one} ${month} ${year}`],
  ["%d-%b-%Y", `${one}-${month}-${year}`],
  ["%d-%b-%y", `${one}-${month}-[0-9]{2}`],
  ["%d.%m.%Y", `${one}\\.${one}\\.${year}`]
]

/** Days of which the first two numbers may be in either order. */
const uncertainDays: ReadonlyArray<readonly [monthFirst: string, dayFirst: string, pattern: string]> = [
  ["%m/%d/%Y", "%d/%m/%Y", `${one}/${one}/${year}`],
  ["%m-%d-%Y", "%d-%m-%Y", `${one}-${one}-${year}`],
  ["%m/%d/%y", "%d/%m/%y", `${one}/${one}/[0-9]{2}`]
]

const times: ReadonlyArray<readonly [format: string, pattern: string]> = [
  ["%H:%M", "[0-9]{1,2}:[0-9]{2}"],
  ["%H:%M:%S", "[0-9]{1,2}:[0-9]{2}:[0-9]{2}"],
  ["%I:%M %p", "[0-9]{1,2}:[0-9]{2} [AaPp][Mm]"],
  ["%I:%M:%S %p", "[0-9]{1,2}:[0-9]{2}:[0-9]{2} [AaPp][Mm]"]
]

const withTimes = (format: string, pattern: string): ReadonlyArray<Proposal> => [
  formatted("DATE", format, pattern),
  ...times.map(([clockFormat, clockPattern]) =>
    formatted("TIMESTAMP", `${format} ${clockFormat}`, `${pattern} ${clockPattern}`)
  )
]

/** The proposals for text that its author could have written as a number, and did not: as in JSON. */
export const temporal: ReadonlyArray<Proposal> = [
  date,
  timestamp,
  moment,
  time,
  ...certainDays.flatMap(([format, pattern]) => withTimes(format, pattern))
]

/** Every proposal for text of which nothing is known, the most particular first. */
export const anything = (decimalComma: boolean): ReadonlyArray<Proposal> => [
  integer,
  number,
  decimalComma ? withComma : grouped,
  boolean,
  ...temporal
]

/** Two readings of the same text, between which only all its values can decide. */
export interface Ambiguous {
  readonly monthFirst: Proposal
  readonly dayFirst: Proposal
}

/** The readings of days such as `03/04/2020`. */
export const ambiguous: ReadonlyArray<Ambiguous> = uncertainDays.flatMap(([monthFirst, dayFirst, pattern]) => {
  const second = withTimes(dayFirst, pattern)
  return withTimes(monthFirst, pattern).flatMap((proposal, index) => {
    const other = second[index]
    return other === undefined ? [] : [{ monthFirst: proposal, dayFirst: other }]
  })
})
