import { blobId } from "@castellan/core/library/Blob"
import type { Diff } from "@castellan/core/library/Diff"
import * as Tree from "@castellan/core/library/Tree"
import * as TreeChange from "@castellan/core/library/TreeChange"
import { type UnifiedDiff, unifiedDiff } from "@castellan/core/library/UnifiedDiff"
import * as ProcessorTime from "@castellan/testing/fixture/ProcessorTime"
import { assert, describe, it } from "@effect/vitest"
import * as Git from "./Git.ts"
import { Random, seed } from "./Random.ts"
import * as Sample from "./Sample.ts"
import * as Texts from "./Texts.ts"

type Files = Readonly<Record<string, Sample.Sample>>

const diffOf = (before: Files, after: Files): UnifiedDiff =>
  unifiedDiff(
    TreeChange.withRenames(TreeChange.changes(Sample.tree(before), Sample.tree(after))),
    Sample.contents(before, after)
  )

describe("UnifiedDiff", () => {
  const binary = Uint8Array.of(0, 1, 2)
  const before: Files = {
    "docs/a b.md": "1\n2\n3",
    "gone.md": "x\n",
    "été/mode.sh": "run\n",
    "moved.md": "the same\n",
    "picture.png": binary,
    'quo"te': "q\n"
  }
  const after: Files = {
    "docs/a b.md": "1\nzwei\n3",
    "empty.md": "",
    "new.md": "one\n",
    "été/mode.sh": { mode: "100755", contents: "run\n" },
    "there/moved.md": "the same\n",
    "picture.png": Uint8Array.of(0, 1, 3),
    'quo"te': "Q\n"
  }

  it("counts and names what happened to each file", () => {
    const row = (name: string, more: Partial<Diff>): Diff => ({
      name,
      oldPath: name,
      newPath: name,
      additions: 0,
      deletions: 0,
      isNew: false,
      isDelete: false,
      isRename: false,
      isBinary: false,
      ...more
    })
    assert.deepStrictEqual(diffOf(before, after).diffs, [
      row("docs/a b.md", { additions: 1, deletions: 1 }),
      row("empty.md", { oldPath: "", isNew: true }),
      row("gone.md", { newPath: "", deletions: 1, isDelete: true }),
      row("new.md", { oldPath: "", additions: 1, isNew: true }),
      row("picture.png", { isBinary: true }),
      row('quo"te', { additions: 1, deletions: 1 }),
      row("there/moved.md", { oldPath: "moved.md", isRename: true }),
      row("été/mode.sh", {})
    ])
  })

  // The ranges are those of `git diff` on the same files.
  it.each([
    [5, ["@@ -7,13 +7,13 @@"]],
    [6, ["@@ -7,14 +7,14 @@"]],
    [7, ["@@ -7,7 +7,7 @@", "@@ -15,7 +15,7 @@"]],
    [8, ["@@ -7,7 +7,7 @@", "@@ -16,7 +16,7 @@"]]
  ] as const)("changes with %i lines between them are one hunk where their surroundings touch", (between, ranges) => {
    const lines = Array.from({ length: 30 }, (_, index) => `${index + 1}\n`)
    const changed = lines.with(9, "x\n").with(10 + between, "y\n")
    const { raw } = diffOf({ a: lines.join("") }, { a: changed.join("") })
    assert.deepStrictEqual(raw.match(/^@@.*@@$/gm), [...ranges])
  })

  it("is git's own text where there is one way to tell it", () =>
    Git.inFolder((folder) => {
      Git.git(folder, ["init", "-q"])
      Git.write(
        folder,
        Object.entries(before).map(([path, sample]) => [path, Sample.bytesOf(sample)] as const)
      )
      Git.git(folder, ["add", "-A"])
      const one = Git.git(folder, ["write-tree"]).trim()
      Git.git(folder, ["rm", "-rqf", "."])
      Git.write(
        folder,
        Object.entries(after).map(([path, sample]) => [path, Sample.bytesOf(sample)] as const)
      )
      Git.git(folder, ["add", "-A"])
      Git.git(folder, ["update-index", "--chmod=+x", "été/mode.sh"])
      const two = Git.git(folder, ["write-tree"]).trim()
      assert.deepStrictEqual([Sample.tree(before).id, Sample.tree(after).id], [one, two])
      const told = Git.git(folder, ["diff-tree", "-p", "-M100%", "--full-index", one, two])
      assert.strictEqual(diffOf(before, after).raw, told)
    }))

  it("git apply makes the new tree of it", { timeout: 300_000 }, () =>
    Git.inFolder((folder) => {
      const random = new Random(seed())
      const names = ["a", "b c", "d/e", "d/f.md", "é/ü", 'x"y', "z\tq".replace("\t", "'")] as const
      const sample = (of: string): Sample.Sample => ({ mode: random.chance(0.2) ? "100755" : "100644", contents: of })
      // All inputs in one repository, each in a folder of its own, and one patch for all of them.
      const old: Record<string, Sample.Sample> = {}
      const now: Record<string, Sample.Sample> = {}
      for (let count = 0; count < 300; count++) {
        for (const name of names) {
          const { base, change } = Texts.versions(random)
          const path = `${count}/${name}`
          if (random.chance(0.8)) old[path] = sample(base)
          if (random.chance(0.2)) now[`${path}.moved`] = sample(base)
          else if (random.chance(0.8)) now[path] = sample(change)
        }
      }
      const diff = diffOf(old, now)
      assert.isTrue(diff.diffs.some(({ isRename }) => isRename))
      Git.git(folder, ["init", "-q"])
      Git.write(
        folder,
        Object.entries(old).map(([path, one]) => [path, Sample.bytesOf(one)] as const)
      )
      const index = (of: Files): string =>
        Array.from(Tree.files(Sample.tree(of)), ([path, { blob, mode }]) => `${mode} ${blob}\t${path}\0`).join("")
      Git.git(folder, ["add", "-A"])
      Git.git(folder, ["update-index", "-z", "--index-info"], index(old))
      assert.strictEqual(Git.git(folder, ["write-tree"]).trim(), Sample.tree(old).id)
      Git.git(folder, ["apply", "--cached", "--whitespace=nowarn", "-"], diff.raw)
      assert.strictEqual(Git.git(folder, ["write-tree"]).trim(), Sample.tree(now).id, `seed ${random.seed}`)
      const numbers = Git.git(folder, ["apply", "--numstat", "-z", "-"], diff.raw)
        .split("\0")
        .filter((row) => row !== "")
      assert.deepStrictEqual(
        numbers.map((row) => row.split("\t").slice(0, 2).join(" ")).toSorted(),
        diff.diffs.map(({ additions, deletions }) => `${additions} ${deletions}`).toSorted(),
        `seed ${random.seed}`
      )
    })
  )

  it("takes a bounded time on texts made to be slow, and tells the truth all the same", () => {
    const random = new Random(1)
    const shuffled = (): string => Array.from({ length: 100_000 }, () => `${random.below(50)}\n`).join("")
    const [one, two] = [shuffled(), shuffled()]
    const took = ProcessorTime.start()
    const { diffs, raw } = diffOf({ f: one }, { f: two })
    assert.isBelow(took(), 15_000)
    const lines = raw.split("\n").slice(5)
    assert.strictEqual(diffs[0]?.additions, lines.filter((line) => line.startsWith("+")).length)
    assert.strictEqual(diffs[0]?.deletions, lines.filter((line) => line.startsWith("-")).length)
    assert.include(raw, `index ${blobId(Sample.bytesOf(one))}..`)
  })
})
