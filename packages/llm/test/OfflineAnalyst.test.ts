import { DescribeOntology, MakeChart, MakeTable, QueryOntology } from "@castellan/core/analyst/Tool"
import * as Upload from "@castellan/core/chat/Upload"
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import { LanguageModels, ModelMessage, type ModelOutput, type ModelTurn } from "@castellan/core/model/LanguageModels"
import { ModelId } from "@castellan/core/model/Model"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as OfflineAnalyst from "../src/OfflineAnalyst.ts"
import { allTools, converse } from "./fixture/Conversation.ts"
import { orders } from "./fixture/Shop.ts"

const question = (text: string) => ModelMessage.cases.Question.make({ text })

const turn = (more: Partial<ModelTurn>): ModelTurn => ({
  model: OfflineAnalyst.modelId,
  instructions: "Today is 2025-06-15 (UTC).",
  messages: [],
  tools: allTools,
  maxOutputTokens: 4000,
  ...more
})

const textOf = (outputs: ReadonlyArray<ModelOutput>): string =>
  outputs.flatMap((output) => (output._tag === "Text" ? [output.text] : [])).join("")

const callsOf = (outputs: ReadonlyArray<ModelOutput>) =>
  outputs.flatMap((output) => (output._tag === "Call" ? [output.call] : []))

/** Results of the shop: every grouped query answers with two products, every other with one figure. */
const table = (query: string): ResultTable => ({
  columns: /group_by/.test(query)
    ? [
        { name: "product", type: "text" },
        { name: "revenue", type: "number" }
      ]
    : [{ name: query.includes("revenue") ? "revenue" : "order_count", type: "number" }],
  rows: /group_by/.test(query)
    ? [
        ["Lamp", 1234.5],
        ["Oak table", 999]
      ]
    : [[4321]],
  truncated: false
})

const shop = { sources: [orders], query: (query: string) => Effect.succeed(table(query)) }

it.layer(OfflineAnalyst.layer)("the offline analyst", (it) => {
  it.effect("serves one model under its id, and refuses any other", () =>
    Effect.gen(function* () {
      const models = yield* LanguageModels
      assert.deepStrictEqual(
        models.served.map((model) => [model.id, model.provider, model.supportsFastMode]),
        [["offline/analyst-1", "offline", false]]
      )
      const error = yield* Effect.flip(Stream.runCollect(models.turn(turn({ model: ModelId.make("acme/other") }))))
      assert.strictEqual(error._tag, "LanguageModelError")
      assert.isFalse(error.retryable)
    })
  )

  it.effect("looks at the ontology, asks it, draws, and then answers", () =>
    Effect.gen(function* () {
      const outcome = yield* converse(shop, ["revenue by product"])
      assert.deepStrictEqual(outcome.queries, [
        "run: `shop orders` -> {\n  group_by: `product`\n  aggregate: `revenue`\n  order_by: `revenue` desc, `product` asc\n}"
      ])
      assert.strictEqual(outcome.charts.length, 1)
      assert.strictEqual(outcome.tables.length, 1)
      assert.strictEqual(outcome.turns, 4)
      assert.match(outcome.text, /\*\*\$1,235\*\* for Lamp and \*\*\$999\*\* for Oak table/)
      assert.match(outcome.text, /\| Lamp \| \$1,235 \|/)
      assert.match(outcome.text, /Read as: Revenue \(USD\) by product/)
    })
  )

  it.effect("answers the question and not the list of the files that came with it, and says that it read none", () =>
    Effect.gen(function* () {
      const files = [{ path: Upload.pathOf("sales.csv"), size: 12, mediaType: "text/csv" }]
      const asked = Upload.toldWith("revenue by product", files)
      const outcome = yield* converse(shop, [asked])
      const plain = yield* converse(shop, ["revenue by product"])
      assert.deepStrictEqual(outcome.queries, plain.queries)
      assert.strictEqual(
        outcome.text,
        `${plain.text}\n\n*I did not read the files that came with the question: this is from the data sources alone.*`
      )
      // A later question is answered as if none had come.
      const later = yield* converse(shop, [asked, "how many orders are there?"])
      assert.notMatch(later.text, /I did not read/)
    })
  )

  it.effect("makes neither a chart nor a table of a single figure", () =>
    Effect.gen(function* () {
      const outcome = yield* converse(shop, ["how many orders are there?"])
      assert.strictEqual(outcome.charts.length + outcome.tables.length, 0)
      assert.match(outcome.text, /\*\*4,321\*\*/)
    })
  )

  it.effect("says what is missing where a tool is not on offer", () =>
    Effect.gen(function* () {
      const without = (name: string) => allTools.filter((tool) => tool.name !== name)
      const blind = yield* converse(shop, ["revenue by product"], { offered: without(DescribeOntology.name) })
      assert.match(blind.text, /describe_ontology/)
      const mute = yield* converse(shop, ["revenue by product"], { offered: without(QueryOntology.name) })
      assert.match(mute.text, /query_ontology/)
      assert.strictEqual(mute.queries.length, 0)
      const plain = yield* converse(shop, ["revenue by product"], {
        offered: without(MakeChart.name).filter((tool) => tool.name !== MakeTable.name)
      })
      assert.match(plain.text, /\$1,235/)
    })
  )

  it.effect("explains a failed query and gives no figure", () =>
    Effect.gen(function* () {
      const failing = {
        sources: [orders],
        query: () => Effect.fail({ message: "the statement ran past its 180 seconds" })
      }
      const outcome = yield* converse(failing, ["revenue by product"])
      assert.match(outcome.text, /query failed.*ran past its 180 seconds\./)
      assert.notMatch(outcome.text, /\*\*/)
      assert.strictEqual(outcome.queries.length, 1)
    })
  )

  it.effect("says that rows were cut, that nothing matched, and that a group has no name", () =>
    Effect.gen(function* () {
      const world = (result: ResultTable) => ({ sources: [orders], query: () => Effect.succeed(result) })
      const grouped = table("group_by")
      const cut = yield* converse(world({ ...grouped, truncated: true }), ["revenue by product"])
      assert.match(cut.text, /cut at 2 rows/)
      const none = yield* converse(world({ ...grouped, rows: [] }), ["revenue by product in 2023"])
      assert.match(none.text, /No orders match.*run from 1 January 2023 to 31 December 2024/)
      const nameless = yield* converse(world({ ...grouped, rows: [...grouped.rows, [null, 5], ["Chair", 1]] }), [
        "revenue by product"
      ])
      assert.match(nameless.text, /Where the product is not known, it is \$5\./)
    })
  )
})

