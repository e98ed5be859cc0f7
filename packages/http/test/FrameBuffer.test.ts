import { FrameBuffer } from "@castellan/http/stream/FrameBuffer"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const Texts = Schema.Array(AnyText)
const positive = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 }))

const filled = (texts: ReadonlyArray<string>): FrameBuffer => {
  const frames = new FrameBuffer()
  for (const text of texts) frames.append(`${text}.`)
  return frames
}

/** What a follower reads that comes after so many frames. */
const readFrom = (frames: FrameBuffer, from: number): string => {
  const pieces: Array<Uint8Array> = []
  for (let at = from; at < frames.count;) {
    const { piece, to } = frames.after(at)
    assert.isAbove(to, at)
    pieces.push(piece.bytes)
    at = to
  }
  return Buffer.concat(pieces).toString("utf8")
}

/** What was written, as bytes make it: halves of surrogate pairs do not survive UTF-8. */
const bytesOf = (texts: ReadonlyArray<string>): string =>
  Buffer.from(texts.map((text) => Buffer.from(`${text}.`).toString("utf8")).join("")).toString("utf8")

describe("FrameBuffer", () => {
  it.prop("gives every follower exactly what it lacks", [Texts, positive], ([texts, seed]) => {
    const frames = filled(texts)
    const from = texts.length === 0 ? 0 : seed % (texts.length + 1)
    assert.strictEqual(frames.count, texts.length)
    assert.strictEqual(readFrom(frames, from), bytesOf(texts.slice(from)))
  })

  it("keeps what was taken before as it was, when it grows", () => {
    const frames = filled(["a"])
    const { piece } = frames.after(0)
    for (let n = 0; n < 1_000; n += 1) frames.append("x".repeat(100))
    assert.strictEqual(Buffer.from(piece.bytes).toString(), "a.")
    assert.strictEqual(readFrom(frames, 0).length, 2 + 100_000)
  })

  it("gives followers that are in step the same piece, framed once", () => {
    const frames = filled(["a", "b"])
    assert.strictEqual(frames.after(1).piece, frames.after(1).piece)
    assert.strictEqual(frames.after(1).piece.chunk, frames.after(1).piece.chunk)
    assert.strictEqual(Buffer.from(frames.after(0).piece.chunk).toString(), "4\r\na.b.\r\n")
  })

  it("cuts what is long between frames", () => {
    const frames = filled(Array.from({ length: 40 }, () => "x".repeat(10_000)))
    const first = frames.after(0)
    assert.isBelow(first.to, 40)
    assert.strictEqual(first.piece.bytes.length % 10_001, 0)
    assert.strictEqual(readFrom(frames, 3).length, 37 * 10_001)
  })

  it("gives a frame that is longer than a piece whole", () => {
    const frames = filled(["a", "x".repeat(1_000_000), "b"])
    assert.deepStrictEqual([frames.after(1).to, frames.after(1).piece.bytes.length], [2, 1_000_001])
    assert.strictEqual(readFrom(frames, 0).length, 2 + 1_000_001 + 2)
  })

  it.prop("replaces frames and nothing else", [Texts, positive, AnyText], ([texts, seed, text]) => {
    if (texts.length === 0) return
    const index = seed % texts.length
    const frames = filled(texts)
    const replaced = frames.replacing(new Map([[index + 1, `${text}.`]]))
    assert.strictEqual(readFrom(replaced, 0), bytesOf(texts.with(index, text)))
    assert.strictEqual(readFrom(frames, 0), bytesOf(texts))
  })
})
