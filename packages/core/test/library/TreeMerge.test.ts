import type { BlobContents } from "@castellan/core/library/Blob"
import { blobsToShow, conflictView } from "@castellan/core/library/ConflictView"
import { blobsToReject, type Rejected, withRejects } from "@castellan/core/library/Rejects"
import * as Tree from "@castellan/core/library/Tree"
import * as TreeChange from "@castellan/core/library/TreeChange"
import { blobsToMerge, mergeTrees, type TreeMerge, type TreeMergeSides } from "@castellan/core/library/TreeMerge"
import { unresolved } from "@castellan/core/library/Unresolved"
import * as ProcessorTime from "@castellan/testing/fixture/ProcessorTime"
import { assert, describe, it } from "@effect/vitest"
import * as Sample from "./Sample.ts"

type Files = Readonly<Record<string, Sample.Sample>>

interface Merged {
  readonly sides: TreeMergeSides
  readonly merge: TreeMerge
  readonly contents: BlobContents
}

const merged = (base: Files, head: Files, change: Files): Merged => {
  const sides = { base: Sample.tree(base), head: Sample.tree(head), change: Sample.tree(change) }
  const contents = Sample.contents(base, head, change)
  // No more is loaded than what the merge asks for: contents that it does not name would make it die.
  const asked = [...contents.entries()].filter(([id]) => blobsToMerge(sides).has(id))
  return { sides, merge: mergeTrees(sides, Sample.loaded(asked)), contents }
}

const told = ({ merge }: Merged): ReadonlyArray<string> =>
  merge.conflicts.map((conflict) => {
    const { _tag, path, ...more } = conflict
    return [_tag, path, ...Object.entries(more).map(([name, value]) => `${name}=${String(value)}`)].join(" ")
  })

const utf8 = new TextDecoder()

const text = (tree: Tree.Tree, contents: BlobContents, path: string): string | undefined => {
  const file = Tree.fileAt(tree, Sample.path(path))
  return file === undefined ? undefined : utf8.decode(contents.get(file.blob))
}

const rejected = ({ contents, merge, sides }: Merged): Rejected => {
  const asked = [...contents.entries()].filter(([id]) => blobsToReject(sides, merge).has(id))
  return withRejects(sides, merge, Sample.loaded(asked))
}

const view = ({ contents, merge, sides }: Merged): string => {
  const asked = [...contents.entries()].filter(([id]) => blobsToShow(sides, merge).has(id))
  return conflictView(sides, merge, Sample.loaded(asked))
}

const list = (tree: Tree.Tree): ReadonlyArray<string> => Array.from(Tree.files(tree), ([path]) => path)