describe("a turn", () => {
  it("is the same for the same conversation, and its calls have ids of their own", () => {
    const asked = turn({ messages: [question("revenue by product")] })
    assert.deepStrictEqual(OfflineAnalyst.outputs(asked), OfflineAnalyst.outputs(asked))
    const first = callsOf(OfflineAnalyst.outputs(asked))
    const again = callsOf(
      OfflineAnalyst.outputs(turn({ messages: [...asked.messages, question("orders by product")] }))
    )
    assert.notDeepEqual(
      first.map((call) => call.id),
      again.map((call) => call.id)
    )
  })

  it("streams a few words at a time and finishes once, with its tokens counted", () => {
    const outputs = OfflineAnalyst.outputs(turn({ tools: [], messages: [question("revenue by product")] }))
    const texts = outputs.filter((output) => output._tag === "Text")
    assert.isAbove(texts.length, 2)
    assert.isTrue(texts.every((output) => output._tag === "Text" && output.text.trim().split(/\s+/).length <= 4))
    assert.strictEqual(outputs.filter((output) => output._tag === "Finished").length, 1)
    const last = outputs.at(-1)
    assert.isTrue(last?._tag === "Finished" && last.outputTokens === Math.ceil(textOf(outputs).length / 4))
    assert.isTrue(
      last?._tag === "Finished" &&
        last.inputTokens === Math.ceil("Today is 2025-06-15 (UTC).revenue by product".length / 4)
    )
  })

  it("stays within the tokens that it may use", () => {
    const outputs = OfflineAnalyst.outputs(turn({ tools: [], messages: [question("revenue")], maxOutputTokens: 5 }))
    assert.isAtMost(textOf(outputs).length, 20)
    assert.isAbove(textOf(outputs).length, 0)
  })

  it("tells of an ontology that it cannot read", () => {
    const call = { id: "call_1_1", name: DescribeOntology.name, arguments: {} }
    const answered = (content: string, failed: boolean) =>
      textOf(
        OfflineAnalyst.outputs(
          turn({
            messages: [
              question("revenue"),
              ModelMessage.cases.Answer.make({ text: "", toolCalls: [call] }),
              ModelMessage.cases.ToolResult.make({ callId: call.id, name: call.name, content, failed })
            ]
          })
        )
      )
    assert.match(answered("flights.malloy:3:1: no such table", true), /no such table/)
    assert.match(answered("not json", false), /not in the form/)
    assert.match(answered(JSON.stringify({ sources: [] }), false), /no ontology/)
  })
})
