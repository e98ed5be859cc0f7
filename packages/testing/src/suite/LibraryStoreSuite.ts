/**
 * What every store of libraries keeps to.
 */
import { blobId } from "@castellan/core/library/Blob"
import { Commit, commitId } from "@castellan/core/library/Commit"
import type { LibraryPath } from "@castellan/core/library/LibraryPath"
import { parse } from "@castellan/core/library/LibraryPath"
import { LibraryStore } from "@castellan/core/library/LibraryStore"
import type { CommitId, TreeId } from "@castellan/core/library/ObjectId"
import { empty, file, files, type Tree } from "@castellan/core/library/Tree"
import { apply, put } from "@castellan/core/library/TreeEdit"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

const bytes = (...values: ReadonlyArray<number>): Uint8Array => Uint8Array.from(values)

const path = (text: string): LibraryPath => Result.getOrThrow(parse(text))

const one = bytes(0, 255, 10)
const two = bytes()

const tree: Tree = Result.getOrThrow(
  apply(empty, [
    put(path("docs/one"), file(blobId(one), "100755")),
    put(path("docs/again/one"), file(blobId(one))),
    put(path("été"), file(blobId(two)))
  ])
)

const signature = { name: "Ada", email: "ada@example.com", at: DateTime.makeUnsafe("2026-01-02T03:04:05Z") }

const commitOf = (treeId: TreeId, parents: ReadonlyArray<CommitId>, message: string): Commit =>
  new Commit({ tree: treeId, parents, author: signature, committer: signature, message })