describe("TreeMerge", () => {
  const png = (value: number): Uint8Array => Uint8Array.of(137, 0, value)
  const other = { "other.md": "o\n" }
  const moved = { "x.md": "x\n" }

  const rows: ReadonlyArray<
    readonly [name: string, base: Files, head: Files, change: Files, conflicts: ReadonlyArray<string>]
  > = [
    ["M1 an identical edit on both sides", { a: "1\n" }, { a: "2\n", b: "" }, { a: "2\n", c: "" }, []],
    ["M2 edits on adjacent lines", { a: "1\n2\n" }, { a: "x\n2\n" }, { a: "1\ny\n" }, ["BothModified a"]],
    ["M3 modified here, deleted there", { a: "1\n" }, { a: "2\n" }, { b: "n\n" }, ["RemovedButModified a"]],
    ["M3 deleted here, modified there", { a: "1\n" }, { b: "n\n" }, { a: "2\n" }, ["ModifiedButGone a"]],
    ["M3 deleted on both sides", { a: "1\n", ...other }, { ...other, b: "" }, { ...other, c: "" }, []],
    ["M4 moved by the change, edited here", { a: "1\n" }, { a: "2\n" }, { b: "1\n" }, ["Renamed a change=b"]],
    ["M4 moved here, edited by the change", { a: "1\n" }, { b: "1\n" }, { a: "2\n" }, ["Renamed a head=b"]],
    ["M4 moved by the change, deleted here", { a: "1\n" }, { c: "n\n" }, { b: "1\n" }, ["Renamed a change=b"]],
    ["M4 moved to two places", { a: "1\n" }, { b: "1\n" }, { c: "1\n" }, ["Renamed a head=b change=c"]],
    ["moved to the same place by both", { a: "1\n" }, { b: "1\n", c: "" }, { b: "1\n", d: "" }, []],
    ["M5 binary changed on both sides", { a: png(1) }, { a: png(2) }, { a: png(3) }, ["Binary a"]],
    ["M5 binary changed on one side", { a: png(1), b: "" }, { a: png(1), b: "1" }, { a: png(3), b: "" }, []],
    ["M5 a text that becomes binary", { a: "1\n" }, { a: "2\n" }, { a: png(3) }, ["Binary a"]],
    [
      "M5 bytes that are no UTF-8",
      { a: Uint8Array.of(200) },
      { a: Uint8Array.of(201) },
      { a: Uint8Array.of(202) },
      ["Binary a"]
    ],
    ["M6 the same file added by both", other, { ...other, a: "1\n", b: "" }, { ...other, a: "1\n" }, []],
    ["M6 different files added by both", other, { ...other, a: "1\n" }, { ...other, a: "2\n" }, ["BothAdded a"]],
    [
      "M6 different modes added by both",
      other,
      { ...other, a: "1\n" },
      { ...other, a: { mode: "100755", contents: "1\n" } },
      ["BothAdded a"]
    ],
    ["a mode here, contents there", { a: "1\n" }, { a: { mode: "100755", contents: "1\n" } }, { a: "2\n" }, []],
    ["a file here, a folder there", other, { ...other, a: "1\n" }, { ...other, "a/b": "2\n" }, ["FileAndFolder a/b"]],
    ["a folder here, a file there", other, { ...other, "a/b": "1\n" }, { ...other, a: "2\n" }, ["FileAndFolder a"]],
    [
      "O4 a name in another case",
      other,
      { ...other, README: "1\n" },
      { ...other, readme: "2\n" },
      ["NameInAnotherCase readme other=README"]
    ],
    [
      "O4 a folder in another case",
      other,
      { ...other, "Docs/a": "1\n" },
      { ...other, "docs/b": "2\n" },
      ["NameInAnotherCase docs other=Docs"]
    ],
    ["nothing on one side", moved, moved, { y: "x\n" }, []]
  ]
  it.each(rows)("%s", (_, base, head, change, conflicts) => {
    const of = merged(base, head, change)
    assert.deepStrictEqual(told(of), conflicts)
    // Wherever there is a conflict the head's version stays, byte for byte.
    for (const { path } of of.merge.conflicts) {
      assert.deepStrictEqual(Tree.find(of.merge.tree, path), Tree.find(of.sides.head, path))
    }
    // Whoever files the merged tree sees the head's own work untouched.
    for (const one of TreeChange.changes(of.sides.base, of.sides.head)) {
      if (one._tag === "Added") assert.isDefined(Tree.find(of.merge.tree, one.path))
    }
  })

  it("takes what each side did, and merges what both edited", () => {
    const base = { a: "1\n2\n3\n4\n5\n", gone: "g\n", "d/x": "x\n" }
    const head = { a: "one\n2\n3\n4\n5\n", gone: "g\n", "d/x": "X\n", here: "h\n" }
    const change = { a: { mode: "100755" as const, contents: "1\n2\n3\n4\nfive\n" }, "d/x": "x\n", "d/y": "y\n" }
    const of = merged(base, head, change)
    const expected = {
      a: { mode: "100755" as const, contents: "one\n2\n3\n4\nfive\n" },
      "d/x": "X\n",
      "d/y": "y\n",
      here: "h\n"
    }
    assert.deepStrictEqual(told(of), [])
    assert.strictEqual(of.merge.tree.id, Sample.tree(expected).id)
    assert.strictEqual(text(of.merge.tree, of.contents.and(of.merge.merged), "a"), expected.a.contents)
  })

  it("L11 of whole trees", () => {
    const o = { a: "1\n", "b/c": "2\n" }
    const b = { a: "2\n", "b/d": png(1) }
    const id = Sample.tree(b).id
    assert.strictEqual(merged(o, o, b).merge.tree.id, id)
    assert.strictEqual(merged(o, b, o).merge.tree.id, id)
    assert.strictEqual(merged(o, b, b).merge.tree.id, id)
  })
})

