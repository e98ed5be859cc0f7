/**
 * Frames: written, cut anywhere, and read again; and what is no frame.
 */
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { encode, FrameError, makeReader } from "../src/duckdb/internal/Frame.ts"

const Cut = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 }))

/** Cuts bytes into chunks of the given sizes, in turn. */
const cut = (bytes: Uint8Array, sizes: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

describe("frames", () => {
  it.prop(
    "come as they were sent, however they are cut",
    [Schema.Array(Schema.Struct({ header: AnyText, payload: AnyText })), Schema.NonEmptyArray(Cut)],
    ([frames, sizes]) => {
      const read = makeReader(() => 100_000)
      const sent = frames.map((frame) => ({
        header: frame.header.toWellFormed(),
        payload: frame.payload.toWellFormed()
      }))
      const bytes = Buffer.concat(sent.flatMap((frame) => encode(frame.header, Buffer.from(frame.payload))))
      const received = cut(bytes, sizes).flatMap((chunk) =>
        read(chunk).map(({ header, payload }) => ({ header, payload: Buffer.from(payload).toString() }))
      )
      assert.deepStrictEqual(received, sent)
    }
  )

  it("that are too long are refused before they are there", () => {
    const read = makeReader(() => 100)
    const length = Buffer.alloc(4)
    length.writeUInt32LE(101)
    assert.throws(() => read(length), FrameError)
  })

  it("that lie about their header are refused", () => {
    const bytes = Buffer.alloc(12)
    bytes.writeUInt32LE(8, 0)
    bytes.writeUInt32LE(5, 4)
    assert.throws(() => makeReader(() => 100)(bytes), FrameError)
    const short = Buffer.alloc(6)
    short.writeUInt32LE(2, 0)
    assert.throws(() => makeReader(() => 100)(short), FrameError)
  })
})
