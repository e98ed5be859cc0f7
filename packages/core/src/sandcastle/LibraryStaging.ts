/**
 * The context library in a sandcastle: what is mounted for its maker, and what was done to it since.
 *
 * Source: api-v2.md "Sandcastles" ("pruned to the caller's OWNERS permissions"); decisions.md §8 ("The mount holds only
 * what the caller holds OWNERS on"); policy-cases O16.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Principal } from "../access/Principal.ts"
import { Changes } from "../change/Changes.ts"
import type { Version } from "../change/LibraryVersions.ts"
import type { StagedEdit } from "../change/StagedEdit.ts"
import { FolderPolicyStore } from "../folderpolicy/FolderPolicyStore.ts"
import { holderOf, owns } from "../folderpolicy/OwnersPolicy.ts"
import * as PolicyTree from "../folderpolicy/PolicyTree.ts"
import { BlobContents, blobId } from "../library/Blob.ts"
import * as LibraryPath from "../library/LibraryPath.ts"
import { LibraryStore } from "../library/LibraryStore.ts"
import type { CommitId } from "../library/ObjectId.ts"
import * as Tree from "../library/Tree.ts"
import { changes as changesOf, type TreeChange, withRenames } from "../library/TreeChange.ts"
import * as TreeEdit from "../library/TreeEdit.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { LibraryEdit, LibraryFile } from "./SandboxRuntime.ts"
import type { LibraryMount } from "./Sandcastle.ts"

/** What a session of a principal is opened with. */
export interface Mountable {
  /** Absent where the organization has no library yet. */
  readonly mount?: LibraryMount
  readonly files: ReadonlyArray<LibraryFile>
}

/** Something in the session's library that cannot be part of a change, and why. */
export interface RejectedEdit {
  readonly path: string
  readonly reason: string
}

/** What was done to the library of a session. */
export interface StagedLibrary {
  /** What it was done to; absent where the organization had no library when the session was opened. */
  readonly mount?: LibraryMount
  readonly before: Tree.Tree
  readonly after: Tree.Tree
  readonly changes: ReadonlyArray<TreeChange>
  /** The same edits as a change of the library is proposed with: what was rejected among them, to be refused there. */
  readonly proposal: ReadonlyArray<StagedEdit>
  /** The contents of every file that changed, as it was and as it is. */
  readonly contents: BlobContents
  readonly rejected: ReadonlyArray<RejectedEdit>
}

/** The edits of a session as edits of a tree; what is no path of a library, or cannot be in one, is told apart. */
export const editsOf = (
  before: Tree.Tree,
  edits: ReadonlyArray<LibraryEdit>
): {
  readonly edits: ReadonlyArray<TreeEdit.TreeEdit>
  readonly contents: BlobContents
  readonly rejected: ReadonlyArray<RejectedEdit>
} => {
  const kept: Array<TreeEdit.TreeEdit> = []
  const contents: Array<readonly [ReturnType<typeof blobId>, Uint8Array]> = []
  const rejected: Array<RejectedEdit> = []
  for (const edit of edits) {
    if (edit._tag === "Rejected") {
      rejected.push({ path: edit.path, reason: edit.reason })
      continue
    }
    const path = LibraryPath.parse(edit.path)
    if (Result.isFailure(path)) {
      rejected.push({ path: edit.path, reason: path.failure.message })
    } else if (edit._tag === "Deleted") {
      kept.push(TreeEdit.remove(path.success))
    } else {
      const id = blobId(edit.content)
      contents.push([id, edit.content])
      // A session knows no modes: a file keeps the one that it had.
      kept.push(TreeEdit.put(path.success, Tree.file(id, Tree.fileAt(before, path.success)?.mode)))
    }
  }
  return { edits: kept, contents: BlobContents.of(contents), rejected }
}

/** The edits of a session as a change is proposed with them. What no change takes goes with its reason, and is refused. */
const proposalOf = (before: Tree.Tree, edits: ReadonlyArray<LibraryEdit>): ReadonlyArray<StagedEdit> =>
  edits.map((edit): StagedEdit => {
    switch (edit._tag) {
      case "Deleted":
        return { _tag: "Delete", path: edit.path }
      case "Rejected":
        return { _tag: "Rejected", path: edit.path, reason: edit.reason }
      default: {
        const path = LibraryPath.parse(edit.path)
        const mode = Result.isSuccess(path) ? Tree.fileAt(before, path.success)?.mode : undefined
        return { _tag: "Write", path: edit.path, content: edit.content, ...(mode === undefined ? {} : { mode }) }
      }
    }
  })

