/**
 * Cron expressions: five fields, or one of four names, on the clock of a time zone.
 *
 * The clock of a zone is set forward and back. Times that are skipped come due once, as much later as the clock was
 * set forward. A time that comes twice comes due the first time only, unless the expression names every hour: such a
 * one means "every so often", and does not fall silent for the hour that is repeated.
 *
 * Source: decisions.md §6 (`cron_string`, `timezone`).
 */
import * as EffectCron from "effect/Cron"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidRequest } from "../error/Failure.ts"

/** A cron expression as it was written; one that `parse` takes. */
export const CronText = Schema.NonEmptyString.pipe(Schema.brand("CronText"))
export type CronText = typeof CronText.Type

/** A time zone by its name in the IANA database. */
export const TimeZoneName = Schema.NonEmptyString.pipe(Schema.brand("TimeZoneName"))
export type TimeZoneName = typeof TimeZoneName.Type

/** The names that stand for five fields. */
const named: ReadonlyMap<string, string> = new Map([
  ["@hourly", "0 * * * *"],
  ["@daily", "0 0 * * *"],
  ["@weekly", "0 0 * * 0"],
  ["@monthly", "0 0 1 * *"]
])

const invalid = (field: string, rule: string): Result.Result<never, InvalidRequest> =>
  Result.fail(new InvalidRequest({ message: `${field}: ${rule}` }))

/** The zone of a name. An offset such as `+02:00` is none: it does not follow the clock of any place. */
export const parseTimeZone = (name: string): Result.Result<TimeZoneName, InvalidRequest> =>
  /^[A-Za-z]/.test(name) && Option.isSome(DateTime.zoneMakeNamed(name))
    ? Result.succeed(TimeZoneName.make(name))
    : invalid("timezone", `${JSON.stringify(name)} is not the name of an IANA time zone, such as Europe/Paris`)

/** The expression with its zone, ready to be asked for due times. */
const compile = (text: string, timeZone: string): Result.Result<EffectCron.Cron, InvalidRequest> => {
  const fields = (named.get(text.trim()) ?? text).trim().split(/\s+/)
  if (fields.length !== 5) {
    return invalid("cron_string", "must have five fields, or be one of @hourly, @daily, @weekly, @monthly")
  }
  const parsed = (onDstOverlap: EffectCron.DstOverlapPolicy) =>
    Result.mapError(
      EffectCron.parse(fields.join(" "), timeZone, { onDstOverlap }),
      ({ input, message }) =>
        new InvalidRequest({ message: `cron_string: ${message}${input === undefined ? "" : `, not ${input}`}` })
    )
  return Result.flatMap(parsed("earlier"), (cron) => (everyHour(cron) ? parsed("both") : Result.succeed(cron)))
}

/** Whether an expression comes due in every hour of a day. An empty set is how a wildcard is kept. */
const everyHour = (cron: EffectCron.Cron): boolean => cron.hours.size === 0 || cron.hours.size === 24

/** The first moment after another at which a compiled expression comes due; none where it never does. */
const nextOf = (cron: EffectCron.Cron, after: DateTime.Utc): Option.Option<DateTime.Utc> =>
  // It throws when it has searched years without finding a date.
  Result.getSuccess(Result.try(() => DateTime.fromDateUnsafe(EffectCron.next(cron, DateTime.toDateUtc(after)))))

/** A moment in the past to ask from whether an expression ever comes due: any would do. */
const anyMoment = DateTime.makeUnsafe("2024-01-01T00:00:00Z")

/** The expression, when it is one that comes due; the message says what is wrong with it otherwise. */
export const parse = (text: string): Result.Result<CronText, InvalidRequest> =>
  Result.flatMap(compile(text, "UTC"), (cron) =>
    Option.isSome(nextOf(cron, anyMoment))
      ? Result.succeed(CronText.make(text.trim()))
      : invalid("cron_string", "never comes due")
  )

/** When something is to happen, again and again: an expression on the clock of a zone. */
export interface Timing {
  readonly cron: CronText
  readonly timeZone: TimeZoneName
}

/** The first due time after a moment, to the second; none where there is none for years to come. */
export const nextDue = (timing: Timing, after: DateTime.Utc): Option.Option<DateTime.Utc> =>
  Option.flatMap(Result.getSuccess(compile(timing.cron, timing.timeZone)), (cron) => nextOf(cron, after))
