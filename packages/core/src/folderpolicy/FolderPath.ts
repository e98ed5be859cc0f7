/**
 * The folder that a policy is for: a path of the library, or the library itself.
 *
 * Source: decisions.md §8.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as LibraryPath from "../library/LibraryPath.ts"

/** A folder of the library; the empty text is the library itself. */
export const FolderPath = Schema.Union([Schema.Literal(LibraryPath.rootFolder), LibraryPath.LibraryPath])
export type FolderPath = typeof FolderPath.Type

/** The library itself. */
export const root = LibraryPath.rootFolder

/** The folder that a text spells; `/` and the empty text are the library itself, and a slash at the end is allowed. */
export const parse = (text: string): Result.Result<FolderPath, LibraryPath.PathRefusal> =>
  text === "" || text === "/"
    ? Result.succeed(root)
    : LibraryPath.parse(text.endsWith("/") && !text.startsWith("/") ? text.slice(0, -1) : text)

/** A folder as people are shown it: `/` for the library itself. */
export const shown = (path: FolderPath): string => (path === root ? "/" : path)
