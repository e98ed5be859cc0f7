import * as LibraryPath from "@castellan/core/library/LibraryPath"
import * as PathGlob from "@castellan/core/library/PathGlob"
import * as ProcessorTime from "@castellan/testing/fixture/ProcessorTime"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

const path = (text: string): LibraryPath.LibraryPath => Result.getOrThrow(LibraryPath.parse(text))

describe("LibraryPath", () => {
  const refused: ReadonlyArray<readonly [name: string, text: string, rule: LibraryPath.PathRule]> = [
    ["O3 a way out of a folder", "docs/../secrets/x", "ParentSegment"],
    ["O3 an absolute path", "/abs", "Absolute"],
    ["O3 a backslash", "a\\b", "Backslash"],
    ["O3 a NUL", "a\0b", "Control"],
    ["O3 git's own folder", ".git/config", "GitName"],
    ["nothing", "", "Empty"],
    ["a line break", "a\nb", "Control"],
    ["a deletion", "a\u007f", "Control"],
    ["a direction override", "a\u202etxt.md", "Control"],
    ["half a character", "a\ud800", "Surrogate"],
    ["a drive's way out", "..\\x", "Backslash"],
    ["an empty segment", "a//b", "EmptySegment"],
    ["a slash at the end", "a/", "EmptySegment"],
    ["the folder itself", "./a", "DotSegment"],
    ["a dot at the end", "a./b", "TrailingDotOrSpace"],
    ["a space at the end", "a/b ", "TrailingDotOrSpace"],
    ["1,025 bytes", `${"a".repeat(1023)}/b`, "TooLong"],
    ["1,026 bytes of few characters", "é".repeat(513), "TooLong"],
    ["git's folder in another case", "x/.GiT/hooks", "GitName"],
    ["git's folder in HFS+", ".g\u200cit/x", "GitName"],
    ["git's folder in HFS+ with a mark of byte order", "\ufeff.git", "GitName"],
    ["git's folder by its short name", "GIT~1/x", "GitName"],
    ["git's folder as a stream", ".git::$INDEX_ALLOCATION/x", "GitName"],
    ["submodules", ".gitmodules", "GitName"],
    ["submodules by a short name", "GITMOD~4", "GitName"],
    ["submodules by a hashed short name", "gi7eba~9", "GitName"],
    ["submodules by a shorter hashed name", "gi7eb~10", "GitName"],
    ["attributes", "a/.gitattributes", "GitName"],
    ["attributes by a hashed short name", "gi7d29~1", "GitName"]
  ]
  it("a refusal repeats no more of a text than its beginning", () => {
    const refusal = Result.getOrThrow(Result.flip(LibraryPath.parse("x".repeat(1_000_000))))
    assert.strictEqual(refusal.rule, "TooLong")
    assert.match(refusal.message, /^path "x{199}…" must have at most 1024 bytes/)
  })

  it.each(refused)("refuses %s", (_, text, rule) => {
    const refusal = Result.getOrThrow(Result.flip(LibraryPath.parse(text)))
    assert.deepStrictEqual([refusal.path, refusal.rule], [text, rule])
    assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(LibraryPath.LibraryPath)(text)))
  })

  it.each([
    "a",
    "docs/a b/c.md",
    ".gitignore",
    ".github/x",
    "git/x",
    "gitmod~5",
    "a..b/..c",
    "日本語/✨.md",
    "a:b",
    `${"a".repeat(1022)}/b`,
    "é".repeat(512)
  ])("takes %s", (text) => {
    assert.strictEqual(path(text), text)
    assert.strictEqual(Schema.decodeUnknownSync(LibraryPath.LibraryPath)(text), text)
  })

  it("O4 has one spelling for a name in NFC and NFD", () => {
    assert.strictEqual(path("cafe\u0301/x"), path("caf\u00e9/x"))
    assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(LibraryPath.LibraryPath)("cafe\u0301/x")))
  })

  it("O1, O2 compares folders by segment", () => {
    assert.isTrue(LibraryPath.isWithin(path("docs"), path("docs/a/b.md")))
    assert.isTrue(LibraryPath.isWithin(path("docs"), path("docs")))
    assert.isTrue(LibraryPath.isWithin(LibraryPath.rootFolder, path("docs")))
    assert.isFalse(LibraryPath.isWithin(path("docs"), path("docs-private/x")))
    assert.isFalse(LibraryPath.isWithin(path("docs"), path("Docs/x")))
    assert.isFalse(LibraryPath.isWithin(path("docs/a"), path("docs")))
  })

  it("names the folders of a path, the nearest first", () => {
    assert.deepStrictEqual(LibraryPath.ancestors(path("a/b/c")), [path("a/b"), path("a"), ""])
    assert.deepStrictEqual(LibraryPath.ancestors(path("a")), [""])
    assert.deepStrictEqual(LibraryPath.segments(path("a/b/c")), ["a", "b", "c"])
  })
})

describe("PathGlob", () => {
  const rows: ReadonlyArray<readonly [glob: string, path: string, matches: boolean]> = [
    ["docs/*.md", "docs/a.md", true],
    ["docs/*.md", "docs/.md", true],
    ["docs/*.md", "docs/a/b.md", false],
    ["docs/*.md", "x/docs/a.md", false],
    ["docs/**", "docs/a/b.md", true],
    ["docs/**", "docs-private/a", false],
    ["**/*.md", "a.md", true],
    ["**/*.md", "x/y/a.md", true],
    ["**", "anything/at/all", true],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/y/b", true],
    ["a/**/b/**/c", "a/b/x/b/c", true],
    ["a/**/b", "a/x/bb", false],
    ["?.md", "é.md", true],
    ["?.md", "✨.md", true],
    ["?.md", "😀.md", true],
    ["?.md", "ab.md", false],
    ["*a*b*c", "xxaxxbxxbc", true],
    ["*a*b*c", "xxaxxcxx", false],
    ["Docs/*", "docs/a", false],
    ["[ab].md", "a.md", false],
    ["[ab].md", "[ab].md", true],
    ["{a,b}.md", "a.md", false],
    ["a.md", "axmd", false],
    ["cafe\u0301/*", "caf\u00e9/x", true]
  ]
  it.each(rows)("%s on %s: %s", (glob, text, expected) => {
    assert.strictEqual(PathGlob.matches(Result.getOrThrow(PathGlob.parse(glob)), path(text)), expected)
  })

  it.each(["", "/a", "a/", "a//b", "a\\b", "../a", "./a", "a**", "a\0", "x".repeat(1025)])("refuses %j", (text) => {
    const refusal = Result.getOrThrow(Result.flip(PathGlob.parse(text)))
    assert.strictEqual(refusal.message, PathGlob.problem(text))
    assert.deepStrictEqual(PathGlob.ifValid(text), [])
  })

  it("is quick with patterns made to be slow", () => {
    const glob = Result.getOrThrow(PathGlob.parse(`${"*a".repeat(60)}/${"**/a/".repeat(100)}b`))
    const long = path(`${"a".repeat(300)}/${"a/".repeat(300)}c`)
    const took = ProcessorTime.start()
    for (let count = 0; count < 100; count++) assert.isFalse(PathGlob.matches(glob, long))
    assert.isBelow(took(), 2000)
  })
})
