import * as Cron from "@castellan/core/schedule/Cron"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Option, Result, Schema } from "effect"
import * as EffectCron from "effect/Cron"

const at = (text: string) => DateTime.makeUnsafe(text)

/** The first due times after a moment. */
const dueTimes = (cron: string, timeZone: string, after: string, count: number): ReadonlyArray<string> => {
  const timing = {
    cron: Result.getOrThrow(Cron.parse(cron)),
    timeZone: Result.getOrThrow(Cron.parseTimeZone(timeZone))
  }
  const found: Array<string> = []
  let moment = at(after)
  while (found.length < count) {
    moment = Option.getOrThrow(Cron.nextDue(timing, moment))
    found.push(DateTime.formatIso(moment).replace(":00.000Z", "Z"))
  }
  return found
}

const messageOf = (result: Result.Result<unknown, { readonly message: string }>) =>
  Result.isFailure(result) ? result.failure.message : "accepted"

describe("Cron.parse", () => {
  it.each([
    "* * * * *",
    "*/15 9-17 * * MON-FRI",
    "0 0 1,15 JAN,jul *",
    "5/10 * * * *",
    "0 0 29 2 *",
    "  0  8 * * 7 ",
    "@hourly",
    "@daily",
    "@weekly",
    "@monthly"
  ])("takes %j, as it is written", (text) => {
    assert.deepStrictEqual(Cron.parse(text), Result.succeed(Cron.CronText.make(text.trim())))
  })

  it.each([
    ["", "must have five fields, or be one of @hourly, @daily, @weekly, @monthly"],
    ["* * * *", "must have five fields, or be one of @hourly, @daily, @weekly, @monthly"],
    ["0 * * * * *", "must have five fields, or be one of @hourly, @daily, @weekly, @monthly"],
    ["@yearly", "must have five fields, or be one of @hourly, @daily, @weekly, @monthly"],
    ["@Daily", "must have five fields, or be one of @hourly, @daily, @weekly, @monthly"],
    ["60 * * * *", "Expected a value between 0 and 59, not 60"],
    ["* 24 * * *", "Expected a value between 0 and 23, not 24"],
    ["* * 0 * *", "Expected a value between 1 and 31, not 0"],
    ["* * * 13 *", "Expected a value between 1 and 12, not 13"],
    ["* * * * 8", "Expected a value between 0 and 7, not 8"],
    ["*/0 * * * *", "Expected step value to be greater than 0, not */0"],
    ["5-1 * * * *", "Invalid value range, not 5-1"],
    ["a * * * *", "Expected a positive integer, not a"],
    ["? * * * *", "Expected a positive integer, not ?"],
    ["0 0 30 2 *", "never comes due"],
    ["0 0 31 4,6,9,11 *", "never comes due"]
  ])("refuses %j", (text, rule) => {
    assert.strictEqual(messageOf(Cron.parse(text)), `cron_string: ${rule}`)
  })
})

describe("Cron.parseTimeZone", () => {
  it.each(["UTC", "Europe/Paris", "America/Argentina/Buenos_Aires", "Asia/Kolkata"])("takes %s", (name) => {
    assert.deepStrictEqual(Cron.parseTimeZone(name), Result.succeed(Cron.TimeZoneName.make(name)))
  })

  it.each(["", "Paris", "+02:00", "-05:00", "Europe/Atlantis", " UTC", "Europe/Paris; x"])("refuses %j", (name) => {
    assert.match(messageOf(Cron.parseTimeZone(name)), /^timezone: .* is not the name of an IANA time zone/)
  })
})

