/**
 * What somebody would have the library be: files that are written, and files that go. It comes from a sandbox's mount
 * of the library, or from any host that lets its users edit one.
 *
 * Source: api-v2.md "POST /v2/sandcastles/{id}/library/changes"; decisions.md §8; policy-cases O3, O7, A14.
 */
import * as Result from "effect/Result"
import { InvalidRequest } from "../error/Failure.ts"
import { blobId } from "../library/Blob.ts"
import * as LibraryPath from "../library/LibraryPath.ts"
import { file } from "../library/Tree.ts"
import { put, remove, type TreeEdit } from "../library/TreeEdit.ts"

/** The modes of files, as git writes them; symbolic links (120000) and submodules (160000) are refused. */
export type StagedMode = "100644" | "100755" | "120000" | "160000"

/** One edit, as it was staged. */
export type StagedEdit =
  | {
      readonly _tag: "Write"
      readonly path: string
      readonly content: Uint8Array
      /** An ordinary file, unless said otherwise. */
      readonly mode?: StagedMode
    }
  | { readonly _tag: "Delete"; readonly path: string }
  /** What is there that no change takes, such as a link or a file that is too large, and why. */
  | { readonly _tag: "Rejected"; readonly path: string; readonly reason: string }

/** Edits of a tree, with the contents that they bring. */
export interface ParsedEdits {
  readonly edits: ReadonlyArray<TreeEdit>
  readonly contents: ReadonlyArray<Uint8Array>
}

const invalid = (message: string): Result.Result<never, InvalidRequest> => Result.fail(new InvalidRequest({ message }))

/** Nothing was edited. Source: decisions.md §7 (the message). */
export const nothingStaged = new InvalidRequest({ message: "no staged library changes" })

const parseEdit = (
  edit: StagedEdit
): Result.Result<{ readonly edit: TreeEdit; readonly content?: Uint8Array }, InvalidRequest> =>
  Result.flatMap(
    Result.mapError(LibraryPath.parse(edit.path), ({ message }) => new InvalidRequest({ message })),
    (path): ReturnType<typeof parseEdit> => {
      if (edit._tag === "Delete") return Result.succeed({ edit: remove(path) })
      if (edit._tag === "Rejected") {
        return invalid(`path ${JSON.stringify(path)} cannot be part of a change: ${edit.reason}`)
      }
      const mode = edit.mode ?? "100644"
      if (mode === "120000") return invalid(`path ${JSON.stringify(path)} must not be a symbolic link`)
      if (mode === "160000") return invalid(`path ${JSON.stringify(path)} must not be a submodule`)
      return Result.succeed({ edit: put(path, file(blobId(edit.content), mode)), content: edit.content })
    }
  )

/** What was staged as edits of a tree. Nothing staged, a path that is none, and what is no file are refused. */
export const parse = (staged: ReadonlyArray<StagedEdit>): Result.Result<ParsedEdits, InvalidRequest> => {
  if (staged.length === 0) return Result.fail(nothingStaged)
  const edits: Array<TreeEdit> = []
  const contents: Array<Uint8Array> = []
  for (const one of staged) {
    const parsed = parseEdit(one)
    if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
    edits.push(parsed.success.edit)
    if (parsed.success.content !== undefined) contents.push(parsed.success.content)
  }
  return Result.succeed({ edits, contents })
}