describe("withRejects", () => {
  const reject = (of: Merged, path: string): string | undefined => {
    const { added, tree } = rejected(of)
    return text(tree, of.contents.and(added), path)
  }

  it("M15 puts the change's hunks beside the head's version", () => {
    const of = merged({ "d/a": "1\n" }, { "d/a": "2\n" }, { "d/a": "3\n" })
    assert.strictEqual(text(rejected(of).tree, of.contents, "d/a"), "2\n")
    assert.strictEqual(reject(of, "d/a.rej"), "diff a/d/a b/d/a\t(rejected hunks)\n@@ -1 +1 @@\n-1\n+3\n")
  })

  it("M11 of a file that is there already", () => {
    const of = merged({ o: "" }, { o: "", a: "2\n" }, { o: "", a: "3\n" })
    assert.strictEqual(reject(of, "a.rej"), "diff a/a b/a\t(rejected hunks)\n@@ -0,0 +1 @@\n+3\n")
  })

  it("M11 of a file that is gone", () => {
    const of = merged({ a: "1\n" }, { o: "" }, { a: "2" })
    assert.strictEqual(
      reject(of, "a.rej"),
      "diff a/a b/a\t(rejected hunks)\n@@ -1 +1 @@\n-1\n+2\n\\ No newline at end of file\n"
    )
  })

  it("M11 of a file to be deleted that is another by now", () => {
    const of = merged({ a: "1\n" }, { a: "2\n" }, { o: "" })
    assert.strictEqual(reject(of, "a.rej"), "diff a/a b/a\t(rejected hunks)\n@@ -1 +0,0 @@\n-1\n")
  })

  it("M13 leaves a file of that name as it is", () => {
    const of = merged({ a: "1\n" }, { a: "2\n", "a.rej": "mine", "A.1.REJ": "mine too" }, { a: "3\n" })
    const { rejects, tree } = rejected(of)
    assert.deepStrictEqual(rejects, [{ about: Sample.path("a"), path: Sample.path("a.2.rej") }])
    assert.strictEqual(text(tree, of.contents, "a.rej"), "mine")
  })

  it("finds a place where the file itself has none", () => {
    const inFile = merged({ o: "" }, { o: "", a: "1\n" }, { o: "", "a/b": "2\n" })
    assert.deepStrictEqual(list(rejected(inFile).tree), ["a", "a.rej", "o"])
    const long = `${"d/".repeat(500)}${"n".repeat(22)}`
    const tooLong = merged({ [long]: "1\n" }, { [long]: "2\n" }, { [long]: "3\n" })
    assert.strictEqual(rejected(tooLong).rejects[0]?.path, Sample.path(`${"d/".repeat(500)}conflict.rej`))
  })

  it("M5 has nothing to say about what is no text", () => {
    const of = merged({ a: Uint8Array.of(0) }, { a: Uint8Array.of(0, 1) }, { a: Uint8Array.of(0, 2) })
    assert.deepStrictEqual(rejected(of), { tree: of.merge.tree, added: rejected(of).added, rejects: [] })
  })
})

