import { blobId } from "@castellan/core/library/Blob"
import * as Tree from "@castellan/core/library/Tree"
import * as TreeChange from "@castellan/core/library/TreeChange"
import * as TreeEdit from "@castellan/core/library/TreeEdit"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Random, seed } from "./Random.ts"
import * as Sample from "./Sample.ts"

const { path, tree } = Sample
const some = Tree.file(blobId(Sample.bytesOf("some")))
const put = (text: string): TreeEdit.TreeEdit => TreeEdit.put(path(text), some)
const remove = (text: string): TreeEdit.TreeEdit => TreeEdit.remove(path(text))
const paths = (of: Tree.Tree): ReadonlyArray<string> => Array.from(Tree.files(of), ([one]) => one)

describe("Tree", () => {
  const before = tree({ "a/b.md": "1", "a/c.md": "2", "docs/x/y.md": "3", "top.md": "4" })

  it("takes edits as one step", () => {
    const after = Result.getOrThrow(
      TreeEdit.apply(before, [
        remove("top.md"),
        put("top.md/inside.md"),
        remove("docs/x/y.md"),
        put("docs"),
        remove("a/b.md"),
        put("A2/b.md")
      ])
    )
    assert.deepStrictEqual(paths(after), ["A2/b.md", "a/c.md", "docs", "top.md/inside.md"])
    assert.strictEqual(after.fileCount, 4)
    assert.strictEqual(Tree.fileAt(after, path("docs")), some)
    assert.isUndefined(Tree.fileAt(after, path("a")))
    assert.isUndefined(Tree.find(after, path("docs/x")))
  })

  it("shares the folders that did not change", () => {
    const after = Result.getOrThrow(TreeEdit.apply(before, [put("a/new.md")]))
    assert.strictEqual(Tree.find(after, path("docs")), Tree.find(before, path("docs")))
    assert.notStrictEqual(Tree.find(after, path("a")), Tree.find(before, path("a")))
  })

  it("is the same tree however it came about", () => {
    const after = Result.getOrThrow(TreeEdit.apply(before, [remove("docs/x/y.md")]))
    assert.strictEqual(after.id, tree({ "top.md": "4", "a/c.md": "2", "a/b.md": "1" }).id)
    const nothing = [...Tree.files(before)].map(([one]) => TreeEdit.remove(one))
    assert.strictEqual(Result.getOrThrow(TreeEdit.apply(before, nothing)).id, Tree.empty.id)
    assert.strictEqual(Result.getOrThrow(TreeEdit.apply(before, [])), before)
  })

  const clashes: ReadonlyArray<
    readonly [name: string, edits: ReadonlyArray<TreeEdit.TreeEdit>, clashes: ReadonlyArray<object>]
  > = [
    [
      "a file that is not there",
      [remove("nope"), remove("a")],
      [
        { _tag: "NoSuchFile", path: "nope" },
        { _tag: "NoSuchFile", path: "a" }
      ]
    ],
    ["a file in a file", [put("top.md/x")], [{ _tag: "FileInTheWay", path: "top.md/x", file: "top.md" }]],
    ["a file in a file to be", [put("n"), put("n/x")], [{ _tag: "FolderInTheWay", path: "n" }]],
    ["a file for a folder", [put("docs/x")], [{ _tag: "FolderInTheWay", path: "docs/x" }]],
    ["a removal in a file", [remove("top.md/x")], [{ _tag: "NoSuchFile", path: "top.md/x" }]],
    ["O4 a file in another case", [put("a/B.MD")], [{ _tag: "NameInAnotherCase", path: "a/B.MD", other: "a/b.md" }]],
    ["O4 a folder in another case", [put("Docs/z")], [{ _tag: "NameInAnotherCase", path: "Docs", other: "docs" }]],
    [
      "O4 letters with several lower forms",
      [put("n/ΟΔΟΣ"), put("n/οδοσ")],
      [{ _tag: "NameInAnotherCase", path: "n/οδοσ", other: "n/ΟΔΟΣ" }]
    ],
    [
      "O4 letters whose upper form is another one composed",
      [put("n/\u0390"), put("n/\u03aa\u0301")],
      [{ _tag: "NameInAnotherCase", path: "n/\u03aa\u0301", other: "n/\u0390" }]
    ],
    [
      "O4 letters with a long upper form",
      [put("n/straße"), put("n/STRASSE")],
      [{ _tag: "NameInAnotherCase", path: "n/STRASSE", other: "n/straße" }]
    ]
  ]
  it.each(clashes)("refuses %s", (_, edits, expected) => {
    const refusal = Result.getOrThrow(Result.flip(TreeEdit.apply(before, edits)))
    assert.deepStrictEqual(
      refusal.clashes.map((clash) => ({ ...clash })),
      expected
    )
  })

  it("takes a file that only changes its case", () => {
    const after = Result.getOrThrow(TreeEdit.apply(before, [remove("docs/x/y.md"), put("Docs/x/y.md")]))
    assert.deepStrictEqual(paths(after), ["Docs/x/y.md", "a/b.md", "a/c.md", "top.md"])
  })

  it("O16 is pruned to the paths that somebody may have", () => {
    const pruned = Tree.prune(before, (one) => one.startsWith("a/") || one === "docs/x/y.md")
    assert.deepStrictEqual(paths(pruned), ["a/b.md", "a/c.md", "docs/x/y.md"])
    assert.strictEqual(Tree.find(pruned, path("docs")), Tree.find(before, path("docs")))
    assert.strictEqual(
      Tree.prune(before, () => true),
      before
    )
    assert.strictEqual(Tree.prune(before, () => false).id, Tree.empty.id)
  })
})

