/**
 * Paths of files in the library, from its root, in one spelling: segments parted by `/`, in Unicode normalization form
 * C. What could leave the library, hide in it, or mean another file on somebody's machine is no path, so that every
 * tree is accepted by `git fsck`, and none harms where it is checked out. A name that one system alone cannot have, as
 * `CON` or one of more than 255 bytes, is a path all the same.
 *
 * Source: decisions.md §8 ("symlinks, `..`, absolute paths, case-fold duplicates, `.git` and paths over 1,024 bytes are
 * refused"); policy-cases O1 to O4.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { excerpt } from "../text/Excerpt.ts"
import { hasControl } from "../text/OneLine.ts"
import { utf8Length } from "../text/Utf8.ts"
import { isGitName } from "./GitName.ts"

/** The longest path, in bytes of UTF-8. */
export const maxPathBytes = 1024

/** The rules of a path, in the order in which they are checked. */
export const PathRule = Schema.Literals([
  "Empty",
  "Surrogate",
  "Control",
  "Backslash",
  "Absolute",
  "TooLong",
  "EmptySegment",
  "DotSegment",
  "ParentSegment",
  "TrailingDotOrSpace",
  "GitName"
])
export type PathRule = typeof PathRule.Type

const sentences: { readonly [Rule in PathRule]: string } = {
  Empty: "must not be empty",
  Surrogate: "must be valid Unicode, without lone surrogates",
  Control: "must not hold control or text-direction characters",
  Backslash: "must not hold a backslash",
  Absolute: "must be relative to the library",
  TooLong: `must have at most ${maxPathBytes} bytes as UTF-8`,
  EmptySegment: "must not have empty segments",
  DotSegment: "must not have a `.` segment",
  ParentSegment: "must not have a `..` segment",
  TrailingDotOrSpace: "must not have segments that end in a dot or a space",
  GitName: "must not have a segment that git keeps for itself, in any spelling"
}

/** How many characters of a text that is no path a refusal repeats: what was sent can be of any length. */
const shownCharacters = 200

/** A text is no path of the library; the message says which rule it breaks. */
export class PathRefusal extends Schema.TaggedError<PathRefusal>()("PathRefusal", {
  path: Schema.String,
  rule: PathRule
}) {
  override get message(): string {
    return `path ${JSON.stringify(excerpt(this.path, shownCharacters))} ${sentences[this.rule]}`
  }
}

const surrogate = /\p{Cs}/u

const segmentRule = (segment: string): PathRule | undefined => {
  if (segment === "") return "EmptySegment"
  if (segment === ".") return "DotSegment"
  if (segment === "..") return "ParentSegment"
  if (segment.endsWith(".") || segment.endsWith(" ")) return "TrailingDotOrSpace"
  return isGitName(segment) ? "GitName" : undefined
}

/** The first rule that a text in normalization form C breaks; nothing where it is a path. */
const brokenRule = (text: string): PathRule | undefined => {
  if (text === "") return "Empty"
  if (surrogate.test(text)) return "Surrogate"
  if (hasControl(text)) return "Control"
  if (text.includes("\\")) return "Backslash"
  if (text.startsWith("/")) return "Absolute"
  if (utf8Length(text) > maxPathBytes) return "TooLong"
  for (const segment of text.split("/")) {
    const rule = segmentRule(segment)
    if (rule !== undefined) return rule
  }
  return undefined
}

/** The path of a file or folder in the library, normalised; never the root. */
export const LibraryPath = Schema.String.check(
  Schema.makeFilter((text: string) => {
    if (text !== text.normalize("NFC")) return "must be in Unicode normalization form C"
    const rule = brokenRule(text)
    return rule === undefined ? undefined : sentences[rule]
  })
).pipe(Schema.brand("LibraryPath"))
export type LibraryPath = typeof LibraryPath.Type

/** The library itself, as a folder. */
export const rootFolder = ""

/** A folder of the library, or the library itself. */
export type LibraryFolder = LibraryPath | typeof rootFolder

/** The path that a text spells, in normalization form C; a refusal names the rule that it breaks. */
export const parse = (text: string): Result.Result<LibraryPath, PathRefusal> => {
  const normalised = text.normalize("NFC")
  const rule = brokenRule(normalised)
  return rule === undefined
    ? Result.succeed(LibraryPath.make(normalised, { disableChecks: true }))
    : Result.fail(new PathRefusal({ path: text, rule }))
}

/** The names that a path leads through, the file's own last. */
export const segments = (path: LibraryPath): ReadonlyArray<string> => path.split("/")

/** The folders that hold a path, the nearest first, the library itself last. */
export const ancestors = (path: LibraryPath): ReadonlyArray<LibraryFolder> => {
  const folders: Array<LibraryFolder> = []
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    // The beginning of a path up to a slash is a path.
    folders.push(LibraryPath.make(path.slice(0, end), { disableChecks: true }))
  }
  folders.push(rootFolder)
  return folders
}

/** Whether a path is a folder or lies in it, compared by segment: `docs-private/x` is not within `docs` (O2). */
export const isWithin = (folder: LibraryFolder, path: LibraryPath): boolean =>
  folder === rootFolder || path === folder || path.startsWith(`${folder}/`)