describe("Cron.nextDue", () => {
  it.each<[what: string, cron: string, zone: string, after: string, expected: ReadonlyArray<string>]>([
    [
      "is after the moment, never at it",
      "0 8 * * *",
      "UTC",
      "2026-01-01T08:00:00Z",
      ["2026-01-02T08:00Z", "2026-01-03T08:00Z"]
    ],
    ["is to the minute", "* * * * *", "UTC", "2026-01-01T08:00:59.999Z", ["2026-01-01T08:01Z", "2026-01-01T08:02Z"]],
    ["@hourly", "@hourly", "UTC", "2026-01-01T08:30:00Z", ["2026-01-01T09:00Z", "2026-01-01T10:00Z"]],
    ["@daily", "@daily", "UTC", "2026-01-01T08:30:00Z", ["2026-01-02T00:00Z", "2026-01-03T00:00Z"]],
    ["@weekly is Sunday", "@weekly", "UTC", "2026-01-01T08:30:00Z", ["2026-01-04T00:00Z", "2026-01-11T00:00Z"]],
    ["@monthly", "@monthly", "UTC", "2026-01-31T08:30:00Z", ["2026-02-01T00:00Z", "2026-03-01T00:00Z"]],
    ["goes by the zone's clock", "@daily", "Asia/Tokyo", "2026-01-01T00:00:00Z", ["2026-01-01T15:00Z"]],
    ["29 February", "0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", ["2028-02-29T00:00Z", "2032-02-29T00:00Z"]],
    [
      "a day of the month or a day of the week",
      "0 0 13 * 5",
      "UTC",
      "2026-11-20T12:00:00Z",
      ["2026-11-27T00:00Z", "2026-12-04T00:00Z", "2026-12-11T00:00Z", "2026-12-13T00:00Z"]
    ],
    [
      "a time that the clock skips comes due as much later, once",
      "30 2 * * *",
      "Europe/Paris",
      "2026-03-28T12:00:00Z",
      ["2026-03-29T01:30Z", "2026-03-30T00:30Z"]
    ],
    [
      "several times in the hour that is skipped come due once",
      "*/15 2 * * *",
      "Europe/Paris",
      "2026-03-28T12:00:00Z",
      ["2026-03-29T01:00Z", "2026-03-30T00:00Z"]
    ],
    [
      "every hour stays every hour when one is skipped",
      "30 * * * *",
      "Europe/Paris",
      "2026-03-28T23:45:00Z",
      ["2026-03-29T00:30Z", "2026-03-29T01:30Z", "2026-03-29T02:30Z"]
    ],
    [
      "a time that the clock repeats comes due the first time only",
      "30 2 * * *",
      "Europe/Paris",
      "2026-10-24T12:00:00Z",
      ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]
    ],
    [
      "every hour stays every hour when one is repeated",
      "30 * * * *",
      "Europe/Paris",
      "2026-10-24T23:45:00Z",
      ["2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-25T02:30Z"]
    ],
    [
      "so does every hour by its numbers",
      "0 0-23 * * *",
      "America/New_York",
      "2026-11-01T04:30:00Z",
      ["2026-11-01T05:00Z", "2026-11-01T06:00Z", "2026-11-01T07:00Z"]
    ],
    [
      "every quarter of an hour does not fall silent in the repeated hour",
      "*/30 * * * *",
      "Europe/Paris",
      "2026-10-25T00:15:00Z",
      ["2026-10-25T00:30Z", "2026-10-25T01:00Z", "2026-10-25T01:30Z", "2026-10-25T02:00Z"]
    ]
  ])("%s: %s in %s after %s", (_, cron, zone, after, expected) => {
    assert.deepStrictEqual(dueTimes(cron, zone, after, expected.length), expected)
  })

  const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
  /** A field of an expression: any, every so many, or one or two numbers. */
  const Field = (from: number, to: number) =>
    Schema.Struct({
      kind: Schema.Literals(["any", "step", "list"]),
      step: between(1, Math.min(to, 12)),
      list: Schema.Tuple([between(from, to), between(from, to)])
    })
  const written = ({ kind, list, step }: ReturnType<typeof Field>["Type"]): string =>
    kind === "any" ? "*" : kind === "step" ? `*/${step}` : list.join(",")
  const Moment = between(
    DateTime.toEpochMillis(at("2026-01-01T00:00:00Z")),
    DateTime.toEpochMillis(at("2027-01-01T00:00:00Z"))
  )

  it.prop(
    "is the first minute that matches, and none before it is missed",
    {
      minutes: Field(0, 59),
      hours: Field(0, 23),
      weekdays: Field(0, 6),
      zone: Schema.Literals(["UTC", "Asia/Tokyo", "Asia/Kolkata"]),
      millis: Moment
    },
    ({ hours, millis, minutes, weekdays, zone }) => {
      const text = `${written(minutes)} ${written(hours)} * * ${written(weekdays)}`
      const [next] = dueTimes(text, zone, new Date(millis).toISOString(), 1)
      const cron = EffectCron.parseUnsafe(text, zone)
      const minute = 60_000
      let expected = Math.floor(millis / minute) * minute + minute
      while (!EffectCron.match(cron, new Date(expected))) expected += minute
      assert.strictEqual(next, new Date(expected).toISOString().replace(":00.000Z", "Z"))
    },
    { arbitrary: { runs: 60 } }
  )

  it.prop(
    "always moves on, also where clocks are set",
    {
      minutes: Field(0, 59),
      hours: Field(0, 23),
      zone: Schema.Literals(["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo"]),
      millis: Moment
    },
    ({ hours, millis, minutes, zone }) => {
      const text = `${written(minutes)} ${written(hours)} * * *`
      const times = dueTimes(text, zone, new Date(millis).toISOString(), 20)
      assert.deepStrictEqual(times, [...new Set(times)].toSorted())
    },
    { arbitrary: { runs: 60 } }
  )
})
