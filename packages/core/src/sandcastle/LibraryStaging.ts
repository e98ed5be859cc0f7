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
import { FolderPolicyStore } from "../folderpolicy/FolderPolicyStore.ts"
import { holderOf, owns } from "../folderpolicy/OwnersPolicy.ts"
import * as PolicyTree from "../folderpolicy/PolicyTree.ts"
import { BlobContents, blobId } from "../library/Blob.ts"
import * as LibraryPath from "../library/LibraryPath.ts"
import { LibraryStore } from "../library/LibraryStore.ts"
import * as Tree from "../library/Tree.ts"
import { changes, type TreeChange, withRenames } from "../library/TreeChange.ts"
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
    changes: withRenames(changes(before, after)),
    contents: contents.and(read.contents),
    rejected: [...read.rejected, ...rejected]
  }
}

/** The library of sessions over the stores. */
export const make = Effect.gen(function* () {
  const library = yield* LibraryStore
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

  /** The part of the library that a principal owns now. */
  const mountable = Effect.fnUntraced(function* (principal: Principal) {
    const { organizationId } = principal
    const nothing: Mountable = { files: [] }
    if (!principal.holds("library:read")) return nothing
    const head = yield* library.head(organizationId)
    if (Option.isNone(head)) return nothing
    const commit = yield* library.commit(organizationId, head.value)
    if (Option.isNone(commit)) return nothing
    const tree = yield* library.tree(organizationId, commit.value.tree)
    if (Option.isNone(tree)) return nothing
    const policyTree = PolicyTree.make(yield* policies.list(organizationId))
    const holder = holderOf(principal)
    const owned = Tree.prune(tree.value, (path) => owns(policyTree.governing(path), holder))
    const made: Mountable = {
      mount: { commit: head.value, tree: yield* library.addTree(organizationId, owned) },
      files: (yield* contentsOf(organizationId, owned)).files
    }
    return made
  })

  /** What a session was opened with. */
  const mounted = Effect.fnUntraced(function* (organizationId: OrganizationId, mount: LibraryMount | undefined) {
    const tree = mount === undefined ? Option.none() : yield* library.tree(organizationId, mount.tree)
    const before = Option.getOrElse(tree, () => Tree.empty)
    return { before, ...(yield* contentsOf(organizationId, before)) }
  })

  return { mountable, mounted }
})
