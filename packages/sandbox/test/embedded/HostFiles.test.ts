import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { FileRoom } from "../../src/embedded/internal/FileRoom.ts"
import { type Change, type Copy, HostFiles, isPath } from "../../src/embedded/internal/HostFiles.ts"

const files = (bytes = 100, count = 20) => new HostFiles({ bytes, count })
const content = (text: string) => new TextEncoder().encode(text)
const file = (path: string, text: string): Change => ({ path, kind: "file", content: content(text) })

const reasonOf = (result: Result.Result<unknown, { readonly reason: string }>): string =>
  Result.isFailure(result) ? result.failure.reason : "done"

const textAt = (one: HostFiles, path: string): string => {
  const found = one.get(path)
  return Result.isSuccess(found) ? new TextDecoder().decode(found.success) : found.failure.reason
}

const pathsIn = (one: HostFiles, folder = ""): ReadonlyArray<string> => {
  const found = one.list(folder)
  return Result.isSuccess(found) ? found.success.map(({ path }) => path) : [found.failure.reason]
}

describe("the files of a session on the host", () => {
  it("have paths below the root, of names that files have", () => {
    for (const path of ["a", "a/b.txt", ".hidden", "ü/ñ", "a\nb", "__proto__"]) assert.isTrue(isPath(path), path)
    const odd = ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a\0b", "x".repeat(256), "a/".repeat(64) + "b", "\ud800"]
    for (const path of odd) assert.isFalse(isPath(path), path)
  })

  it("are written with their folders, read, listed and removed", () => {
    const one = files()
    assert.strictEqual(reasonOf(one.put("outputs/deep/a.txt", content("hello"))), "done")
    assert.strictEqual(textAt(one, "outputs/deep/a.txt"), "hello")
    assert.deepStrictEqual(pathsIn(one), ["library", "outputs", "uploads"])
    assert.deepStrictEqual(pathsIn(one, "outputs"), ["outputs/deep"])
    assert.deepStrictEqual(pathsIn(one, "nowhere"), ["not_found"])
    assert.deepStrictEqual(pathsIn(one, "outputs/deep/a.txt"), ["invalid"])
    assert.strictEqual(reasonOf(one.put("outputs/deep", content("x"))), "invalid")
    assert.strictEqual(reasonOf(one.put("outputs/deep/a.txt/b", content("x"))), "invalid")
    assert.strictEqual(reasonOf(one.put("../a", content("x"))), "invalid")
    assert.strictEqual(reasonOf(one.remove("outputs/deep")), "invalid")
    assert.strictEqual(reasonOf(one.remove("outputs/deep/a.txt")), "done")
    assert.strictEqual(reasonOf(one.remove("outputs/deep/a.txt")), "not_found")
  })

  it("have no more bytes and files than they may", () => {
    const one = files(10, 6)
    assert.strictEqual(reasonOf(one.put("a", content("x".repeat(11)))), "exhausted")
    assert.strictEqual(reasonOf(one.put("a", content("x".repeat(10)))), "done")
    assert.strictEqual(reasonOf(one.put("b", content("x"))), "exhausted")
    // What takes the place of another frees the room of that.
    assert.strictEqual(reasonOf(one.put("a", content("y".repeat(10)))), "done")
    assert.strictEqual(reasonOf(one.put("a", content(""))), "done")
    assert.strictEqual(reasonOf(one.put("d/e/f", content(""))), "exhausted")
    assert.strictEqual(reasonOf(one.put("b", content(""))), "done")
  })

  it("never follow a link", () => {
    const one = files()
    assert.strictEqual(reasonOf(one.apply([{ path: "outputs/leak", kind: "link", target: "/etc" }])), "done")
    assert.strictEqual(textAt(one, "outputs/leak"), "invalid")
    assert.strictEqual(textAt(one, "outputs/leak/passwd"), "not_found")
    assert.strictEqual(reasonOf(one.put("outputs/leak/passwd", content("x"))), "invalid")
    const tree = one.tree("outputs", 10)
    assert.deepStrictEqual(Result.getOrThrow(tree), [{ path: "leak", kind: "link", size: 0 }])
    assert.strictEqual(reasonOf(one.tree("", 2)), "too_many_files")
  })

  it("take over what an execution did as a whole, or not at all", () => {
    const one = files(20)
    one.put("outputs/kept", content("12345"))
    const refused: ReadonlyArray<readonly [string, ReadonlyArray<Change>]> = [
      ["exhausted", [file("outputs/a", "1"), file("outputs/b", "x".repeat(20))]],
      ["invalid", [file("outputs/a", "1"), file("outputs/../../etc/x", "1")]],
      ["invalid", [file("outputs/a", "1"), file("outputs/a/b", "1")]],
      ["invalid", [file("outputs/a", "1"), file("nowhere/b", "1")]]
    ]
    for (const [reason, changes] of refused) {
      assert.strictEqual(reasonOf(one.apply([{ path: "outputs/kept", kind: "gone" }, ...changes])), reason)
      assert.strictEqual(textAt(one, "outputs/kept"), "12345")
      assert.deepStrictEqual(pathsIn(one, "outputs"), ["outputs/kept"])
    }
    const went = one.apply([
      { path: "outputs", kind: "gone" },
      { path: "results", kind: "directory" },
      file("results/a", "1")
    ])
    assert.strictEqual(reasonOf(went), "done")
    assert.deepStrictEqual(pathsIn(one), ["library", "results", "uploads"])
    assert.strictEqual(textAt(one, "results/a"), "1")
  })

  it("are mounted as a whole, or not at all", () => {
    const one = files(10)
    one.put("library/old.md", content("old"))
    const much = [
      { path: "a", content: content("1") },
      { path: "b", content: content("x".repeat(20)) }
    ]
    assert.strictEqual(reasonOf(one.mount("library", much)), "exhausted")
    assert.strictEqual(textAt(one, "library/old.md"), "old")
    assert.strictEqual(reasonOf(one.mount("library", [{ path: "team/new.md", content: content("new") }])), "done")
    assert.deepStrictEqual(pathsIn(one, "library"), ["library/team"])
    assert.strictEqual(textAt(one, "library/team/new.md"), "new")
  })

  it("tell a process what it lacks, and no more", () => {
    const one = files()
    one.put("outputs/a", content("1"))
    const everything = one.editsFor(new Map())
    assert.deepStrictEqual(
      everything.edits.map(({ kind, path }) => `${kind} ${path}`),
      ["directory library", "directory outputs", "file outputs/a", "directory uploads"]
    )
    const copy: Copy = one.copy
    assert.deepStrictEqual(one.editsFor(copy).edits, [])
    one.put("outputs/b", content("22"))
    one.put("outputs/a", content("1"))
    one.remove("outputs/b")
    one.put("uploads/c", content("333"))
    assert.deepStrictEqual(one.editsFor(copy).edits, [
      { path: "outputs/a", kind: "file", bytes: 1 },
      { path: "uploads/c", kind: "file", bytes: 3 }
    ])
    one.remove("outputs/a")
    assert.deepStrictEqual(one.editsFor(copy).edits[0], { path: "outputs/a", kind: "gone", bytes: 0 })
  })

  it("have names that are bounded together, those of links with their targets", () => {
    const one = files(100, 20_000)
    const long = (index: number): string => `${`${"d".repeat(200)}/`.repeat(60)}${index}`
    const deep = (index: number): Change => ({ path: `outputs/${index}`, kind: "link", target: long(index) })
    assert.strictEqual(reasonOf(one.apply(Array.from({ length: 400 }, (_, index) => deep(index)))), "done")
    assert.strictEqual(reasonOf(one.apply(Array.from({ length: 19_000 }, (_, index) => deep(index)))), "exhausted")
    let put = 0
    while (put < 2_000 && Result.isSuccess(one.put(long(put), content("")))) put += 1
    assert.isBelow(put, 500)
    assert.strictEqual(reasonOf(one.put("outputs/short", content(""))), "done")
  })

  it("of all sessions together have no more room than there is, and give it back", () => {
    const room = new FileRoom(100)
    const [one, other] = [new HostFiles({ bytes: 80, count: 20 }, room), new HostFiles({ bytes: 80, count: 20 }, room)]
    assert.strictEqual(reasonOf(one.put("a", content("x".repeat(80)))), "done")
    assert.strictEqual(reasonOf(other.put("a", content("x".repeat(21)))), "exhausted")
    assert.strictEqual(reasonOf(other.apply([file("a", "x".repeat(21))])), "exhausted")
    assert.strictEqual(reasonOf(other.mount("library", [{ path: "a", content: content("x".repeat(21)) }])), "exhausted")
    assert.strictEqual(room.left, 20)
    assert.strictEqual(reasonOf(other.put("a", content("x".repeat(20)))), "done")
    assert.strictEqual(reasonOf(one.put("a", content("x".repeat(10)))), "done")
    assert.strictEqual(room.left, 70)
    assert.strictEqual(reasonOf(one.apply([{ path: "a", kind: "gone" }])), "done")
    assert.strictEqual(room.left, 80)
    other.close()
    assert.strictEqual(room.left, 100)
    // What comes after the end of a session takes nothing any more.
    assert.strictEqual(reasonOf(other.put("a", content("x"))), "invalid")
    assert.strictEqual(room.left, 100)
  })

  // One look at all for each took seconds, in which the host did nothing else.
  it("are removed in whatever number", () => {
    const one = files(100, 20_000)
    const paths = Array.from({ length: 19_990 }, (_, index) => `outputs/${index}`)
    assert.strictEqual(reasonOf(one.apply(paths.map((path) => file(path, "")))), "done")
    assert.strictEqual(reasonOf(one.apply(paths.map((path) => ({ path, kind: "gone" })))), "done")
    assert.deepStrictEqual(pathsIn(one), ["library", "outputs", "uploads"])
    assert.deepStrictEqual(pathsIn(one, "outputs"), [])
  })
})
