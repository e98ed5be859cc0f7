/**
 * Paths of files in a sandcastle, relative to `/sandbox/files`. What could leave that folder, or hide in it, is no
 * path.
 *
 * Source: decisions.md §7 ("Traversal and dotfiles are 400").
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidRequest } from "../error/Failure.ts"
import { utf8Length } from "../text/Utf8.ts"

const maxBytes = 1024
const maxSegmentBytes = 255

// The names that Windows keeps for devices, whatever their extension: a session may be unpacked there.
const device = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/iu

// Control and formatting characters, lone surrogates, and what Windows refuses: a name is what it looks like.
const forbidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}<>:"|?*\\]/u

/** Why one segment of a path, or the name of a file, cannot be used; nothing when it can. */
export const segmentProblem = (segment: string): string | undefined => {
  if (segment === "") return "must not have empty segments"
  if (segment === "." || segment === "..") return "must not have `.` or `..` segments"
  if (segment.startsWith(".")) return "must not name a dotfile"
  if (forbidden.test(segment)) return 'must not have control characters or any of \\ : * ? " < > |'
  if (segment.endsWith(" ") || segment.endsWith(".")) return "must not have segments that end in a space or a dot"
  if (device.test(segment)) return "must not name a device"
  if (segment !== segment.normalize("NFC")) return "must be in Unicode normalization form C"
  if (utf8Length(segment) > maxSegmentBytes) return `must not have segments of more than ${maxSegmentBytes} bytes`
  return undefined
}

/** Why a text is no path; nothing when it is one. */
export const problem = (path: string): string | undefined => {
  if (path === "") return "must not be empty"
  if (path.startsWith("/")) return "must be relative to /sandbox/files"
  if (utf8Length(path) > maxBytes) return `must not be longer than ${maxBytes} bytes`
  for (const segment of path.split("/")) {
    const found = segmentProblem(segment)
    if (found !== undefined) return found
  }
  return undefined
}

/** A path below `/sandbox/files`, with forward slashes. */
export const SandboxPath = Schema.String.check(
  Schema.makeFilter((path: string) => problem(path), { title: "a path below /sandbox/files" })
).pipe(Schema.brand("SandboxPath"))
export type SandboxPath = typeof SandboxPath.Type

/** The path of a text, or a refusal that names the field. */
export const parse = (text: string, field = "path"): Result.Result<SandboxPath, InvalidRequest> => {
  const found = problem(text)
  return found === undefined
    ? Result.succeed(SandboxPath.make(text))
    : Result.fail(new InvalidRequest({ message: `${field}: ${found}` }))
}

/** Where uploaded files appear. */
export const uploads = "uploads"

/** Where the context library is mounted. */
export const library = "library"

/** Where what an execution displayed is kept. */
export const outputs = "outputs"
