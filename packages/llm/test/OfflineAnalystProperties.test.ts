/**
 * Whatever is asked of whatever ontology: a turn ends soon, nothing is thrown, only tools on offer are called, and no
 * word of the question stands in a query outside quotes.
 */
import { OntologySource } from "@castellan/core/ontology/Ontology"
import { LanguageModels } from "@castellan/core/model/LanguageModels"
import type { ResultTable, Value } from "@castellan/core/connector/ResultTable"
import * as ProcessorTime from "@castellan/testing/fixture/ProcessorTime"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as OfflineAnalyst from "../src/OfflineAnalyst.ts"
import { identifier, text } from "../src/internal/plan/Malloy.ts"
import { converse } from "./fixture/Conversation.ts"
import { orders } from "./fixture/Shop.ts"

/** Words that make questions get past the first refusal. */
const words = [
  "how many",
  "average",
  "total",
  "top 5",
  "highest",
  "worst",
  "by",
  "per",
  "for each",
  "of",
  "in 2023",
  "since March 2024",
  "orders",
  "revenue",
  "amount",
  "weight",
  "status",
  "product",
  "customer",
  "city",
  "gift",
  "Lamp",
  "O'Hare\"\\",
  '"O\'Hare\\"',
  "cancelled",
  "not",
  "over 100",
  "between 5 and 10",
  "more than 2 kg",
  "share of",
  "vs",
  "and",
  "or",
  "over time",
  "distribution of",
  "relationship between",
  "change",
  "median",
  "different",
  "which",
  "when",
  "list",
  "Miller's",
  "`; drop",
  "'; --",
  "month",
  "weekday",
  "last year",
  "{{",
  "${x}",
  "日本",
  "é",
  "\u0000",
  "\n",
  "?"
]

const questions = Schema.Array(Schema.Union([Schema.Literals(words), AnyText])).check(Schema.isMaxLength(14))

/** What a query may hold outside its quotes: the language's own words, numbers, days and marks. */
const language = new Set(
  "run where group_by aggregate order_by limit select having calculate partition_by is not null and or asc desc pick when else all count sum avg min max stddev floor ceil nullif lower strpos hour month quarter day week year day_of_week sum_cumulative true false".split(
    " "
  )
)

const outside = (query: string): ReadonlyArray<string> =>
  query
    // Names and texts in one pass: each may hold the other's quotes.
    .replace(/`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\])*'/gs, " ")
    .replace(/@\d{4}-\d{2}-\d{2}/g, " ")
    .split(/[^\p{L}\p{N}_"'`\\]+/u)
    .filter((word) => word !== "" && !/^\d+$/.test(word))

const checkQuery = (query: string): void => {
  for (const word of outside(query))
    assert.isTrue(language.has(word), `${JSON.stringify(word)} stands outside quotes in ${query}`)
}

const noise = (seed: number): ResultTable => {
  const values: ReadonlyArray<Value> = [null, 0, -3.5, 1e21, "x|y`*", "2024-02-30", true, "12.5"]
  const at = (index: number): Value => values[(seed + index) % values.length] ?? null
  return {
    columns: [
      "product",
      "revenue",
      "month",
      "x_",
      "y_",
      "pairs_",
      "value",
      "same",
      "rows_",
      "names_",
      "lowest_",
      "highest_",
      "deviation_"
    ].map((name) => ({ name, type: "text" })),
    rows: Array.from({ length: seed % 4 }, (_, row) =>
      Array.from({ length: 13 }, (_column, column) => at(row + column))
    ),
    truncated: seed % 2 === 0
  }
}

describe("queries", () => {
  it.prop("hold any text in quotes", [AnyText], ([value]) => {
    checkQuery(`run: ${identifier(value)} -> { where: ${identifier(value)} = ${text(value)} }`)
    assert.notMatch(text(value), /\p{Cc}/u)
  })

  it("write quotes and backslashes so that they stay inside", () => {
    assert.strictEqual(text("O'Hare\"\\"), "'O\\'Hare\"\\\\'")
    assert.strictEqual(text("a\nb"), "'a\\u000ab'")
    assert.strictEqual(identifier("odd `name\\"), "`odd \\`name\\\\`")
    assert.strictEqual(identifier("a\nb\u2028\0"), "`a\\u000ab\\u2028\\u0000`")
    checkQuery(
      `run: ${identifier("it's")} -> { where: ${identifier("`")} = ${text("an ` in it")} and ${identifier("`")} = ${text("two `` in it")} }`
    )
  })
})

it.layer(OfflineAnalyst.layer)("any question", (it) => {
  const ask = (sources: ReadonlyArray<OntologySource>, asked: ReadonlyArray<string>, seed: number) =>
    converse(
      { sources, query: () => (seed % 5 === 4 ? Effect.fail({ message: "no" }) : Effect.succeed(noise(seed))) },
      asked
    )

  it.effect.prop(
    "over a shop",
    [questions, questions, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))],
    ([first, second, seed]) =>
      Effect.gen(function* () {
        const outcome = yield* ask([orders], [first.join(" "), second.join(" ")], seed)
        outcome.queries.forEach(checkQuery)
        assert.isAbove(outcome.text.length, 0)
      }),
    { arbitrary: { runs: 400 } }
  )

  it.effect.prop(
    "over any ontology",
    [
      Schema.Array(OntologySource).check(Schema.isMaxLength(3)),
      questions,
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))
    ],
    ([sources, asked, seed]) =>
      Effect.gen(function* () {
        const names = sources.flatMap((source) => [
          source.name,
          source.label,
          ...source.fields.map((field) => field.label)
        ])
        const outcome = yield* ask(sources, [[...asked, ...names.slice(0, 4)].join(" ")], seed)
        outcome.queries.forEach(checkQuery)
        assert.isAbove(outcome.text.length, 0)
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect("over rows whose source has no label, or a blank one, with or without a name", () =>
    Effect.gen(function* () {
      for (const name of ["0", "things", " ", "_"])
        for (const label of ["", " ", "\n"]) {
          const source = { name, connector: "shop", label, synonyms: [], fields: [], views: [] }
          for (const asked of ["list", `list ${name}`, `how many ${name}`, "list the rows without a name"]) {
            const outcome = yield* ask([source], [asked], 0)
            assert.isAbove(outcome.text.length, 0)
          }
        }
    })
  )

  it.effect("of 100 kB is declined at once", () =>
    Effect.gen(function* () {
      yield* LanguageModels
      for (const piece of [
        "how many orders by product ",
        "a",
        '"',
        "((((",
        "é\u0301",
        "1,",
        "'",
        "not not or and ",
        "2024-",
        " ".repeat(50)
      ]) {
        const long = piece.repeat(Math.ceil(100_000 / piece.length))
        const took = ProcessorTime.start()
        const outcome = yield* ask([orders], [long], 1)
        assert.isBelow(took(), 1500, JSON.stringify(piece))
        assert.strictEqual(outcome.queries.length, 0)
      }
    })
  )

  it.effect("of an ordinary length takes milliseconds", () =>
    Effect.gen(function* () {
      const sources = Array.from({ length: 12 }, (_, index) => ({
        ...orders,
        name: `orders ${index}`,
        label: `Orders ${index}`
      }))
      const long =
        "what is the average amount by product and status for cancelled orders over 100 kg in march 2024 from Oslo ".repeat(
          9
        )
      const took = ProcessorTime.start()
      for (let round = 0; round < 5; round++) yield* ask(sources, [long], 1)
      assert.isBelow(took() / 5, 500)
    })
  )
})
