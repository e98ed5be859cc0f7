/**
 * Days and moments, in whatever form they come.
 */
import * as Instant from "../src/internal/data/Instant.ts"
import { assert, describe, it } from "@effect/vitest"

describe("Instant", () => {
  const read: ReadonlyArray<readonly [string, string | undefined]> = [
    ["2010-01-01", "2010-01-01"],
    ["2010-01-01T00:00:00", "2010-01-01"],
    ["2010-01-01 00:00:00.000", "2010-01-01"],
    ["2010-01-01T13:45:00", "2010-01-01T13:45:00Z"],
    ["2010-01-01 13:45", "2010-01-01T13:45:00Z"],
    ["2010-01-01T13:45:00.123456Z", "2010-01-01T13:45:00.123Z"],
    ["2010-01-01T00:30:00+02:00", "2009-12-31T22:30:00.000Z"],
    ["2010-01-01T00:30:00-0530", "2010-01-01T06:00:00.000Z"],
    ["2010-01-01 00:30:00 UTC", "2010-01-01T00:30:00Z"],
    ["2010", "2010-01-01"],
    ["2010-07", "2010-07-01"],
    ["2010/07/09", "2010-07-09"],
    ["2010-Q3", "2010-07-01"],
    ["2010 q4", "2010-10-01"],
    ["Jan 1 2000", "2000-01-01"],
    ["September 30, 1999", "1999-09-30"],
    ["30 Sep 1999", "1999-09-30"],
    ["Mar 2004", "2004-03-01"],
    ["2024-02-29", "2024-02-29"],
    ["2023-02-29", undefined],
    ["1900-02-29", undefined],
    ["2000-02-29", "2000-02-29"],
    ["2010-13-01", undefined],
    ["2010-04-31", undefined],
    ["2010-01-01T25:00", undefined],
    ["Foo 1 2000", undefined],
    ["1/2/2010", undefined],
    ["", undefined],
    ["North", undefined],
    ["12", undefined]
  ]
  it.each(read)("%s", (text, expected) => {
    assert.strictEqual(Instant.read(text), expected)
  })

  it("reads a time of the day as one of 1970-01-01", () => {
    assert.strictEqual(Instant.readTime("13:45"), "1970-01-01T13:45:00Z")
    assert.strictEqual(Instant.readTime("13:45:10.5"), "1970-01-01T13:45:10.5Z")
    assert.isUndefined(Instant.readTime("noon"))
  })

  it("tells the grain of moments", () => {
    const grain = (...texts: ReadonlyArray<string>) => Instant.grainOf(texts.map((text) => Date.parse(text)))
    assert.strictEqual(grain("2010-01-01", "2012-01-01"), "year")
    assert.strictEqual(grain("2010-01-01", "2010-03-01"), "month")
    assert.strictEqual(grain("2010-01-01", "2010-03-02"), "day")
    assert.strictEqual(grain("2010-01-01", "2010-03-02T10:30Z"), "minute")
    assert.strictEqual(grain("2010-03-02T10:30:15Z"), "second")
  })

  it("counts beginnings, the end not included", () => {
    const days = (grain: Instant.Grain, from: string, to: string) =>
      Instant.beginnings(grain, Date.parse(from), Date.parse(to)).map((moment) => Instant.isoDay(moment))
    assert.deepStrictEqual(days("month", "2024-01-01", "2024-04-01"), ["2024-01-01", "2024-02-01", "2024-03-01"])
    assert.deepStrictEqual(days("quarter", "2024-01-01", "2025-01-01"), [
      "2024-01-01",
      "2024-04-01",
      "2024-07-01",
      "2024-10-01"
    ])
    assert.deepStrictEqual(days("day", "2024-02-28", "2024-03-02"), ["2024-02-28", "2024-02-29", "2024-03-01"])
    assert.deepStrictEqual(days("year", "2020-06-01", "2022-06-01"), ["2021-01-01", "2022-01-01"])
  })
})
