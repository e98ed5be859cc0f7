import { assert, describe, it } from "@effect/vitest"
import { type ChildReport, parseReport } from "../../src/embedded/internal/ChildReport.ts"
import { ExecutionIntake } from "../../src/embedded/internal/ExecutionIntake.ts"
import { FileRoom } from "../../src/embedded/internal/FileRoom.ts"

const limits = { bytes: 100, count: 10 }
const mark = { id: 1, nonce: "n" }
const bytes = (count: number) => new Uint8Array(count)

const made = (room: FileRoom = new FileRoom(1_000)) => {
  const intake = new ExecutionIntake(20, limits, room)
  const take = (head: ChildReport, payload = 0) => intake.take({ head, payload: bytes(payload) })
  const file = (path: string, size: number, payload = size) =>
    take({ event: "changed", ...mark, path, kind: "file", size, bytes: payload }, payload)
  const more = (payload: number) => take({ event: "more", ...mark, bytes: payload }, payload)
  return { intake, take, file, more }
}

describe("what the host takes of an execution", () => {
  it("is no output that says nothing, and no more than it may pass on", () => {
    const { take } = made()
    const output = (payload: number) => take({ event: "output", ...mark, stream: "stdout", bytes: payload }, payload)
    assert.strictEqual(output(15), "pass")
    assert.strictEqual(output(0), "breach")
    assert.strictEqual(output(5), "pass")
    assert.strictEqual(output(1), "breach")
  })

  it("is what changed, within the quotas: what is beyond is heard to its end, and not kept", () => {
    const { file, intake, more, take } = made()
    assert.strictEqual(file("a", 60, 10), "more")
    assert.strictEqual(file("b", 1), "breach")
    assert.strictEqual(more(50), "more")
    assert.strictEqual(file("c", 50, 20), "more")
    assert.strictEqual(intake.refusal?.reason, "exhausted")
    assert.strictEqual(more(30), "more")
    assert.strictEqual(more(1), "breach")
    assert.strictEqual(file("d", 1), "more")
    assert.deepStrictEqual(
      intake.changes.map(({ path }) => path),
      ["a"]
    )
    assert.strictEqual(
      take({ event: "changed", ...mark, path: "e", kind: "directory", size: 2 ** 40, bytes: 0 }),
      "breach"
    )
  })

  it("is not more changes, nor longer names, than a session can have", () => {
    const many = made()
    const gone = (path: string): ChildReport => ({ event: "changed", ...mark, path, kind: "gone", size: 0, bytes: 0 })
    for (let index = 0; index < 1_000; index += 1) assert.strictEqual(many.take(gone(`${index}`)), "more")
    assert.lengthOf(many.intake.changes, 20)
    assert.strictEqual(many.intake.refusal?.reason, "exhausted")
    const long = new ExecutionIntake(20, { bytes: 100, count: 4_000 }, new FileRoom(1_000))
    for (let index = 0; index < 8_000; index += 1) {
      long.take({ head: gone(`${index}${"/".padEnd(16_000, "x")}`), payload: bytes(0) })
    }
    assert.isBelow(long.changes.length, 200)
    assert.match(long.refusal?.message ?? "", /names/)
  })

  it("takes room of what all sessions have, and gives it back", () => {
    const room = new FileRoom(100)
    const [one, other] = [made(room), made(room)]
    one.file("a", 90, 10)
    assert.strictEqual(room.left, 10)
    other.file("a", 11)
    assert.match(other.intake.refusal?.message ?? "", /server/)
    other.intake.release()
    assert.strictEqual(room.left, 10)
    one.intake.release()
    one.intake.release()
    assert.strictEqual(room.left, 100)
  })

  it("is not reports without end, which cost the host time and nobody else", () => {
    const { take } = made()
    const nothing: ChildReport = { event: "data", ...mark, bytes: 0 }
    let taken = 0
    while (taken < 1_000_000 && take(nothing) === "pass") taken += 1
    assert.strictEqual(taken, 200_000)
  })

  it("is what reports say, and nothing that they inherit", () => {
    const report = '{"event":"changed","id":1,"nonce":"n","path":"__proto__","kind":"directory","size":0,"bytes":0}'
    const { take, intake } = made()
    assert.strictEqual(take(parseReport(report)), "more")
    assert.deepStrictEqual(intake.changes, [{ path: "__proto__", kind: "directory" }])
    assert.throws(() => parseReport(report.replace('"id"', '"__proto__":{"id":2},"id"')))
  })
})
