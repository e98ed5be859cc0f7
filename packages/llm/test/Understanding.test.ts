/**
 * From realistic questions to plans, over an ontology written by hand: what is understood, and what is asked back.
 */
import { assert, describe, it } from "@effect/vitest"
import { reading } from "../src/internal/plan/Reading.ts"
import { refusal } from "../src/internal/answer/Refusal.ts"
import { sourceFacts } from "../src/internal/understanding/Facts.ts"
import { understand } from "../src/internal/understanding/Understand.ts"
import { orders } from "./fixture/Shop.ts"

const facts = sourceFacts(orders)

const read = (...questions: ReadonlyArray<string>): string => {
  const understanding = understand([facts], questions, { found: [], rowsAreNamed: new Map(), today: "2025-06-15" })
  switch (understanding._tag) {
    case "Understood":
      return reading(understanding.plan)
    case "Needs":
      return `needs ${understanding.needs.map((need) => (need._tag === "LookUp" ? need.words : "census")).join(", ")}`
    case "NotUnderstood":
      return `asks: ${refusal(understanding.problem, [facts], understanding.source, understanding.corrections)}`
  }
}

describe("reads", () => {
  const cases: ReadonlyArray<readonly [string | ReadonlyArray<string>, string]> = [
    ["how many orders are there?", "Number of orders"],
    ["How many orders were shipped in March 2024?", "Number of orders, March 2024, status is shipped"],
    ["revenue by product", "Revenue (USD) by product"],
    ["revenue per month in 2024", "Revenue (USD) by month, 2024"],
    ["monthly revenue since 2024", "Revenue (USD) by month, since 2024"],
    ["average amount by status", "Average amount (USD) by status"],
    ["mean weight of shipped orders", "Average weight (kg), status is shipped"],
    ["top 3 products by revenue", "Revenue (USD) by product, highest 3 first"],
    ["which product has the most orders?", "Number of orders by product, highest first"],
    ["which product has the least revenue", "Revenue (USD) by product, lowest first"],
    ["orders over $100", "Number of orders, amount over $100"],
    ["how many orders weigh more than 2 kg", "Number of orders, weight over 2 kg"],
    ["how many orders with a weight of at least 500 grams", "Number of orders, weight at least 0.5 kg"],
    ["number of orders heavier than 2 kilograms", "Number of orders, weight over 2 kg"],
    ["revenue of cancelled or open orders", "Revenue (USD), status is cancelled or open"],
    ["revenue not including cancelled orders", "Revenue (USD), status other than cancelled"],
    ["gift orders by month", "Number of orders by month, gift"],
    ["orders that are not gifts", "Number of orders, not gift"],
    ["share of orders by status", "Share of the number of orders by status"],
    ["what percentage of orders are cancelled?", "Share of orders (%) with status is cancelled"],
    ["Lamp vs Oak table revenue", "Revenue (USD) by product, product is Lamp or Oak table"],
    ["revenue in 2023 versus 2024", "Revenue (USD) by period, 2023 and 2024 compared"],
    ["how did revenue change between 2023 and 2024?", "Change of the revenue (USD) from 2023 to 2024"],
    ["revenue over time", "Revenue (USD) by month"],
    ["average number of orders per day", "Average number of orders per day"],
    ["how many different customers", "Number of different customers"],
    ["median amount", "Median amount (USD)"],
    ["highest amount", "Highest amount (USD)"],
    ["distribution of amounts", "Number of orders by ranges of amount"],
    ["relationship between weight and amount", "Amount against weight"],
    ["orders on Mondays", "Number of orders, Mondays"],
    ["revenue in the first quarter of 2024", "Revenue (USD), Q1 2024"],
    ["revenue last year", "Revenue (USD), 2024"],
    ["revenue in the last 3 months of the data", "Revenue (USD), October 2024 to December 2024"],
    ["revenue by statsu", "Revenue (USD) by status"],
    ["revenue shipped from Oslo", "asks: “Oslo”"],
    ["revenue by ship city", "Revenue (USD) by ship city"],
    ["orders without a customer", "Number of orders, customer missing"],
    ["products with more than 10 orders", "Number of orders by product, number of orders over 10"],
    [["revenue by product", "and by month?"], "Revenue (USD) by month"],
    [["revenue by product", "only in 2024"], "Revenue (USD) by product, 2024"],
    [["revenue by product in 2023", "what about 2024?"], "Revenue (USD) by product, 2024"],
    [["revenue by status", "just the Lamp"], "Revenue (USD) by status, product is Lamp"],
    [["revenue by product", "how many orders?"], "Number of orders"],
    [["orders to Oslo", "ship city"], "Number of orders, ship city is Oslo"],
    ["revenue of orders by Miller", "needs Miller"]
  ]
  it.each(cases)("%s", (question, expected) => {
    const said = read(...(typeof question === "string" ? [question] : question))
    if (expected.startsWith("asks: ")) assert.isTrue(said.startsWith(expected), said)
    else assert.strictEqual(said, expected)
  })
})

describe("asks back or declines", () => {
  const cases: ReadonlyArray<readonly [string, RegExp]> = [
    ["revenue by city", /“city” can mean more than one thing[\s\S]*Ship city[\s\S]*Bill city/],
    ["revenue by color", /did not understand “color”/],
    ["why did revenue drop?", /not why/],
    ["forecast revenue", /do not forecast/],
    ["should we stop selling lamps", /recommend/],
    ["fancy revenue", /did not understand “fancy”/],
    ["orders over 100", /what “over 100” limits|limits/],
    ["total status", /cannot take|do not know/],
    ["weight over 3 hours", /what “over 3 hours” limits/],
    ["revenue next week", /recorded|forecast/],
    ["revenue on 03/05/2024", /03\/05\/2024/],
    ["best product", /by which number/],
    ["", /did not get a question/],
    ["how many unicorns", /unicorns/],
    ["revenue yesterday", /the data end on/],
    ["revenue by product by month by status", /two things at most/]
  ]
  it.each(cases)("%s", (question, expected) => {
    const said = read(question)
    assert.isTrue(said.startsWith("asks: ") && expected.test(said), said)
    assert.notMatch(said, /\*\*\d/)
  })
})
