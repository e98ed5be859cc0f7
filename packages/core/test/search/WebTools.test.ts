import { defaultTools } from "@castellan/core/chat/Chat"
import { WebSearchError } from "@castellan/core/search/WebSearch"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { calls, says } from "@castellan/testing/scripted/ScriptedModel"
import * as ScriptedWebSearch from "@castellan/testing/scripted/ScriptedWebSearch"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

const script: NonNullable<Deployment.Scripts["script"]> = (turn) => {
  const last = turn.messages.at(-1)
  return last?._tag === "ToolResult"
    ? says(last.content)
    : calls("web_search", { title: "Castles", query: "sand castle" })
}

/** The cell of the search, and what the model was told of it. */
const searched = Effect.fnUntraced(function* (webSearch: boolean) {
  const tenant = yield* Fixture.tenant()
  const member = yield* Fixture.someone(tenant)
  const run = yield* Conversation.ask(member, "What of sand castles?", { tools: { ...defaultTools, webSearch } })
  const events = yield* Conversation.events(run)
  const told = events.map((event) => (event._tag === "Text" ? event.text : "")).join("")
  const cells = events.flatMap((event) =>
    event._tag === "Cell" && event.cell.content._tag === "Tool" ? [event.cell] : []
  )
  return { cell: cells.at(-1), told }
})

describe("web search in a run", () => {
  it.effect("finds pages, and shows the reader which", () =>
    Effect.gen(function* () {
      const { cell, told } = yield* searched(true)
      assert.deepStrictEqual(cell?.content, { _tag: "Tool", toolName: "web_search", input: "sand castle" })
      assert.deepStrictEqual(cell?.result.output, ["Sand castles (https://sand.example/castles)"])
      assert.include(told, "until the tide")
    }).pipe(Effect.provide(Deployment.layer({ script })))
  )

  it.effect("is off unless it is asked for, and a call all the same is refused", () =>
    Effect.gen(function* () {
      const { cell, told } = yield* searched(false)
      assert.isUndefined(cell)
      assert.strictEqual(told, 'the tool "web_search" is not available')
    }).pipe(Effect.provide(Deployment.layer({ script })))
  )

  it.effect("a search that fails is the cell's error, and the model is told", () =>
    Effect.gen(function* () {
      const { cell, told } = yield* searched(true)
      assert.isTrue(cell?.status._tag === "Failed" && cell.status.error === "the web is away")
      assert.strictEqual(told, "the web is away")
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script,
          webSearch: ScriptedWebSearch.layer({
            failure: new WebSearchError({ reason: "unavailable", message: "the web is away" })
          })
        })
      )
    )
  )
})
