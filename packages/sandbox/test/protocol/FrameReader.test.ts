import { maximumLine, maximumPayload } from "@castellan/sandbox/protocol/Command"
import { type Frame, FrameReader } from "@castellan/sandbox/protocol/FrameReader"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const utf8 = new TextEncoder()
const nonce = "0".repeat(32)

const joined = (...parts: ReadonlyArray<Uint8Array | string>): Uint8Array =>
  new Uint8Array(Buffer.concat(parts.map((part) => (typeof part === "string" ? utf8.encode(part) : part))))

const frame = (head: object, payload: Uint8Array = new Uint8Array(0)) => joined(`${JSON.stringify(head)}\n`, payload)

const started = { event: "started", id: 1, nonce }
const output = (bytes: number) => ({ event: "output", id: 1, nonce, stream: "stdout", bytes })
const entries = (...paths: ReadonlyArray<string>) => ({
  event: "entries",
  id: 2,
  nonce,
  entries: paths.map((path) => ({ path, kind: "file", size: 1 }))
})

/** Everything that a reader makes of chunks, and what was wrong where something was. */
const read = (chunks: Iterable<Uint8Array>): { readonly frames: ReadonlyArray<Frame>; readonly breach?: string } => {
  const reader = new FrameReader()
  const frames: Array<Frame> = []
  for (const chunk of chunks) {
    const next = reader.push(chunk)
    if (Result.isFailure(next)) return { frames, breach: next.failure.detail }
    frames.push(...next.success)
  }
  return { frames }
}

const breachOf = (...parts: ReadonlyArray<Uint8Array | string>) => read([joined(...parts)]).breach

const told = (frames: ReadonlyArray<Frame>) =>
  frames.map(({ payload, report }) => ({ report, payload: Buffer.from(payload).toString("latin1") }))

const whole = joined(
  frame(started),
  frame(output(5), utf8.encode("a\nb{}")),
  frame(output(0)),
  frame(entries("ünï.md", "\u2028")),
  frame({ event: "done", id: 2, nonce })
)

describe("frames out of a sandbox", () => {
  it("are the same wherever the bytes are cut", () => {
    const expected = told(read([whole]).frames)
    assert.strictEqual(expected.length, 5)
    assert.strictEqual(expected[1]?.payload, "a\nb{}")
    for (let at = 0; at <= whole.length; at++) {
      assert.deepStrictEqual(told(read([whole.subarray(0, at), whole.subarray(at)]).frames), expected, `cut at ${at}`)
    }
    assert.deepStrictEqual(told(read([...whole].map((byte) => Uint8Array.of(byte))).frames), expected)
  })

  it.prop(
    "are the same however often they are cut",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 })))],
    ([sizes]) => {
      const chunks: Array<Uint8Array> = []
      let at = 0
      for (const size of sizes) chunks.push(whole.subarray(at, (at += size)))
      chunks.push(whole.subarray(at))
      assert.deepStrictEqual(told(read(chunks).frames), told(read([whole]).frames))
    }
  )

  it.prop("count up to the first byte that means nothing", [Schema.Array(Schema.Int)], ([bytes]) => {
    const { frames } = read([whole, Uint8Array.from(bytes)])
    assert.deepStrictEqual(told(frames), told(read([whole]).frames))
  })

  it("are not read on after one that is wrong", () => {
    const reader = new FrameReader()
    assert.isTrue(Result.isFailure(reader.push(utf8.encode("nonsense\n"))))
    assert.isTrue(Result.isFailure(reader.push(frame(started))))
  })

  it("have lines that are bounded, before they are whole", () => {
    const longest = joined(JSON.stringify(started), " ".repeat(maximumLine - JSON.stringify(started).length - 1), "\n")
    assert.strictEqual(longest.length, maximumLine)
    assert.strictEqual(read([longest]).frames.length, 1)
    assert.strictEqual(breachOf(" ", longest), "a line is too long")
    const endless = Array.from({ length: 5 }, () => new Uint8Array(maximumLine / 4).fill(0x20))
    assert.strictEqual(read(endless).breach, "a line is too long")
  })

  it("have payloads that are bounded, before any byte of them", () => {
    assert.isUndefined(breachOf(frame(output(maximumPayload))))
    assert.strictEqual(breachOf(frame(output(maximumPayload + 1))), "a payload is too long")
    assert.strictEqual(breachOf(frame(output(-1))), "a line is no report")
    assert.strictEqual(breachOf(frame({ ...output(0), bytes: 1.5 })), "a line is no report")
    assert.strictEqual(
      breachOf('{"event":"output","id":1,"nonce":"","stream":"stdout","bytes":1e400}\n'),
      "a line is no report"
    )
  })

  it("are decoded strictly", () => {
    for (const line of [
      "",
      "null",
      "[]",
      '"started"',
      JSON.stringify({ ...started, event: "begun" }),
      JSON.stringify({ event: "started", id: 1 }),
      JSON.stringify({ ...started, id: "1" }),
      JSON.stringify({ ...started, more: 1 }),
      `{"event":"started","id":1,"nonce":"${nonce}","__proto__":{"polluted":true}}`,
      `{"__proto__":{"event":"started","id":1,"nonce":"${nonce}"}}`,
      `{"event":"started","id":1,"nonce":"${nonce}","constructor":{"prototype":{"polluted":true}}}`,
      JSON.stringify({ ...entries("a"), entries: [{ path: "a", kind: "socket", size: 1 }] }),
      JSON.stringify({ ...output(0), stream: "stdin" }),
      JSON.stringify({
        event: "finished",
        id: 1,
        nonce,
        outcome: "timed_out",
        exit_code: 0,
        files: [],
        dataframes: [],
        dropped_bytes: 0
      })
    ]) {
      assert.strictEqual(breachOf(`${line}\n`), "a line is no report", line)
    }
    assert.isFalse("polluted" in {})
  })

  it("are UTF-8", () => {
    const cut = joined('{"event":"started","id":1,"nonce":"', Uint8Array.of(0xc3), '"}\n')
    assert.strictEqual(breachOf(cut), "a line is not UTF-8")
  })

  it("have forms that are together what follows", () => {
    const rich = (sizes: ReadonlyArray<number>, bytes: number) =>
      frame({
        event: "rich",
        id: 1,
        nonce,
        bytes,
        forms: sizes.map((size) => ({ media_type: "text/plain", bytes: size }))
      })
    assert.isUndefined(breachOf(rich([1, 2], 3), "abc"))
    assert.strictEqual(breachOf(rich([1, 3], 3)), "the forms of a value are not as long as its payload")
    assert.strictEqual(breachOf(rich([1], 3)), "the forms of a value are not as long as its payload")
  })
})
