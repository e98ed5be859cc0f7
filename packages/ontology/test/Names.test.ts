/**
 * Names: what has to be quoted, how names read, and what they tell of units and of what columns are for.
 */
import type { ColumnType } from "@castellan/core/connector/ResultTable"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import { MalloyTranslator } from "@malloydata/malloy"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { plural, singular } from "../src/draft/internal/Grammar.ts"
import { identifier, Names, thingOf } from "../src/draft/internal/Naming.ts"
import { roleOf } from "../src/draft/internal/Roles.ts"
import { unitOf } from "../src/draft/internal/Units.ts"
import type { ColumnProfile } from "../src/draft/TableProfile.ts"
import { humanise, inside } from "../src/internal/Label.ts"
import * as MalloyName from "../src/malloy/MalloyName.ts"

/** Whether Malloy's grammar takes a text as the name of a field, where it is defined and where it is used. */
const parses = (name: string): boolean => {
  const url = "file:///names.malloy"
  const source = [
    `source: s is c.table('t') extend { dimension: ${name} is 1 }`,
    `run: s -> { group_by: ${name}, x is ${name} + 1, y.${name}; where: ${name} > 1; order_by: ${name} }`
  ].join("\n")
  const { problems = [] } = new MalloyTranslator(url, url, { urls: { [url]: source } }).translate()
  return !problems.some(({ code }) => code === "syntax-error")
}

describe("MalloyName", () => {
  it("every word of Malloy's grammar is quoted", () => {
    const entry = createRequire(import.meta.url).resolve("@malloydata/malloy")
    const path = join(dirname(entry), "lang", "lib", "Malloy", "keyword-display-names.js")
    const keywords = Array.from(readFileSync(path, "utf8").matchAll(/: "([a-z_]+):?"/g), ([, keyword = ""]) => keyword)
    assert.isAbove(keywords.length, 90)
    assert.deepStrictEqual(
      keywords.filter((keyword) => MalloyName.isBare(keyword) || MalloyName.isBare(keyword.toUpperCase())),
      []
    )
    for (const keyword of keywords) assert.isTrue(parses(MalloyName.quote(keyword)), keyword)
    for (const keyword of ["date", "source", "is"]) assert.isFalse(parses(keyword), keyword)
  })

  it("ordinary words are not", () => {
    for (const name of ["flight_count", "Origin", "a1", "_x", "name", "status", "value", "round", "each"]) {
      assert.strictEqual(MalloyName.quote(name), name)
      assert.isTrue(parses(name), name)
    }
  })

  it.prop("whatever the name, Malloy reads it as one", [AnyText], ([name]) => {
    assert.isTrue(parses(MalloyName.quote(name)))
  })

  it("fields behind joins are quoted one by one", () => {
    assert.strictEqual(MalloyName.path(["origin", "date", "a b"]), "origin.`date`.`a b`")
  })
})

describe("labels", () => {
  it("are made from names of every style", () => {
    const labels: ReadonlyArray<readonly [string, string]> = [
      ["dep_delay", "Dep delay"],
      ["depDelay", "Dep delay"],
      ["DepDelay", "Dep delay"],
      ["Miles_per_Gallon", "Miles per gallon"],
      ["customerId", "Customer ID"],
      ["URLPath", "URL path"],
      ["avg_price_usd", "Average price USD"],
      ["US Gross", "US gross"],
      ["größe", "Größe"],
      ["客户", "客户"],
      ["2024", "2024"],
      ["  ", "  "]
    ]
    for (const [name, label] of labels) assert.strictEqual(humanise(name), label)
  })

  it("lose their capital after other words, unless it is part of the word", () => {
    assert.strictEqual(inside("City"), "city")
    assert.strictEqual(inside("US gross"), "US gross")
    assert.strictEqual(inside("IATA"), "IATA")
  })
})