describe("conflictView", () => {
  it("M8, M15 shows both sides between markers, with a few lines around them", () => {
    const lines = (middle: string): string => `1\n2\n3\n4\n5\n${middle}\n6\n7\n8\n9\n10\n`
    const of = merged(
      { "a.md": lines("o"), "b.png": Uint8Array.of(0) },
      { "a.md": lines("head"), "b.png": Uint8Array.of(0, 1) },
      { "a.md": lines("change"), "b.png": Uint8Array.of(0, 2) }
    )
    assert.strictEqual(
      view(of),
      [
        "a.md: the head of the library and this change both edited the same lines",
        "…\n3\n4\n5",
        "<<<<<<< head of the library\nhead\n||||||| what the change started from\no",
        "=======\nchange\n>>>>>>> this change",
        "6\n7\n8\n…",
        "",
        "b.png: the head of the library and this change both changed this file, which is not text",
        ""
      ].join("\n")
    )
  })
})

describe("unresolved", () => {
  const staged = (before: Files, after: Files): ReadonlyArray<string> =>
    unresolved(
      TreeChange.withRenames(TreeChange.changes(Sample.tree(before), Sample.tree(after))),
      Sample.contents(before, after)
    ).map(({ kind, path }) => `${kind} ${path}`)

  const markers = "a\n<<<<<<< head of the library\n1\n=======\n2\n>>>>>>> this change"
  const hunks = "x\ndiff a/a b/a\t(rejected hunks)\n@@ -1 +1 @@\n-1\n+2\n"

  const rows: ReadonlyArray<readonly [name: string, before: Files, after: Files, left: ReadonlyArray<string>]> = [
    ["M12 a reject file", {}, { "d/a.rej": "anything" }, ["RejectFile d/a.rej"]],
    ["M12 a reject file in another case", {}, { "a.REJ": "" }, ["RejectFile a.REJ"]],
    ["M12 a file moved to a reject file", { a: "text" }, { "a.rej": "text" }, ["RejectFile a.rej"]],
    ["M12 rejected hunks in another file", { a: "" }, { a: hunks }, ["RejectedHunks a"]],
    [
      "M12 rejected hunks with another line break",
      { a: "" },
      { a: hunks.replaceAll("\n", "\r\n") },
      ["RejectedHunks a"]
    ],
    ["M12 rejected hunks at the very end", {}, { a: "diff a/a b/a\t(rejected hunks)" }, ["RejectedHunks a"]],
    ["M9 a line that goes on after it", {}, { a: "diff a/a b/a\t(rejected hunks) are shown so\n" }, []],
    ["M9 a line that begins before it", {}, { a: "the diff a/a b/a\t(rejected hunks)\n" }, []],
    ["M9 a line about one side", {}, { a: "diff a/a\t(rejected hunks)\n" }, []],
    ["M12 markers of ours", {}, { a: markers }, ["ConflictMarkers a"]],
    ["M12 a reject file that goes", { "a.rej": hunks }, {}, []],
    ["M13 a file of that name that was there", { "x.rej": "mine" }, { "x.rej": "mine, edited" }, []],
    [
      "M13 a file of that name that becomes a reject file",
      { "x.rej": "mine" },
      { "x.rej": hunks },
      ["RejectedHunks x.rej"]
    ],
    ["M9 markers of somebody else", {}, { a: "<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> branch\n" }, []],
    ["M9 one of our markers", {}, { a: "<<<<<<< head of the library\n" }, []],
    ["M9 markers that were there before", { a: markers }, { a: `${markers}\nmore` }, []],
    ["bytes", {}, { a: Uint8Array.of(0, 1) }, []]
  ]
  it.each(rows)("%s", (_, before, after, left) => {
    assert.deepStrictEqual(staged(before, after), left)
  })

  it("is not slow on a line made to be", () => {
    const parts = " b/".repeat(400_000)
    const ends = "\t(rejected hunks)x".repeat(60_000)
    const took = ProcessorTime.start()
    assert.deepStrictEqual(staged({}, { a: `diff a/${parts}`, b: `diff a/${parts}${ends}`, c: ends }), [])
    assert.isBelow(took(), 5_000)
  })
})