/** Runs the contract of `LibraryStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<LibraryStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`LibraryStore (${name})`, (it) => {
    /** Adds a version without files, so that a head can point to it. */
    const version = Effect.fnUntraced(function* (
      organizationId: Effect.Success<typeof Sample.organizationId>,
      message: string
    ) {
      const store = yield* LibraryStore
      return yield* store.addCommit(organizationId, commitOf(yield* store.addTree(organizationId, empty), [], message))
    })

    it.effect("keeps contents, trees and versions under the ids that git gives them", () =>
      Effect.gen(function* () {
        const store = yield* LibraryStore
        const organization = yield* Sample.organizationId
        const ids = yield* store.addBlobs(organization, [one, two, one])
        assertSame(ids, [blobId(one), blobId(two), blobId(one)])
        assert.strictEqual(yield* store.addTree(organization, tree), tree.id)
        const commit = commitOf(tree.id, [], "The first")
        assert.strictEqual(yield* store.addCommit(organization, commit), commitId(commit))
        const child = commitOf(tree.id, [commitId(commit)], "The second")
        assert.strictEqual(yield* store.addCommit(organization, child), commitId(child))

        const contents = yield* store.blobs(organization, ids)
        assertSame([contents.get(blobId(one)), contents.get(blobId(two))], [one, two])
        const found = Option.getOrThrow(yield* store.tree(organization, tree.id))
        assert.strictEqual(found.id, tree.id)
        assertSame([...files(found)], [...files(tree)])
        assertSame(yield* store.commit(organization, commitId(child)), Option.some(child))
      })
    )

    it.effect("keeps what it was given, whatever becomes of the bytes afterwards", () =>
      Effect.gen(function* () {
        const store = yield* LibraryStore
        const organization = yield* Sample.organizationId
        const given = bytes(1, 2, 3)
        const [id] = yield* store.addBlobs(organization, [given])
        given[0] = 9
        assert.strictEqual(id, blobId(bytes(1, 2, 3)))
        assertSame(
          (yield* store.blobs(organization, [blobId(bytes(1, 2, 3))])).get(blobId(bytes(1, 2, 3))),
          bytes(1, 2, 3)
        )
      })
    )

    it.effect("can be given the same again", () =>
      Effect.gen(function* () {
        const store = yield* LibraryStore
        const organization = yield* Sample.organizationId
        for (let time = 0; time < 2; time++) {
          yield* store.addBlobs(organization, [one, two])
          yield* store.addTree(organization, tree)
          yield* store.addCommit(organization, commitOf(tree.id, [], "Again"))
        }
        assert.isTrue(Option.isSome(yield* store.tree(organization, tree.id)))
      })
    )

    it.effect("keeps a library of thousands of files whole, whoever else adds it at the same time", () =>
      Effect.gen(function* () {
        const store = yield* LibraryStore
        const organization = yield* Sample.organizationId
        const contents = Array.from({ length: 1500 }, (_, index) => bytes(index >> 8, index & 255))
        const edits = contents.map((content, index) =>
          put(path(`f${index % 40}/g${index % 7}/h${index % 3}/${index}`), file(blobId(content)))
        )
        const large = Result.getOrThrow(apply(empty, edits))
        const larger = Result.getOrThrow(apply(large, [put(path("f1/g1/h1/more"), file(blobId(one)))]))
        yield* Effect.all(
          [store.addBlobs(organization, contents), store.addBlobs(organization, [...contents, one].toReversed())],
          { concurrency: "unbounded" }
        )
        yield* Effect.forEach([large, larger, large], (added) => store.addTree(organization, added), {
          concurrency: "unbounded"
        })
        for (const added of [large, larger]) {
          const found = Option.getOrThrow(yield* store.tree(organization, added.id))
          assert.strictEqual(found.fileCount, added.fileCount)
          assertSame([...files(found)], [...files(added)])
          const ids = [...files(found)].map(([, { blob }]) => blob)
          const kept = yield* store.blobs(organization, ids)
          assert.deepStrictEqual(
            ids.filter((id) => !kept.has(id) || blobId(kept.get(id)) !== id),
            []
          )
        }
      })
    )

    it.effect("leaves out what it does not keep", () =>
      Effect.gen(function* () {
        const store = yield* LibraryStore
        const organization = yield* Sample.organizationId
        assertSame([...(yield* store.blobs(organization, [blobId(bytes(7))])).entries()], [])
        assert.isTrue(Option.isNone(yield* store.tree(organization, tree.id)))
        assert.isTrue(Option.isNone(yield* store.commit(organization, commitId(commitOf(tree.id, [], "Nowhere")))))
        assert.isTrue(Option.isNone(yield* store.head(organization)))
      })
    )

    it.effect("shows an organization nothing of another one's", () =>
      Effect.gen(function* () {
        const store = yield* LibraryStore
        const ours = yield* Sample.organizationId
        const theirs = yield* Sample.organizationId
        yield* store.addBlobs(theirs, [one, two])
        yield* store.addTree(theirs, tree)
        const id = yield* store.addCommit(theirs, commitOf(tree.id, [], "Theirs"))
        yield* store.advance(theirs, Option.none(), id)
        assert.isFalse((yield* store.blobs(ours, [blobId(one)])).has(blobId(one)))
        assert.isTrue(Option.isNone(yield* store.tree(ours, tree.id)))
        assert.isTrue(Option.isNone(yield* store.commit(ours, id)))
        assert.isTrue(Option.isNone(yield* store.head(ours)))
      })
    )

    it.effect("A28 moves the head from the version that was expected, and from no other", () =>
      Effect.gen(function* () {
        const store = yield* LibraryStore
        const organization = yield* Sample.organizationId
        const first = yield* version(organization, "first")
        const second = yield* version(organization, "second")
        yield* store.advance(organization, Option.none(), first)
        assertSame(yield* store.head(organization), Option.some(first))

        const late = yield* Effect.flip(store.advance(organization, Option.none(), second))
        assertSame([late.expected, late.head], [undefined, first])
        const wrong = yield* Effect.flip(store.advance(organization, Option.some(second), second))
        assertSame([wrong.expected, wrong.head], [second, first])
        assertSame(yield* store.head(organization), Option.some(first))

        yield* store.advance(organization, Option.some(first), second)
        assertSame(yield* store.head(organization), Option.some(second))
      })
    )

    it.effect("A28 of several who expect the same version, one moves the head", () =>
      Effect.gen(function* () {
        const store = yield* LibraryStore
        const organization = yield* Sample.organizationId
        const first = yield* version(organization, "first")
        yield* store.advance(organization, Option.none(), first)
        const nexts = yield* Effect.forEach(["a", "b", "c", "d"], (message) => version(organization, message))
        const outcomes = yield* Effect.forEach(
          nexts,
          (next) => Effect.result(store.advance(organization, Option.some(first), next)),
          { concurrency: "unbounded" }
        )
        const winners = nexts.filter((_, index) => {
          const outcome = outcomes[index]
          return outcome !== undefined && Result.isSuccess(outcome)
        })
        assert.strictEqual(winners.length, 1)
        assertSame(yield* store.head(organization), Option.fromUndefinedOr(winners[0]))
      })
    )
  })
}
