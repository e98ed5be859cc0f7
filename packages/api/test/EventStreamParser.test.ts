import * as EventStreamParser from "@castellan/api/client/EventStreamParser"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Sse } from "effect/encoding"

const parse = (pieces: ReadonlyArray<string>) => {
  const parser = EventStreamParser.make()
  return pieces.flatMap((piece) => parser.feed(piece))
}

/** What Effect's own parser makes of the same text: written apart from this one, after the same standard. */
const oracle = (text: string) => {
  const events: Array<EventStreamParser.ServerSentEvent> = []
  const parser = Sse.makeParser((event) => {
    if (event._tag === "Event") events.push({ id: event.id ?? "", event: event.event, data: event.data })
  })
  assert.isUndefined(parser.feed(text))
  return events
}

const message = { id: "", event: "message" }

describe("a stream of events", () => {
  it.each<readonly [string, string, ReadonlyArray<object>]>([
    ["an event", "id: 7\nevent: cell\ndata: x\n\n", [{ id: "7", event: "cell", data: "x" }]],
    [
      "carriage returns",
      "data: a\r\rdata: b\r\r",
      [
        { ...message, data: "a" },
        { ...message, data: "b" }
      ]
    ],
    [
      "both line ends",
      "data: a\r\n\r\ndata: b\n\n",
      [
        { ...message, data: "a" },
        { ...message, data: "b" }
      ]
    ],
    ["several lines of data", "data: a\ndata\ndata: b\n\n", [{ ...message, data: "a\n\nb" }]],
    ["comments", ": heartbeat\n\n:\ndata: a\n: b\n\n", [{ ...message, data: "a" }]],
    ["a byte order mark", "\uFEFFdata: a\n\n", [{ ...message, data: "a" }]],
    [
      "one space after the colon",
      "data:  a\n\ndata:b\n\n",
      [
        { ...message, data: " a" },
        { ...message, data: "b" }
      ]
    ],
    [
      "ids that last",
      "id: 1\ndata: a\n\ndata: b\n\n",
      [
        { id: "1", event: "message", data: "a" },
        { id: "1", event: "message", data: "b" }
      ]
    ],
    [
      "ids that are taken back",
      "id: 1\ndata: a\n\nid\ndata: b\n\n",
      [
        { id: "1", event: "message", data: "a" },
        { ...message, data: "b" }
      ]
    ],
    ["ids with a NUL", "id: 1\nid: 2\u00003\ndata: a\n\n", [{ id: "1", event: "message", data: "a" }]],
    ["names without data", "event: cell\n\ndata: a\n\n", [{ ...message, data: "a" }]],
    ["unknown fields", "colour: red\nretry: 5\ndata: a\n\n", [{ ...message, data: "a" }]],
    ["an end in the middle", "data: a\n\ndata: b\n", [{ ...message, data: "a" }]]
  ])("with %s is read", (_, text, expected) => {
    assert.deepStrictEqual(parse([text]), expected)
    assert.deepStrictEqual(parse([...text]), expected)
    assert.deepStrictEqual(oracle(text), expected)
  })

  const Line = Schema.Union([
    Schema.Literals(["data: a", "data:", "data", "id: 1", "id: 22", "event: x", ": c", "", "", "x", "é南🛫"]),
    Schema.TemplateLiteral([Schema.Literals(["data: ", "id:", "event: ", ""]), AnyText])
  ])
  const End = Schema.Literals(["\n", "\r", "\r\n"])

  it.prop(
    "is the same however it is cut, and as Effect reads it",
    {
      lines: Schema.Array(Schema.Tuple([Line, End])),
      cuts: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })))
    },
    ({ cuts, lines }) => {
      const text = lines.flat().join("")
      const pieces: Array<string> = []
      let rest = text
      for (const cut of cuts) {
        pieces.push(rest.slice(0, cut))
        rest = rest.slice(cut)
      }
      assert.deepStrictEqual(parse([...pieces, rest]), oracle(text))
    },
    { arbitrary: { runs: 500 } }
  )

  it("that never ends an event is given up before it fills the memory", () => {
    const parser = EventStreamParser.make()
    const piece = "x".repeat(1024 * 1024)
    assert.throws(() => {
      for (let megabytes = 0; megabytes <= 16; megabytes += 1) parser.feed(piece)
    }, /an event of more than/)
  })

  it("may be longer than any of its events", () => {
    const parser = EventStreamParser.make()
    const event = `data: ${"x".repeat(1024 * 1024)}\n\n`
    let count = 0
    for (let megabytes = 0; megabytes < 20; megabytes += 1) count += parser.feed(event).length
    assert.strictEqual(count, 20)
  })
})
