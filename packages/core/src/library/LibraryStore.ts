/**
 * The port that keeps each organization's library: contents, trees and versions by their ids, and the head, which is
 * the version that is live. Nothing is ever overwritten but the head, and that only from the version that was expected.
 *
 * Source: decisions.md §8 ("One versioned tree per organization"; "serialized per organization").
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import { blobId, BlobContents } from "./Blob.ts"
import { commitId, type Commit } from "./Commit.ts"
import { type BlobId, CommitId, type TreeId } from "./ObjectId.ts"
import type { Tree } from "./Tree.ts"

/** The head is another version than the one that was expected: somebody else moved it. */
export class HeadMoved extends Schema.TaggedError<HeadMoved>()("HeadMoved", {
  /** The version that was expected; absent where there was none. */
  expected: Schema.optionalKey(CommitId),
  /** The version that is live; absent where there is none. */
  head: Schema.optionalKey(CommitId)
}) {
  override get message(): string {
    return `the library's head is ${this.head ?? "not there"}, not ${this.expected ?? "absent"}`
  }
}

/** Keeps libraries. No answer ever holds anything of another organization. */
export class LibraryStore extends Context.Service<
  LibraryStore,
  {
    /** The version that is live; none before the first. */
    readonly head: (organizationId: OrganizationId) => Effect.Effect<Option.Option<CommitId>>
    /**
     * Makes `next` the version that is live if `expected` is the one that is: of several that expect the same one,
     * exactly one succeeds. `next` must have been added.
     */
    readonly advance: (
      organizationId: OrganizationId,
      expected: Option.Option<CommitId>,
      next: CommitId
    ) => Effect.Effect<void, HeadMoved>
    /** A version. */
    readonly commit: (organizationId: OrganizationId, id: CommitId) => Effect.Effect<Option.Option<Commit>>
    /** Keeps a version under its id, whether or not it was kept before. Its tree must have been added. */
    readonly addCommit: (organizationId: OrganizationId, commit: Commit) => Effect.Effect<CommitId>
    /** A tree, whole. */
    readonly tree: (organizationId: OrganizationId, id: TreeId) => Effect.Effect<Option.Option<Tree>>
    /** Keeps a tree with every folder in it. The contents of its files must have been added. */
    readonly addTree: (organizationId: OrganizationId, tree: Tree) => Effect.Effect<TreeId>
    /** The contents with these ids; those that are not kept are left out. */
    readonly blobs: (organizationId: OrganizationId, ids: Iterable<BlobId>) => Effect.Effect<BlobContents>
    /** Keeps contents under their ids, in the order given; equal contents are kept once. */
    readonly addBlobs: (
      organizationId: OrganizationId,
      contents: Iterable<Uint8Array>
    ) => Effect.Effect<ReadonlyArray<BlobId>>
  }
>()("@castellan/core/library/LibraryStore") {}

const same = Option.makeEquivalence<CommitId>((a, b) => a === b)

/** Keeps libraries in memory. */
export const layerMemory: Layer.Layer<LibraryStore> = Layer.effect(
  LibraryStore,
  Effect.gen(function* () {
    const heads = yield* MemoryTable.make<OrganizationId, CommitId>()
    const commits = yield* MemoryTable.make<string, Commit>()
    const trees = yield* MemoryTable.make<string, Tree>()
    const blobs = yield* MemoryTable.make<string, Uint8Array>()
    const key = (organizationId: OrganizationId, id: CommitId | TreeId | BlobId): string => `${organizationId}/${id}`
    return LibraryStore.of({
      head: heads.get,
      advance: Effect.fnUntraced(function* (organizationId, expected, next) {
        const head = yield* heads.modify((rows) => {
          const found = Option.fromUndefinedOr(rows.get(organizationId))
          return [found, same(found, expected) ? [[organizationId, next]] : []]
        })
        if (same(head, expected)) return
        return yield* new HeadMoved({
          ...(Option.isSome(expected) ? { expected: expected.value } : {}),
          ...(Option.isSome(head) ? { head: head.value } : {})
        })
      }),
      commit: (organizationId, id) => commits.get(key(organizationId, id)),
      addCommit: (organizationId, commit) => {
        const id = commitId(commit)
        return Effect.as(commits.set(key(organizationId, id), commit), id)
      },
      tree: (organizationId, id) => trees.get(key(organizationId, id)),
      addTree: (organizationId, tree) => Effect.as(trees.set(key(organizationId, tree.id), tree), tree.id),
      blobs: (organizationId, ids) =>
        Effect.map(
          Effect.forEach(new Set(ids), (id) =>
            Effect.map(blobs.get(key(organizationId, id)), (bytes) => [id, bytes] as const)
          ),
          (found) =>
            BlobContents.of(found.flatMap(([id, bytes]) => (Option.isSome(bytes) ? [[id, bytes.value] as const] : [])))
        ),
      addBlobs: (organizationId, contents) =>
        Effect.forEach(contents, (bytes) => {
          const id = blobId(bytes)
          // A copy: whoever handed the bytes in may go on writing to them.
          return Effect.as(blobs.set(key(organizationId, id), bytes.slice()), id)
        })
    })
  })
)
