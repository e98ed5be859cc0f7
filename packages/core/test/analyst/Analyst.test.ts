import { CurrentPrincipal } from "@castellan/core/access/Principal"
import { AssetStore } from "@castellan/core/asset/AssetStore"
import { Chats } from "@castellan/core/chat/Chats"
import { ConnectorId } from "@castellan/core/connector/Connector"
import type { ModelMessage } from "@castellan/core/model/LanguageModels"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { sales } from "@castellan/testing/scripted/ScriptedDriver"
import { call, calls, finished, says, text } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  allSales,
  asked,
  assets,
  cells,
  keptRun,
  lastResult,
  newcomer,
  toolNames,
  turnNumber,
  turns
} from "./Asking.ts"

const fromJson = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Unknown))

describe("a text to keep", () => {
  it.effect("is an asset that can be read without a fetch, and fetched as it is", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events, last } = yield* asked(admin)
      assert.strictEqual(last, "done completed")
      const [asset] = assets(events)
      assert.deepInclude(asset, { kind: "text", name: "Notes", content: "# Notes", formats: ["txt"] })
      const kept = yield* AssetStore.use((store) =>
        asset === undefined ? Effect.succeedNone : store.body(asset.organizationId, asset.id, "txt")
      )
      assert.deepStrictEqual(kept, Option.some("# Notes"))
    }).pipe(
      Effect.provide(
        Deployment.layer({ script: [calls("make_text", { name: "Notes", text: "# Notes" }), says("Kept.")] })
      )
    )
  )
})

describe("the analyst", () => {
  it.effect("from a question to an answer with a table and a chart, told in order", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events, outline, run } = yield* asked(admin)
      assert.deepStrictEqual(outline, [
        "metadata",
        "cell user completed",
        "cell assistant running",
        "text Let me look.",
        "text \n\n",
        "cell OntologyQuery running",
        "cell OntologyQuery completed",
        "cell make_chart running",
        "asset chart Sales by region",
        "cell make_chart completed",
        "cell make_table running",
        "asset table Sales",
        "cell make_table completed",
        "text Three regions, 245 in all.",
        "cell assistant completed",
        "done completed"
      ])
      const metadata = events[0]
      assert.isTrue(metadata?._tag === "Metadata" && metadata.messageCellId === run.messageCellId)
      assert.isTrue(metadata?._tag === "Metadata" && !metadata.isContinuation && metadata.chatId === run.chatId)

      // The query's cell starts with the query, and ends with the statement that it became, and the first rows.
      const [start, end] = cells(events).filter((cell) => cell.content._tag === "OntologyQuery")
      assert.deepStrictEqual(start?.content, { _tag: "OntologyQuery", query: "run: sales" })
      assert.deepStrictEqual(end?.content, {
        _tag: "OntologyQuery",
        connectorId: ConnectorId.make(1),
        query: "run: sales",
        code: "select * from sales"
      })
      assert.strictEqual(end?.id, start?.id)
      assert.include(end?.result.dataframePreview, "| north | 120 |")

      const [chart, table] = assets(events)
      assert.isDefined(chart)
      assert.isDefined(table)
      assert.deepStrictEqual(chart.formats, ["png", "svg", "json"])
      assert.deepStrictEqual(table.formats, ["csv", "json"])
      assert.include(table.content, "| south | 80 |")
      const store = yield* AssetStore
      for (const asset of [chart, table]) {
        for (const format of asset.formats)
          assert.isTrue(Option.isSome(yield* store.body(asset.organizationId, asset.id, format)))
      }
      const specification = Option.getOrThrow(yield* store.body(chart.organizationId, chart.id, "json"))
      assert.include(String(specification), '"amount":120')

      const answer = yield* Chats.use((chats) => chats.answer(run))
      assert.strictEqual(answer.response, "Let me look.\n\nThree regions, 245 in all.")
      assert.deepStrictEqual(answer.assets, [chart, table])
      assert.deepStrictEqual((yield* keptRun(run)).usage, { inputTokens: 50, outputTokens: 25, toolCalls: 4 })
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            [text("Let me look."), call("describe_ontology", {}), finished()],
            calls("query_ontology", { title: "Sales", query: "run: sales" }),
            calls("make_chart", { name: "Sales by region", result: "result_1", specification: { mark: "bar" } }),
            calls("make_table", { name: "Sales", result: "result_1" }),
            says("Three regions, 245 in all.")
          ]
        })
      )
    )
  )

  it.effect("tells the model who it is, today's date, its connectors and its tools, and keeps the conversation", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      yield* Fixture.connector(tenant.organizationId, { description: "All that we sell" })
      yield* Fixture.connector(tenant.organizationId, {
        id: 2,
        name: "hidden",
        access: { isPublic: false, grants: [] }
      })
      yield* TestClock.setTime(Date.UTC(2030, 4, 5, 23, 59))
      yield* asked(Fixture.adminOf(tenant))
      const [first, second] = yield* turns
      assert.isDefined(first)
      assert.isDefined(second)
      assert.include(first.instructions, "2030-05-05")
      assert.include(first.instructions, "- warehouse (files): All that we sell")
      assert.notInclude(first.instructions, "hidden")
      assert.deepStrictEqual(toolNames(first), [
        "describe_ontology",
        "query_ontology",
        "describe_tables",
        "run_sql",
        "python",
        "bash",
        "make_chart",
        "make_table",
        "make_text"
      ])
      for (const { parameters } of first.tools) {
        assert.strictEqual(parameters["type"], "object")
        assert.notInclude(JSON.stringify(parameters), "#/definitions")
      }
      assert.deepStrictEqual(first.messages, [{ _tag: "Question", text: "How much did we sell?" }])
      assert.deepStrictEqual(
        second.messages.map((message): string => message._tag),
        ["Question", "Answer", "ToolResult"]
      )
      const result = lastResult(second)
      assert.deepStrictEqual([result.callId, result.name, result.failed], ["c1", "run_sql", false])
      assert.deepStrictEqual(fromJson(result.content), {
        result: "result_1",
        columns: sales.columns,
        rows: sales.rows,
        row_count: 3,
        truncated: false
      })
    }).pipe(Effect.provide(Deployment.layer({ script: [calls("run_sql", allSales, "c1"), says("Done.")] })))
  )

  it.effect("a follow-up question has the conversation before it", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { run } = yield* asked(admin, "How many regions?")
      yield* asked(admin, "Which is best?", { chatId: run.chatId })
      yield* asked(admin, "Another chat?")
      assert.deepStrictEqual((yield* turnNumber(3)).messages, [
        { _tag: "Question", text: "How many regions?" },
        { _tag: "Answer", text: "Three.", toolCalls: [] },
        { _tag: "Question", text: "Which is best?" }
      ] satisfies ReadonlyArray<ModelMessage>)
      assert.strictEqual((yield* turnNumber(4)).messages.length, 1)
      const view = yield* Chats.use((chats) => chats.get(run.chatId)).pipe(
        Effect.provideService(CurrentPrincipal, admin)
      )
      assert.strictEqual(view.transcript.messages.length, 4)
    }).pipe(
      Effect.provide(
        Deployment.layer({ script: [calls("run_sql", allSales), says("Three."), says("North."), says("Yes.")] })
      )
    )
  )
})
