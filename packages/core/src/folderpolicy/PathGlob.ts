/**
 * Patterns of paths, as a folder's exceptions name them: `ontology/**`, `docs/*.md`, `reports/2030-??.md`.
 *
 * A pattern is matched against the whole path from the root of the library, upper and lower case apart. `*` stands for
 * any characters of one segment, none too; `?` for one character of a segment; `**`, which is a segment of its own, for
 * any number of segments, none too. Every other character stands for itself. Matching takes time in proportion to the
 * pattern's length times the path's, whatever either holds.
 *
 * Source: decisions.md §8 (`path_globs`).
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The longest pattern, in code units. */
const maxLength = 1024

/** A text is no pattern; the message says why. */
export class GlobRefusal extends Schema.TaggedError<GlobRefusal>()("GlobRefusal", {
  glob: Schema.String,
  because: Schema.String
}) {
  override get message(): string {
    return `pattern ${JSON.stringify(this.glob)} ${this.because}`
  }
}

/** One segment of a pattern: any number of segments, or the characters of one, wildcards among them. */
type GlobSegment = "**" | ReadonlyArray<string>

/** A pattern that can be matched. */
export interface PathGlob {
  readonly text: string
  readonly segments: ReadonlyArray<GlobSegment>
}

const problemOf = (text: string): string | undefined => {
  if (text === "") return "must not be empty"
  if (text.length > maxLength) return `must have at most ${maxLength} characters`
  if (!text.isWellFormed() || text.includes("\\") || text.includes("\0")) {
    return "must not hold backslashes, NUL or lone surrogates"
  }
  for (const segment of text.split("/")) {
    if (segment === "") return "must be relative to the library, without empty segments"
    if (segment === "." || segment === "..") return "must not have `.` or `..` segments"
    if (segment !== "**" && segment.includes("**")) return "must have `**` as a segment of its own only"
  }
  return undefined
}

/** The pattern that a text spells, in Unicode normalization form C, as paths are. */
export const parse = (text: string): Result.Result<PathGlob, GlobRefusal> => {
  const because = problemOf(text)
  return because === undefined
    ? Result.succeed({
        text,
        segments: text
          .normalize("NFC")
          .split("/")
          .map((segment) => (segment === "**" ? segment : Array.from(segment)))
      })
    : Result.fail(new GlobRefusal({ glob: text, because }))
}

/**
 * Whether a sequence matches a pattern in which some items stand for any run. It goes back to the last such item only,
 * which is enough: what that one leaves to later items, an earlier one could not give better.
 */
const matchesRun = <P, A>(
  pattern: ReadonlyArray<P>,
  items: ReadonlyArray<A>,
  isRun: (part: P) => boolean,
  one: (part: P, item: A) => boolean
): boolean => {
  let at = 0
  let run = -1
  let resume = 0
  let index = 0
  while (index < items.length) {
    const part = pattern[at]
    const item = items[index]
    if (part !== undefined && isRun(part)) {
      run = at
      at += 1
      resume = index
    } else if (part !== undefined && item !== undefined && one(part, item)) {
      at += 1
      index += 1
    } else if (run === -1) return false
    else {
      resume += 1
      index = resume
      at = run + 1
    }
  }
  return pattern.slice(at).every(isRun)
}

const matchesSegment = (pattern: ReadonlyArray<string>, segment: ReadonlyArray<string>): boolean =>
  matchesRun(
    pattern,
    segment,
    (part) => part === "*",
    (part, character) => part === "?" || part === character
  )

/** Whether a path matches a pattern, whole. */
export const matches = (glob: PathGlob, path: string): boolean =>
  matchesRun(
    glob.segments,
    path.split("/").map((segment) => Array.from(segment)),
    (part) => part === "**",
    (part, segment) => part !== "**" && matchesSegment(part, segment)
  )
