import { historyOf } from "@castellan/core/analyst/History"
import { CellId } from "@castellan/core/chat/Cell"
import type { Transcript } from "@castellan/core/chat/Transcript"
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"

const id = CellId.make("01900000-0000-7000-8000-000000000000")

const run = (question: string, answer: string): Transcript => ({
  messages: [
    { role: "user", content: question, createdAt: DateTime.makeUnsafe(0), cellId: id, assets: [] },
    { role: "assistant", content: answer, createdAt: DateTime.makeUnsafe(0), cellId: id, assets: [] }
  ],
  cells: [],
  assets: []
})

const texts = (runs: ReadonlyArray<Transcript>, maxCharacters: number) =>
  historyOf(runs, maxCharacters).map((message) => (message._tag === "ToolResult" ? "" : message.text))

describe("the history of a chat", () => {
  const runs = [run("one?", "1"), run("two?", "2"), run("three?", "3")]

  it("is everything that was said, oldest first, where it fits", () => {
    assert.deepStrictEqual(texts(runs, 100), ["one?", "1", "two?", "2", "three?", "3"])
  })

  it("leaves out the oldest runs, whole, where it does not", () => {
    assert.deepStrictEqual(texts(runs, 12), ["two?", "2", "three?", "3"])
    assert.deepStrictEqual(texts(runs, 11), ["three?", "3"])
    assert.deepStrictEqual(texts(runs, 6), [])
  })
})
