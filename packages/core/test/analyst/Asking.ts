/**
 * Words for tests of the analyst: who asks, what a run told, and what the model and the connector were given.
 */
import type { Principal } from "@castellan/core/access/Principal"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import type { ModelTurn } from "@castellan/core/model/LanguageModels"
import type { Run } from "@castellan/core/run/Run"
import type { RunEvent } from "@castellan/core/run/RunEvent"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { violations } from "@castellan/testing/fixture/WellFormed"
import { ScriptedDriver } from "@castellan/testing/scripted/ScriptedDriver"
import { ScriptedModel } from "@castellan/testing/scripted/ScriptedModel"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"

/** An administrator of a new organization with one connector, `warehouse`. */
export const newcomer = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  yield* Fixture.connector(tenant.organizationId)
  return Fixture.adminOf(tenant)
})

/** Everything that an ended run told, well-formed. */
export const told = Effect.fnUntraced(function* (run: Run) {
  const events = yield* Conversation.events(run)
  const outline = Conversation.outline(events)
  assert.deepStrictEqual(violations(events), [], outline.join("\n"))
  return { run, events, outline, last: outline.at(-1) }
})

/** Asks a question, and waits for everything that its run tells. */
export const asked = (
  principal: Principal,
  question = "How much did we sell?",
  more: Parameters<typeof Conversation.ask>[2] = {}
) => Effect.flatMap(Conversation.ask(principal, question, more), told)

/** What the model was asked, turn by turn. */
export const turns = ScriptedModel.use((model) => Effect.map(model.recorded, (all) => all.map((one) => one.turn)))

/** One turn of the model, counted from 1. */
export const turnNumber = Effect.fnUntraced(function* (number: number) {
  const turn = (yield* turns)[number - 1]
  if (turn === undefined) return yield* Effect.die(new Error(`there was no turn ${number}`))
  return turn
})

/** The tools on offer in a turn. */
export const toolNames = (turn: ModelTurn): ReadonlyArray<string> => turn.tools.map((tool) => tool.name)

/** The results of tools that a turn shows the model. */
export const resultsOf = (turn: ModelTurn) =>
  turn.messages.flatMap((message) => (message._tag === "ToolResult" ? [message] : []))

/** The last of them, which must be there. */
export const lastResult = (turn: ModelTurn) => {
  const result = resultsOf(turn).at(-1)
  if (result === undefined) throw new Error("no tool was called")
  return result
}

/** A run as its store has it. */
export const keptRun = (run: Run) =>
  Effect.map(
    ChatStore.use((store) => store.run(run.organizationId, run.id)),
    Option.getOrThrow
  )

/** What the connector was asked to run. */
export const statements = ScriptedDriver.use((driver) => driver.recorded)

/** The arguments of a query that the scripted connector answers. */
export const allSales = { title: "All sales", connector: "warehouse", sql: "select * from sales" }

/** The cells that were told. */
export const cells = (events: ReadonlyArray<RunEvent>) =>
  events.flatMap((event) => (event._tag === "Cell" ? [event.cell] : []))

/** The assets that were told. */
export const assets = (events: ReadonlyArray<RunEvent>) =>
  events.flatMap((event) => (event._tag === "Asset" ? [event.asset] : []))
