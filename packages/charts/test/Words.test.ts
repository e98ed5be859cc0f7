/**
 * Words on axes, and expressions in specifications.
 */
import * as Expressions from "../src/internal/specification/Expressions.ts"
import * as Titles from "../src/internal/theme/Titles.ts"
import { assert, describe, it } from "@effect/vitest"
import * as Drawing from "./Drawing.ts"

describe("Titles", () => {
  const names: ReadonlyArray<readonly [string, string]> = [
    ["avg_delay", "Avg delay"],
    ["customerId", "Customer ID"],
    ["order_count", "Order count"],
    ["revenue_usd", "Revenue (USD)"],
    ["Weight_in_lbs", "Weight (lbs)"],
    ["precipitation_mm", "Precipitation (mm)"],
    ["late_pct", "Late (%)"],
    ["GDP", "GDP"],
    ["IMDB Rating", "IMDB Rating"],
    ["temp_max", "Temp max"],
    ["usd", "USD"],
    ["a\\.b", "A b"],
    ["_", "_"]
  ]
  it.each(names)("%s is %s", (name, expected) => {
    assert.strictEqual(Titles.humanised(name), expected)
  })

  it("says what was done to a column", () => {
    assert.strictEqual(Titles.titleOf({ aggregate: "mean", field: "arrival_delay" }), "Average arrival delay")
    assert.strictEqual(Titles.titleOf({ aggregate: "sum", field: "GDP" }), "Total GDP")
    assert.strictEqual(Titles.titleOf({ aggregate: "sum", field: "total_revenue" }), "Total revenue")
    assert.strictEqual(Titles.titleOf({ aggregate: "count" }), "Number of records")
    assert.strictEqual(Titles.titleOf({ aggregate: "max", field: "US Gross" }), "Highest US Gross")
    assert.isUndefined(Titles.titleOf({ value: 3 }))
  })
})

describe("Expressions", () => {
  const universal: ReadonlyArray<readonly [string, string]> = [
    ["year(datum.day) > 2010", "utcyear(datum.day) > 2010"],
    ["timeFormat(datum.day, '%Y')", "utcFormat(datum.day, '%Y')"],
    ["datetime(2010, 0, 1) < datum.day", "utc(2010, 0, 1) < datum.day"],
    ["datetime(datum.day) < datetime(2010, 0)", "toDate(datum.day) < utc(2010, 0)"],
    ["'year(datum.day)' + month (datum.day)", "'year(datum.day)' + utcmonth (datum.day)"],
    ["datum.year + datum['month']", "datum.year + datum['month']"],
    ["test(/day(s)/, datum.text) && day(datum.day)", "test(/day(s)/, datum.text) && utcday(datum.day)"],
    ["utcyear(datum.day)", "utcyear(datum.day)"]
  ]
  it.each(universal)("%s", (text, expected) => {
    const read = Expressions.read(text)
    assert.isObject(read)
    if (typeof read === "object") assert.strictEqual(read.text, expected)
  })

  it("knows which fields an expression reads", () => {
    const read = Expressions.read("datum.a + datum['b c'] + abs(datum.d) + other.e")
    assert.deepStrictEqual(typeof read === "object" ? [...read.fields] : read, ["a", "b c", "d"])
  })

  const refused: ReadonlyArray<readonly [string, RegExp]> = [
    ["now()", /"now", which is not available/],
    ["yaer(datum.day)", /"yaer".*not available/],
    ["datum.__proto__", /"__proto__"/],
    ["datum['__proto__']", /"__proto__"/],
    ["{constructor: 1}", /"constructor"/],
    ["datum.a.constructor", /"constructor"/],
    ["datum.a(1)", /calls something/],
    ["(1)(2)", /calls something/],
    ["sequence(0, 10)", /"sequence"/],
    ["1 +", /not a valid/],
    ["", /not a valid/],
    ["a = 1", /not a valid/],
    ["function () {}", /not a valid/],
    ["x".repeat(3000), /longer than/]
  ]
  it.each(refused)("%s", (text, expected) => {
    assert.match(String(Expressions.read(text)), expected)
  })
})

describe("Drawing", () => {
  it("sees where texts stand on one another", () => {
    const svg = (second: string) =>
      `<svg width="200" height="100"><g transform="translate(10,10)"><text font-size="12px">First words</text><text transform="${second}" font-size="12px">Second words</text></g></svg>`
    const meets = (second: string): boolean => {
      const [left, right] = Drawing.read(svg(second)).texts
      return left !== undefined && right !== undefined && Drawing.overlap(left.corners, right.corners)
    }
    assert.isTrue(meets("translate(20,4)"))
    assert.isFalse(meets("translate(20,20)"))
    assert.isFalse(meets("translate(90,0)"))
    assert.isTrue(meets("translate(20,30) rotate(-60)"))
    assert.isFalse(meets("translate(-4,16) rotate(60)"))
  })
})
