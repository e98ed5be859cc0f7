/**
 * Versions of the library as changes need them: the one that is live, the trees of others, and what comes of putting a
 * change into the live one.
 *
 * Source: decisions.md §8 ("Merge is three-way against the tree's head").
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { BlobContents } from "../library/Blob.ts"
import { Commit, type Signature } from "../library/Commit.ts"
import * as ConflictView from "../library/ConflictView.ts"
import type { HeadMoved, LibraryStore } from "../library/LibraryStore.ts"
import type { CommitId } from "../library/ObjectId.ts"
import * as Rejects from "../library/Rejects.ts"
import type { Tree } from "../library/Tree.ts"
import * as TreeMerge from "../library/TreeMerge.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { ChangeConflict } from "./Change.ts"

/** A version with its files. */
export interface Version {
  readonly id: CommitId
  readonly tree: Tree
}

/** What came of putting a change into the live version. */
export interface MergeAttempt {
  /** The live version that it was tried with. */
  readonly head: Version
  /** The live version with everything of the change that could be merged. Its new contents have been kept. */
  readonly tree: Tree
  /** Empty where the merge is clean. */
  readonly conflicts: ReadonlyArray<ChangeConflict>
  /** The same tree with reject files beside what conflicts, for whoever has to resolve it. */
  readonly withRejects: Effect.Effect<Tree>
}

/** Versions of libraries in a store. */
export interface LibraryVersions {
  /** The live version. Before the first one is there, it is made: of these files. */
  readonly head: (
    organizationId: OrganizationId,
    first: Effect.Effect<{ readonly tree: Tree; readonly contents: ReadonlyArray<Uint8Array> }>
  ) => Effect.Effect<Version, HeadMoved>
  /** A version; none where there is no such one. */
  readonly version: (organizationId: OrganizationId, id: CommitId) => Effect.Effect<Option.Option<Version>>
  /** Tries to put a change, given as the tree that it makes of its base, into the live version. */
  readonly attempt: (
    organizationId: OrganizationId,
    sides: { readonly base: Tree; readonly head: Version; readonly change: Tree }
  ) => Effect.Effect<MergeAttempt>
  /** Keeps a version. */
  readonly commit: (organizationId: OrganizationId, commit: Commit, tree: Tree) => Effect.Effect<CommitId>
}

/** Who makes the first version, and whatever else no member does. */
export const signatureOfNobody = (at: DateTime.Utc): Signature => ({
  name: "Castellan",
  email: "castellan@localhost",
  at
})

/** Versions of the libraries of a store. */
export const make = (store: LibraryStore["Service"]): LibraryVersions => {
  const version = Effect.fnUntraced(function* (organizationId: OrganizationId, id: CommitId) {
    const commit = yield* store.commit(organizationId, id)
    if (Option.isNone(commit)) return Option.none<Version>()
    const tree = yield* store.tree(organizationId, commit.value.tree)
    return Option.map(tree, (found): Version => ({ id, tree: found }))
  })

  const commit = Effect.fnUntraced(function* (organizationId: OrganizationId, made: Commit, tree: Tree) {
    yield* store.addTree(organizationId, tree)
    return yield* store.addCommit(organizationId, made)
  })

  const keep = (organizationId: OrganizationId, contents: BlobContents) =>
    store.addBlobs(
      organizationId,
      Array.from(contents.entries(), ([, bytes]) => bytes)
    )

  return {
    version,
    commit,

    head: Effect.fnUntraced(function* (organizationId, first) {
      const live = yield* store.head(organizationId)
      if (Option.isSome(live)) {
        const found = yield* version(organizationId, live.value)
        if (Option.isSome(found)) return found.value
        return yield* Effect.die(new Error(`the library's head ${live.value} is not kept`))
      }
      const { contents, tree } = yield* first
      yield* store.addBlobs(organizationId, contents)
      const by = signatureOfNobody(yield* DateTime.now)
      const made = new Commit({
        tree: tree.id,
        parents: [],
        author: by,
        committer: by,
        message: "The library, as it was before its first change"
      })
      const id = yield* commit(organizationId, made, tree)
      yield* store.advance(organizationId, Option.none(), id)
      return { id, tree }
    }),

    attempt: Effect.fnUntraced(function* (organizationId, { base, change, head }) {
      const sides: TreeMerge.TreeMergeSides = { base, head: head.tree, change }
      const merge = TreeMerge.mergeTrees(sides, yield* store.blobs(organizationId, TreeMerge.blobsToMerge(sides)))
      yield* keep(organizationId, merge.merged)
      const toShow = yield* store.blobs(organizationId, ConflictView.blobsToShow(sides, merge))
      return {
        head,
        tree: merge.tree,
        conflicts: merge.conflicts.map((conflict) => ({
          path: conflict.path,
          view: ConflictView.conflictView(sides, { ...merge, conflicts: [conflict] }, toShow)
        })),
        withRejects: Effect.gen(function* () {
          const contents = yield* store.blobs(organizationId, Rejects.blobsToReject(sides, merge))
          const rejected = Rejects.withRejects(sides, merge, contents)
          yield* keep(organizationId, rejected.added)
          yield* store.addTree(organizationId, rejected.tree)
          return rejected.tree
        })
      }
    })
  }
}
