/** What was done to a library: files are read many at once, and never more than may be kept. */
import { LibraryPath } from "@castellan/core/library/LibraryPath"
import { SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import { editsOf } from "@castellan/sandbox/session/LibraryEdits"
import { SessionLimits } from "@castellan/sandbox/session/SessionLimits"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const bytes = (text: string) => new TextEncoder().encode(text)

const listed = (path: string, size: number) => ({ path, kind: "file" as const, size, digest: "0".repeat(64) })

const exhausted = new SandboxError({ reason: "exhausted", message: "it is longer" })

/** A sandbox that holds these texts. */
const reading = (texts: Readonly<Record<string, string>>) => {
  const asked: Array<string> = []
  const read = (path: string, most: number): Effect.Effect<Uint8Array | undefined, SandboxError> => {
    asked.push(`${path} ${most}`)
    const text = texts[path]
    if (text === undefined) return Effect.succeed(undefined)
    return text.length > most ? Effect.fail(exhausted) : Effect.succeed(bytes(text))
  }
  return { asked, read }
}

describe("LibraryEdits", () => {
  it.effect("reads many files at once, not all, and tells of them in the order of their paths", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 200 }, (_, index) => `file-${String(index).padStart(3, "0")}.md`)
      let now = 0
      let most = 0
      const read = (path: string) =>
        Effect.gen(function* () {
          now += 1
          most = Math.max(most, now)
          // Those that come later in the list are through sooner.
          for (let turn = 0; turn < 200 - names.indexOf(path); turn++) yield* Effect.yieldNow
          now -= 1
          return bytes(path)
        })
      const entries = names.toReversed().map((name) => listed(name, name.length))
      const edits = yield* editsOf([], entries, yield* SessionLimits, read)
      assert.deepStrictEqual(
        edits,
        names.map((path) => ({ _tag: "Added", path, content: bytes(path) }))
      )
      assert.isAbove(most, 8)
      assert.isAtMost(most, 64)
    })
  )

  it.effect("a file that is longer than it was listed is read again by itself, and kept where it fits", () =>
    Effect.gen(function* () {
      const { asked, read } = reading({ "a.md": "twelve bytes", "b.md": "four", "c.md": "too long a text" })
      const limits = { ...(yield* SessionLimits), editsBytes: 20, editBytes: 16 }
      const entries = [listed("a.md", 8), listed("b.md", 4), listed("c.md", 4)]
      assert.deepStrictEqual(yield* editsOf([], entries, limits, read), [
        { _tag: "Added", path: "a.md", content: bytes("twelve bytes") },
        { _tag: "Added", path: "b.md", content: bytes("four") },
        { _tag: "Rejected", path: "c.md", reason: "it grew while it was read" }
      ])
      assert.deepStrictEqual(asked, ["a.md 8", "b.md 4", "c.md 4", "a.md 16", "c.md 16"])
    })
  )

  it.effect("what does not fit beside the others is not read, and what is gone is deleted", () =>
    Effect.gen(function* () {
      const { asked, read } = reading({ "a.md": "six by", "c.md": "four" })
      const limits = { ...(yield* SessionLimits), editsBytes: 12 }
      const base = [{ path: LibraryPath.make("d.md"), content: bytes("was here") }]
      const entries = [listed("a.md", 6), listed("b.md", 7), listed("c.md", 4), listed("d.md", 2)]
      assert.deepStrictEqual(yield* editsOf(base, entries, limits, read), [
        { _tag: "Added", path: "a.md", content: bytes("six by") },
        { _tag: "Rejected", path: "b.md", reason: "the edits together are larger than 12 bytes" },
        { _tag: "Added", path: "c.md", content: bytes("four") },
        { _tag: "Deleted", path: "d.md" }
      ])
      assert.deepStrictEqual(asked, ["a.md 6", "c.md 4", "d.md 2"])
    })
  )

  it.effect("a session that is lost while its files are read has no edits", () =>
    Effect.gen(function* () {
      const lost = new SandboxError({ reason: "lost", message: "it is gone" })
      const error = yield* Effect.flip(
        editsOf([], [listed("a.md", 1), listed("b.md", 1)], yield* SessionLimits, () => Effect.fail(lost))
      )
      assert.strictEqual(error, lost)
    })
  )
})