describe("names of a draft", () => {
  it("one and many", () => {
    const pairs: ReadonlyArray<readonly [string, string]> = [
      ["flight", "flights"],
      ["city", "cities"],
      ["movie", "movies"],
      ["box", "boxes"],
      ["person", "people"],
      ["order_line", "order_lines"],
      ["address", "addresses"],
      ["status", "statuses"],
      ["day", "days"],
      ["branch", "branches"]
    ]
    for (const [one, many] of pairs) {
      assert.strictEqual(plural(one), many)
      assert.strictEqual(singular(many), one)
      assert.strictEqual(singular(one), one)
    }
    for (const same of ["series", "species", "weather", "news"]) {
      assert.strictEqual(plural(same), same)
      assert.strictEqual(singular(same), same)
    }
  })

  it("what a row is, from the name of a table", () => {
    assert.strictEqual(thingOf("flights_3m"), "flight")
    assert.strictEqual(thingOf("OrderLines"), "order_line")
    assert.strictEqual(thingOf("unemployment_across_industries"), "unemployment")
    assert.strictEqual(thingOf("customers_export_v2"), "customer")
    assert.strictEqual(thingOf("客户"), "row")
  })

  it("identifiers keep what they can of a name", () => {
    assert.strictEqual(identifier("Cost Total $"), "cost_total")
    assert.strictEqual(identifier("Größe (cm)"), "grosse_cm")
    assert.strictEqual(identifier("2024 sales"), "n_2024_sales")
    assert.isUndefined(identifier("客户"))
    assert.isUndefined(identifier("2024"))
  })

  it.prop("no two claimed names are the same in any case", [Schema.Array(AnyText)], ([wishes]) => {
    const names = new Names()
    const claimed = wishes.map((wish) => names.claim(identifier(wish) ?? "x").toLowerCase())
    assert.strictEqual(new Set(claimed).size, claimed.length)
    assert.isTrue(claimed.every(MalloyName.isBare))
  })
})

describe("units", () => {
  it("are told by names that are sure", () => {
    const told: ReadonlyArray<readonly [name: string, unit: string | undefined]> = [
      ["weight_kg", "kg"],
      ["Weight_in_lbs", "lb"],
      ["Body Mass (g)", "g"],
      ["Temperature [°C]", "°C"],
      ["Running Time min", "minutes"],
      ["delayMinutes", "minutes"],
      ["price_usd", "USD"],
      ["Cost Total $", "$"],
      ["temp_min", undefined],
      ["price", undefined],
      ["size_m", undefined],
      ["country_in", undefined]
    ]
    for (const [name, unit] of told) assert.strictEqual(unitOf(name)?.unit, unit, name)
  })
})

describe("roles of columns", () => {
  const column = (name: string, type: ColumnType, more: Partial<ColumnProfile> = {}): ColumnProfile => ({
    name,
    type,
    sourceType: type,
    present: 100,
    distinct: 60,
    unique: false,
    range: { least: 0, greatest: 5000 },
    ...more
  })

  it("follow from name, type and values", () => {
    const roles: ReadonlyArray<readonly [ColumnProfile, string]> = [
      [column("customer_id", "integer"), "identifier"],
      [column("zip", "integer"), "identifier"],
      [column("phone_number", "integer"), "identifier"],
      [column("amount", "decimal"), "amount"],
      [column("Deaths", "integer"), "amount"],
      [column("unit_price", "number"), "level"],
      [column("discount_pct", "integer"), "level"],
      [column("temp_max", "number"), "level"],
      [column("age", "integer"), "level"],
      [column("lat", "number", { range: { least: -10, greatest: 60 } }), "coordinate"],
      [column("Year", "integer", { range: { least: 1990, greatest: 2020 } }), "year"],
      [column("year", "integer", { range: { least: 1, greatest: 5 } }), "amount"],
      [column("month", "integer", { range: { least: 1, greatest: 12 } }), "calendar"],
      [column("returned", "integer", { range: { least: 0, greatest: 1 } }), "flag"],
      [column("active", "boolean"), "flag"],
      [column("cluster", "integer", { range: { least: 0, greatest: 5 } }), "identifier"],
      [column("created", "timestamp"), "time"],
      [column("city", "text", { distinct: 20 }), "category"],
      [column("comment", "text", { texts: { first: "a", last: "z", shortest: 1, longest: 500 } }), "text"],
      [column("code", "text", { unique: true }), "identifier"],
      [column("payload", "json"), "other"]
    ]
    for (const [one, role] of roles) assert.strictEqual(roleOf(one, 100), role, one.name)
  })
})
