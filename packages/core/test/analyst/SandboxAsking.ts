/**
 * Words for tests of the sandbox's tools: questions that lead to programs, and what the model and the reader saw of these.
 */
import { CurrentPrincipal, type Principal } from "@castellan/core/access/Principal"
import type { RunEvent } from "@castellan/core/run/RunEvent"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import { calls } from "@castellan/testing/scripted/ScriptedModel"
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { told, turns } from "./Asking.ts"

/** Asks a question, and waits for everything that its run tells. */
export const asked = (principal: Principal, more: Parameters<typeof Conversation.ask>[2] = {}) =>
  Effect.flatMap(Conversation.ask(principal, "What is typical?", more), told)

/** What the model read of its calls by the end, in order. */
export const results = Effect.map(turns, (all) =>
  (all.at(-1)?.messages ?? []).flatMap((message) => (message._tag === "ToolResult" ? [message] : []))
)

/** What the model reads of a call, which is an object of JSON. */
export const json = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

/** The cells of tools that were told. */
export const cells = (events: ReadonlyArray<RunEvent>) =>
  events.flatMap((event) => (event._tag === "Cell" && event.cell.content._tag === "Tool" ? [event.cell] : []))

/** The executions of a chat's sandcastle, newest first. */
export const recorded = (principal: Principal) =>
  Effect.gen(function* () {
    const sandcastles = yield* Sandcastles
    const { items } = yield* sandcastles.list({ status: "all", limit: 10 })
    const [sandcastle] = items
    assert.isDefined(sandcastle)
    return (yield* sandcastles.executions(sandcastle.id, { limit: 50 })).items
  }).pipe(Effect.provideService(CurrentPrincipal, principal))

/** A turn that runs Python. */
export const python = (code: string, id?: string) => calls("python", { title: "Look closer", code }, id)
