import { assert, describe, it } from "@effect/vitest"
import { encodeFrame, FrameBroken, FrameReader } from "../../src/embedded/internal/deno/Frames.ts"
import { parseReport } from "../../src/embedded/internal/ChildReport.ts"

const limits = { line: 200, payload: 1_000 }
const reader = () => new FrameReader(limits, (line): object => JSON.parse(line))
const bytes = (text: string) => new TextEncoder().encode(text)

const chunks = (whole: Uint8Array, size: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(whole.length / size) }, (_, index) => whole.subarray(index * size, (index + 1) * size))

describe("frames of children", () => {
  it("are read whatever the chunks are", () => {
    const payload = Uint8Array.from({ length: 300 }, (_, index) => index % 256)
    const whole = Buffer.concat([
      encodeFrame({ a: 1 }),
      encodeFrame({ b: "é\n" }, payload),
      encodeFrame({ c: 3, bytes: 0 })
    ])
    for (let size = 1; size <= whole.length; size += 1) {
      const one = reader()
      const frames = chunks(whole, size).flatMap((chunk) => one.push(chunk))
      assert.deepStrictEqual(
        frames.map(({ head }) => head),
        [{ a: 1 }, { b: "é\n", bytes: 300 }, { c: 3, bytes: 0 }]
      )
      assert.deepStrictEqual(
        frames.map((frame) => frame.payload.length),
        [0, 300, 0]
      )
      assert.deepStrictEqual(frames[1]?.payload, payload)
    }
  })

  it("do not change when the memory of a chunk is used again", () => {
    const one = reader()
    const chunk = bytes('{"a":"before')
    one.push(chunk)
    chunk.fill(0)
    assert.deepStrictEqual(
      one.push(bytes('"}\n')).map(({ head }) => head),
      [{ a: "before" }]
    )
  })

  it.each([
    ["a line without an end", "x".repeat(201)],
    ["a line that is too long", `${"x".repeat(201)}\n`],
    ["no JSON", "hello\n"],
    ["no UTF-8", new Uint8Array([0x22, 0xff, 0x22, 10])],
    ["a payload that is too long", '{"bytes":1001}\n'],
    ["a negative payload", '{"bytes":-1}\n'],
    ["a payload of no whole number", '{"bytes":1.5}\n'],
    ["a payload of no number", '{"bytes":"1"}\n']
  ])("are refused: %s", (_name, said) => {
    assert.throws(() => reader().push(typeof said === "string" ? bytes(said) : said), FrameBroken)
  })

  it("say nothing that no report says", () => {
    const finished = {
      event: "finished",
      id: 1,
      nonce: "n",
      outcome: "completed",
      exit_code: 0,
      dataframes: [],
      changed: [],
      dropped_bytes: 0
    }
    assert.deepInclude(parseReport(JSON.stringify(finished)), { event: "finished" })
    const lies = [
      { ...finished, exit_code: 256 },
      { ...finished, dropped_bytes: -1 },
      { ...finished, more: true },
      { ...finished, outcome: "timed_out" },
      { event: "restarted", id: 1, nonce: "n", state_lost: true },
      [finished],
      null
    ]
    for (const lie of lies) assert.throws(() => parseReport(JSON.stringify(lie)))
    assert.throws(() => parseReport(`{"__proto__":${JSON.stringify(finished)}}`))
  })
})