describe("TreeChange", () => {
  const told = (before: Tree.Tree, after: Tree.Tree): ReadonlyArray<string> =>
    TreeChange.withRenames(TreeChange.changes(before, after)).map((change) =>
      change._tag === "Renamed" ? `Renamed ${change.from} ${change.path}` : `${change._tag} ${change.path}`
    )

  it("tells what came, went, changed and moved, in the order of the paths", () => {
    const before = tree({ a: "1", "b/x": "2", "b/y": "3", c: "4", "d/e": "5" })
    const after = tree({ "a/f": "6", "b/x": "2", "b/y": { mode: "100755", contents: "3" }, "m/c": "4", d: "7" })
    assert.deepStrictEqual(told(before, after), [
      "Removed a",
      "Added a/f",
      "Modified b/y",
      "Added d",
      "Removed d/e",
      "Renamed c m/c"
    ])
    const touched: ReadonlyArray<string> = TreeChange.touchedPaths(
      TreeChange.withRenames(TreeChange.changes(before, after))
    )
    assert.deepStrictEqual(touched, ["a", "a/f", "b/y", "d", "d/e", "c", "m/c"])
  })

  it("O5, M4 a rename has both its paths; names that stay go together first, and empty files tell nothing", () => {
    const before = tree({ "old/a": "same", "old/b": "same", empty: "" })
    const after = tree({ "new/b": "same", "new/c": "same", void: "" })
    assert.deepStrictEqual(told(before, after), [
      "Removed empty",
      "Renamed old/b new/b",
      "Renamed old/a new/c",
      "Added void"
    ])
  })

  it("its edits make the one tree of the other", () => {
    const random = new Random(seed())
    const names = ["a", "b", "c", "d.md", "e"] as const
    const sample = (): Tree.Tree => {
      const files: Record<string, string> = {}
      for (let count = random.below(12); count > 0; count--) {
        const folders = Array.from({ length: random.below(3) }, () => `${random.of(names)}.d`)
        files[[...folders, random.of(names)].join("/")] = random.of(["1", "2", "3"])
      }
      return tree(files)
    }
    for (let count = 0; count < 500; count++) {
      const [before, after] = [sample(), sample()]
      const changes = TreeChange.changes(before, after)
      for (const edits of [TreeChange.editsOf(changes), TreeChange.editsOf(TreeChange.withRenames(changes))]) {
        assert.strictEqual(Result.getOrThrow(TreeEdit.apply(before, edits)).id, after.id, `seed ${random.seed}`)
      }
      assert.deepStrictEqual(changes.length === 0, before.id === after.id)
    }
  })
})
