/**
 * Which of the files that an execution made or changed are told of it.
 */
import type { Change } from "./HostFiles.ts"

/** Files that are told of one execution, and characters of their names together, so that they fit into a frame. */
const maximumFiles = 1_000
const maximumNames = 128 * 1024

/** The files to tell of an execution: those that it made or changed, as far as they fit; `more` where not all do. */
export const toldFiles = (
  changes: ReadonlyArray<Change>
): { readonly files: ReadonlyArray<string>; readonly more: boolean } => {
  const all = changes
    .filter(({ kind, path }) => kind === "file" && !/^(library|uploads)\//.test(path))
    .map(({ path }) => path)
    .toSorted()
  let names = 0
  const files = all.slice(0, maximumFiles).filter(({ length }) => {
    if (names + length > maximumNames) return false
    names += length
    return true
  })
  return { files, more: files.length < all.length }
}
