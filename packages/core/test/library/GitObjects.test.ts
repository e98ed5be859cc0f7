import { encode as encodeBlob, blobId } from "@castellan/core/library/Blob"
import { Commit, commitId, encode as encodeCommit } from "@castellan/core/library/Commit"
import type { GitObject } from "@castellan/core/library/GitObject"
import * as Tree from "@castellan/core/library/Tree"
import * as TreeObject from "@castellan/core/library/TreeObject"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Result } from "effect"
import { deflateSync } from "node:zlib"
import * as Git from "./Git.ts"
import { Random, seed } from "./Random.ts"
import * as Sample from "./Sample.ts"

const randomBytes = (random: Random): Uint8Array =>
  Uint8Array.from({ length: random.of([0, 1, 5, 63, 64, 65, 1000, 5000]) }, () => random.below(256))

// Names whose order by bytes is not their order by code units, and folders that sort after what follows their name.
const names = [
  "a",
  "a.b",
  "a-b",
  "a0",
  "ab",
  "z",
  "é",
  "\uff21",
  "😀",
  "日本",
  "a b",
  'q"uote',
  "-",
  "%s",
  "A"
] as const

const randomFiles = (random: Random): Record<string, Sample.Sample> => {
  const files: Record<string, Sample.Sample> = {}
  for (let count = 1 + random.below(12); count > 0; count--) {
    const depth = 1 + random.below(3)
    // A folder's name is never a file's, nor one in another case.
    const folders = Array.from({ length: depth - 1 }, () => `${random.of(names).toLowerCase()}.d`)
    const path = [...folders, random.of(names).toLowerCase()].join("/")
    files[path] = { mode: random.chance(0.2) ? "100755" : "100644", contents: randomBytes(random) }
  }
  return files
}

const utf8 = new TextDecoder()

