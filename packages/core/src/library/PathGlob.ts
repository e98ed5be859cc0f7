/**
 * Patterns for paths of the library, as folder policies name them. A pattern stands for whole paths from the library's
 * root: `*` is any run of characters within a segment, `?` is one character, a segment `**` is any number of segments,
 * none included; every other character is itself, upper and lower case apart. So `docs/*.md` is a file of `docs`,
 * and `docs/**` is everything below it. Matching never goes back further than the last star, so that no pattern is slow.
 *
 * Source: decisions.md §8 (`auto_approve.path_globs`).
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { utf8Length } from "../text/Utf8.ts"
import { type LibraryPath, maxPathBytes } from "./LibraryPath.ts"

/** A text is no pattern; the message says why. */
export class PathGlobRefusal extends Schema.TaggedError<PathGlobRefusal>()("PathGlobRefusal", {
  glob: Schema.String,
  message: Schema.String
}) {}

/** A segment of a pattern: any number of segments, or one, character by character. */
type GlobSegment =
  | { readonly _tag: "AnyFolders" }
  | { readonly _tag: "Name"; readonly characters: ReadonlyArray<string> }

/** A pattern, ready to match. */
export interface PathGlob {
  readonly text: string
  readonly segments: ReadonlyArray<GlobSegment>
}

const unwritable = /[\p{Cc}\p{Cs}]/u

const brokenRule = (text: string): string | undefined => {
  if (text === "") return "must not be empty"
  if (unwritable.test(text)) return "must not hold control characters or lone surrogates"
  if (text.includes("\\")) return "must not hold a backslash"
  if (text.startsWith("/")) return "must be relative to the library"
  if (text.endsWith("/")) return "must not end in a slash: `folder/**` is everything in a folder"
  if (utf8Length(text) > maxPathBytes) return `must have at most ${maxPathBytes} bytes as UTF-8`
  for (const segment of text.split("/")) {
    if (segment === "") return "must not have empty segments"
    if (segment === "." || segment === "..") return "must not have `.` or `..` segments"
    if (segment !== "**" && segment.includes("**")) return "must have `**` as a whole segment only"
  }
  return undefined
}

/** The pattern that a text spells, in Unicode normalization form C, as paths are. */
export const parse = (text: string): Result.Result<PathGlob, PathGlobRefusal> => {
  const normalised = text.normalize("NFC")
  const message = brokenRule(normalised)
  if (message !== undefined) return Result.fail(new PathGlobRefusal({ glob: text, message }))
  const segments = normalised
    .split("/")
    .map((segment): GlobSegment =>
      segment === "**" ? { _tag: "AnyFolders" } : { _tag: "Name", characters: [...segment] }
    )
  return Result.succeed({ text: normalised, segments })
}

/** Why a text is no pattern; nothing where it is one. */
export const problem = (text: string): string | undefined => brokenRule(text.normalize("NFC"))

/** The pattern that a text spells; none where it is no pattern. */
export const ifValid = (text: string): ReadonlyArray<PathGlob> =>
  Result.match(parse(text), {
    onFailure: () => [],
    onSuccess: (glob) => [glob]
  })

/**
 * Whether a list is matched by a pattern with stars, each of which stands for any run of items. The first place where
 * the part after a star fits is as good as any later one, so only the last star is ever tried again.
 */
const matchesWithStars = <Pattern, Item>(
  pattern: ReadonlyArray<Pattern>,
  items: ReadonlyArray<Item>,
  isStar: (part: Pattern) => boolean,
  fits: (part: Pattern, item: Item) => boolean
): boolean => {
  let at = 0
  let star = -1
  let resume = 0
  for (let index = 0; index < items.length;) {
    const part = pattern[at]
    const item = items[index]
    if (part !== undefined && isStar(part)) {
      star = at++
      resume = index
    } else if (part !== undefined && item !== undefined && fits(part, item)) {
      at++
      index++
    } else if (star >= 0) {
      at = star + 1
      index = ++resume
    } else return false
  }
  return pattern.slice(at).every(isStar)
}

const matchesName = (characters: ReadonlyArray<string>, name: string): boolean =>
  matchesWithStars(
    characters,
    [...name],
    (character) => character === "*",
    (character, other) => character === "?" || character === other
  )

/** Whether a pattern stands for a path. */
export const matches = (glob: PathGlob, path: LibraryPath): boolean =>
  matchesWithStars(
    glob.segments,
    path.split("/"),
    (segment) => segment._tag === "AnyFolders",
    (segment, name) => segment._tag === "Name" && matchesName(segment.characters, name)
  )
