/** What comes in pieces is kept at about its own size, whoever chose the size of the pieces. */
import { joined, Pieces } from "@castellan/sandbox/session/Joined"
import { assert, describe, it } from "@effect/vitest"

const bytes = (size: number, from: number) => Uint8Array.from({ length: size }, (_, index) => (from + index) % 251)

describe("pieces", () => {
  it("are together what came, in order, whatever their sizes", () => {
    const pieces = new Pieces()
    const sizes = [1, 0, 5000, 1, 4095, 4096, 3, 70_000, 0, 65_535, 2]
    const came = sizes.map((size, index) => bytes(size, index * 17))
    for (const piece of came) pieces.push(piece)
    assert.deepStrictEqual(Buffer.from(joined(pieces.take())), Buffer.concat(came))
    assert.deepStrictEqual(pieces.take(), [])
  })

  it("of one byte are kept together, and none that is empty", () => {
    const pieces = new Pieces()
    for (let count = 0; count < 200_000; count += 1) {
      pieces.push(Uint8Array.of(count % 256))
      pieces.push(new Uint8Array(0))
    }
    const parts = pieces.take()
    assert.isAtMost(parts.length, 4)
    assert.strictEqual(joined(parts)[199_999], 199_999 % 256)
  })

  it("keep no more memory than they have where small and large ones alternate", () => {
    const pieces = new Pieces()
    for (let count = 0; count < 100; count += 1) {
      pieces.push(bytes(4096, 0))
      pieces.push(Uint8Array.of(1))
    }
    const kept = pieces.take().reduce((sum, part) => sum + part.buffer.byteLength, 0)
    assert.strictEqual(kept, 100 * 4097)
  })
})