/** Applies edits one by one where they clash together, so that one that cannot be does not hide the others. */
const applied = (
  before: Tree.Tree,
  edits: ReadonlyArray<TreeEdit.TreeEdit>
): { readonly after: Tree.Tree; readonly rejected: ReadonlyArray<RejectedEdit> } => {
  const whole = TreeEdit.apply(before, edits)
  if (Result.isSuccess(whole)) return { after: whole.success, rejected: [] }
  let after = before
  const rejected: Array<RejectedEdit> = []
  for (const edit of edits.toSorted((a, b) => (a._tag === b._tag ? 0 : a._tag === "Remove" ? -1 : 1))) {
    const next = TreeEdit.apply(after, [edit])
    if (Result.isSuccess(next)) after = next.success
    else rejected.push({ path: edit.path, reason: next.failure.message })
  }
  return { after, rejected }
}

/** What was done to a tree by the edits of a session. */
export const staged = (
  mount: LibraryMount | undefined,
  before: Tree.Tree,
  contents: BlobContents,
  edits: ReadonlyArray<LibraryEdit>
): StagedLibrary => {
  const read = editsOf(before, edits)
  const { after, rejected } = applied(before, read.edits)
  return {
    ...(mount === undefined ? {} : { mount }),
    before,
    after,
    changes: withRenames(changesOf(before, after)),
    proposal: proposalOf(before, edits),
    contents: contents.and(read.contents),
    rejected: [...read.rejected, ...rejected]
  }
}

/** The library of sessions over the stores. */
export const make = Effect.gen(function* () {
  const library = yield* LibraryStore
  const changes = yield* Changes
  const policies = yield* FolderPolicyStore

  const contentsOf = Effect.fnUntraced(function* (organizationId: OrganizationId, tree: Tree.Tree) {
    const files = [...Tree.files(tree)]
    const contents = yield* library.blobs(
      organizationId,
      files.map(([, file]) => file.blob)
    )
    return {
      contents,
      files: files.map(([path, file]): LibraryFile => ({ path, content: contents.get(file.blob) }))
    }
  })

  /** What a session holds of a version, where its edits are to be edits of a tree of that version. */
  const held = Effect.fnUntraced(function* (organizationId: OrganizationId, version: Version, base: Tree.Tree) {
    const made: Mountable = {
      mount: { commit: version.id, tree: yield* library.addTree(organizationId, base) },
      files: (yield* contentsOf(organizationId, version.tree)).files
    }
    return made
  })

  /** The part of a version that a principal owns now. */
  const owned = Effect.fnUntraced(function* (principal: Principal, id: CommitId) {
    const { organizationId } = principal
    const commit = yield* library.commit(organizationId, id)
    const tree = Option.isSome(commit) ? yield* library.tree(organizationId, commit.value.tree) : Option.none()
    const policyTree = PolicyTree.make(yield* policies.list(organizationId))
    const holder = holderOf(principal)
    return Tree.prune(
      Option.getOrElse(tree, () => Tree.empty),
      (path) => owns(policyTree.governing(path), holder)
    )
  })

  /**
   * What a session goes on from where a change of it has conflicts: the live version with what could be merged, and
   * reject files. Both are edits of the live version: what was merged goes into the next revision, and a reject file
   * that is still there is refused with it.
   */
  const goingOn = Effect.fnUntraced(function* (principal: Principal, version: Version) {
    return yield* held(principal.organizationId, version, yield* owned(principal, version.id))
  })

  /** The part of the library that a principal owns now; nothing for whoever may not read it. */
  const mountable = Effect.fnUntraced(function* (principal: Principal) {
    const nothing: Mountable = { files: [] }
    if (!principal.holds("library:read")) return nothing
    const live = yield* changes.mount
    return yield* held(principal.organizationId, live, live.tree)
  })

  /** What a session was opened with. */
  const mounted = Effect.fnUntraced(function* (organizationId: OrganizationId, mount: LibraryMount | undefined) {
    const tree = mount === undefined ? Option.none() : yield* library.tree(organizationId, mount.tree)
    const before = Option.getOrElse(tree, () => Tree.empty)
    return { before, ...(yield* contentsOf(organizationId, before)) }
  })

  return { goingOn, mountable, mounted }
})
