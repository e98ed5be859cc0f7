/**
 * Days and moments that are written as text, in the ways that are told apart for sure or by a look at all values.
 */
import type { TemporalFormat } from "../TableProfile.ts"

/** How a format is written, and how the text of a value in it looks. */
interface Writing {
  readonly format: TemporalFormat
  readonly looks: RegExp
}

const year = "[12][0-9]{3}"
const one = "[0-9]{1,2}"
const clock = `${one}:[0-9]{2}`
const month = "[A-Za-z]{3}\\.?"
const longMonth = "[A-Za-z]{3,9}"

const days: ReadonlyArray<readonly [pattern: string, looks: string]> = [
  ["%Y/%m/%d", `${year}/${one}/${one}`],
  ["%Y.%m.%d", `${year}\\.${one}\\.${one}`],
  ["%Y%m%d", `${year}[01][0-9][0-3][0-9]`],
  ["%m/%d/%Y", `${one}/${one}/${year}`],
  ["%d/%m/%Y", `${one}/${one}/${year}`],
  ["%m-%d-%Y", `${one}-${one}-${year}`],
  ["%d-%m-%Y", `${one}-${one}-${year}`],
  ["%d.%m.%Y", `${one}\\.${one}\\.${year}`],
  ["%b %d %Y", `${month} ${one} ${year}`],
  ["%b %d, %Y", `${month} ${one}, ${year}`],
  ["%B %d %Y", `${longMonth} ${one} ${year}`],
  ["%B %d, %Y", `${longMonth} ${one}, ${year}`],
  ["%d %b %Y", `${one} ${month} ${year}`],
  ["%d %B %Y", `${one} ${longMonth} ${year}`],
  ["%d-%b-%Y", `${one}-${month}-${year}`],
  ["%d-%b-%y", `${one}-${month}-[0-9]{2}`]
]

const clocks: ReadonlyArray<readonly [pattern: string, looks: string]> = [
  ["%H:%M", clock],
  ["%H:%M:%S", `${clock}:[0-9]{2}`],
  ["%I:%M %p", `${clock} [AaPp][Mm]`],
  ["%I:%M:%S %p", `${clock}:[0-9]{2} [AaPp][Mm]`]
]

const months: ReadonlyArray<readonly [pattern: string, looks: string]> = [
  ["%Y-%m", `${year}-[01][0-9]`],
  ["%b %Y", `${month} ${year}`],
  ["%B %Y", `${longMonth} ${year}`]
]

const whole = (looks: string): RegExp => new RegExp(`^${looks}$`)

const writings: ReadonlyArray<Writing> = [
  { format: { type: "date" }, looks: whole(`${year}-[01][0-9]-[0-3][0-9]`) },
  {
    format: { type: "timestamp" },
    looks: whole(`${year}-[01][0-9]-[0-3][0-9][T ]${clock}(?::[0-9]{2}(?:\\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?`)
  },
  ...[...days, ...months].map(([pattern, looks]): Writing => ({
    format: { type: "date", pattern },
    looks: whole(looks)
  })),
  ...days.flatMap(([pattern, looks]) =>
    clocks.map(([clockPattern, clockLooks]): Writing => ({
      format: { type: "timestamp", pattern: `${pattern} ${clockPattern}` },
      looks: whole(`${looks},? ${clockLooks}`)
    }))
  )
]

/** The formats that every one of these values may be in: none, one, or those between which all values must decide. */
export const formatsOf = (values: ReadonlyArray<string>): ReadonlyArray<TemporalFormat> =>
  values.length === 0
    ? []
    : writings.filter(({ looks }) => values.every((value) => looks.test(value))).map(({ format }) => format)

/** SQL that reads a text column as a moment, null where it is none. */
export const sqlOf = (format: TemporalFormat, column: string): string =>
  format.pattern === undefined
    ? `TRY_CAST(${column} AS TIMESTAMP)`
    : `try_strptime(${column}, '${format.pattern.replaceAll("'", "''")}')`