describe("git objects", () => {
  it("blob ids are those of git hash-object", () =>
    Git.inFolder((folder) => {
      const random = new Random(seed())
      const blobs = Array.from({ length: 300 }, () => randomBytes(random))
      Git.git(folder, ["init", "-q"])
      Git.write(
        folder,
        blobs.map((bytes, index) => [`b${index}`, bytes] as const)
      )
      const ids = Git.git(folder, ["hash-object", "--stdin-paths"], blobs.map((_, index) => `b${index}\n`).join(""))
      assert.deepStrictEqual(blobs.map(blobId), ids.trim().split("\n"), `seed ${random.seed}`)
    }))

  it("tree ids are those of git mktree", () =>
    Git.inFolder((folder) => {
      const random = new Random(seed())
      Git.git(folder, ["init", "-q"])
      const trees = Array.from({ length: 200 }, () => Sample.tree(randomFiles(random))).flatMap((tree) => [
        ...Tree.folders(tree)
      ])
      // In any order: git sorts them.
      const input = trees.map((tree) =>
        tree
          .rows()
          .toReversed()
          .map(({ id, mode, name }) => `${mode} ${mode === "40000" ? "tree" : "blob"} ${id}\t${name}\0`)
          .join("")
      )
      const ids = Git.git(folder, ["mktree", "--missing", "--batch", "-z"], input.map((rows) => `${rows}\0`).join(""))
      assert.deepStrictEqual(
        trees.map(({ id }) => id),
        ids.trim().split("\n"),
        `seed ${random.seed}`
      )
    }))

  const at = DateTime.makeUnsafe("2026-03-04T05:06:07.890Z")

  it("commit ids are those of git commit-tree", () =>
    Git.inFolder((folder) => {
      Git.git(folder, ["init", "-q"])
      const blank = Git.git(folder, ["mktree"]).trim()
      assert.strictEqual(Tree.empty.id, blank)
      const people = [
        { name: "Ada Lovelace", email: "ada@example.com" },
        { name: "  .Ünï <Cödé>, ", email: "u@example.com" },
        { name: 'Line\nbreak "quoted"', email: "l@example.com" }
      ]
      const parents: Array<Commit> = []
      for (const [index, person] of people.entries()) {
        const commit = new Commit({
          tree: Tree.empty.id,
          parents: parents.map(commitId),
          author: { ...person, at },
          committer: { name: "Castellan", email: "library@example.com", at: DateTime.add(at, { hours: index }) },
          message: `Change ${index}\n\nWhy: é\n`
        })
        const seconds = (time: DateTime.Utc): string => `${Math.floor(time.epochMilliseconds / 1000)} +0000`
        const id = Git.git(
          folder,
          ["commit-tree", blank, ...commit.parents.flatMap((parent) => ["-p", parent])],
          commit.message,
          {
            GIT_AUTHOR_NAME: person.name,
            GIT_AUTHOR_EMAIL: person.email,
            GIT_AUTHOR_DATE: seconds(at),
            GIT_COMMITTER_NAME: commit.committer.name,
            GIT_COMMITTER_EMAIL: commit.committer.email,
            GIT_COMMITTER_DATE: seconds(commit.committer.at)
          }
        )
        assert.strictEqual(commitId(commit), id.trim())
        parents.push(commit)
      }
    }))

  it("an exported library is accepted by git fsck, and holds what was put in", () =>
    Git.inFolder((folder) => {
      const random = new Random(seed())
      Git.git(folder, ["init", "-q"])
      const commits: Array<Commit> = []
      const objects = new Map<string, GitObject>()
      let last: Record<string, Sample.Sample> = {}
      for (let version = 0; version < 20; version++) {
        last = randomFiles(random)
        const tree = Sample.tree(last)
        for (const sample of Object.values(last)) {
          const bytes = Sample.bytesOf(sample)
          objects.set(blobId(bytes), encodeBlob(bytes))
        }
        for (const one of Tree.folders(tree)) objects.set(one.id, TreeObject.encode(one.rows()))
        const signature = { name: random.of(["", "<>", "A\0b", "Ada"]), email: random.of(["", "a@b", "<x>"]), at }
        const commit = new Commit({
          tree: tree.id,
          parents: commits.slice(-1).map(commitId),
          author: signature,
          committer: signature,
          message: random.of(["", "no line break", "a\0b", "two\n\nlines\n"])
        })
        commits.push(commit)
        objects.set(commitId(commit), encodeCommit(commit))
      }
      const head = commits.map(commitId).at(-1) ?? ""
      Git.write(folder, [
        ...Array.from(
          objects,
          ([id, { bytes }]) => [`.git/objects/${id.slice(0, 2)}/${id.slice(2)}`, deflateSync(bytes)] as const
        ),
        [".git/refs/heads/main", `${head}\n`],
        [".git/HEAD", "ref: refs/heads/main\n"]
      ])
      assert.strictEqual(Git.git(folder, ["fsck", "--full", "--strict", "--no-dangling"]), "", `seed ${random.seed}`)
      Git.git(folder, ["reset", "-q", "--hard"])
      for (const [path, sample] of Object.entries(last)) {
        const expected = utf8.decode(Sample.bytesOf(sample))
        assert.strictEqual(Git.read(folder, path), expected, `${path}, seed ${random.seed}`)
      }
    }))

  it("a folder is sorted as if its name ended in a slash", () => {
    const tree = Sample.tree({ a0: "", "a/b": "", "a-": "", "a.b": "", "b-": "", "b/c": "" })
    assert.deepStrictEqual([...tree.entries.keys()], ["a-", "a.b", "a", "a0", "b-", "b"])
    const reversed = Tree.Tree.of([...tree.entries].toReversed())
    assert.strictEqual(reversed.id, tree.id)
  })

  it("a folder's object is read again as it was", () => {
    const random = new Random(seed())
    for (let count = 0; count < 50; count++) {
      for (const folder of Tree.folders(Sample.tree(randomFiles(random)))) {
        const { bytes } = TreeObject.encode(folder.rows())
        const body = bytes.subarray(bytes.indexOf(0) + 1)
        assert.deepStrictEqual(Result.getOrThrow(TreeObject.decode(body)), folder.rows(), `seed ${random.seed}`)
        if (body.length > 0) assert.isTrue(Result.isFailure(TreeObject.decode(body.subarray(0, -1))))
      }
    }
  })

  it.each([
    ["a symbolic link", "120000"],
    ["a submodule", "160000"],
    ["a mode of old", "100664"]
  ])("O7 %s is refused", (_, mode) => {
    const body = Buffer.concat([Buffer.from(`${mode} x\0`), Buffer.alloc(20, 7)])
    const refusal = Result.getOrThrow(Result.flip(TreeObject.decode(body)))
    assert.strictEqual(refusal.message, `"x" has mode ${mode}: only files and folders can be kept`)
  })
})
