/**
 * What was done to the library of a session: what is there now against what was put there, by digests; only what differs
 * is read. Names, kinds and contents come out of the sandbox, so each is checked, and what came is what is told.
 */
import * as LibraryPath from "@castellan/core/library/LibraryPath"
import { utf8Length } from "@castellan/core/text/Utf8"
import { LibraryEdit, type LibraryFile, type SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import type { ReportedEntry } from "../protocol/Report.ts"
import { harmlessName } from "./OutputText.ts"
import type { SessionLimits } from "./SessionLimits.ts"

type Entry = typeof ReportedEntry.Type

const digestOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex")

/** Bytes of one name that a file system holds, and folders within each other that a session keeps. */
const maximumName = 255
const maximumDepth = 60

/** Whether a session can hold a file of the library. A path may be longer than file systems allow: it is left out. */
export const isHeld = ({ path }: LibraryFile): boolean => {
  const names = path.split("/")
  return names.length <= maximumDepth && names.every((name) => utf8Length(name) <= maximumName)
}

const rejected = (path: string, reason: string) => LibraryEdit.cases.Rejected.make({ path: harmlessName(path), reason })

/** Why an entry cannot be a file of a library; nothing when it can. */
const problemOf = (entry: Entry, limits: SessionLimits): string | undefined => {
  if (entry.kind === "link") return "it is a link"
  if (entry.kind !== "file") return "it is no plain file that can be read"
  const path = LibraryPath.parse(entry.path)
  if (Result.isFailure(path)) return path.failure.message
  if (path.success !== entry.path) return "its path is not in Unicode normalization form C"
  return entry.size > limits.editBytes ? `it is larger than ${limits.editBytes} bytes` : undefined
}

/** Files that are read at once: the way to the sandbox and back takes longer than most files do. */
const readAtOnce = 32

/**
 * The edits, in the order of the paths. `read` answers the content of a file of so many bytes at most, or nothing where
 * it is gone; it fails as `exhausted` where there are more. What is kept is never more than the edits may have together:
 * room is set aside for a file by its listed size, before it is read.
 */
export const editsOf: (
  base: ReadonlyArray<LibraryFile>,
  entries: ReadonlyArray<Entry>,
  limits: SessionLimits,
  read: (path: string, bytes: number) => Effect.Effect<Uint8Array | undefined, SandboxError>
) => Effect.Effect<ReadonlyArray<LibraryEdit>, SandboxError> = Effect.fnUntraced(
  function* (base, entries, limits, read) {
    const before = new Map(base.filter(isHeld).map(({ content, path }) => [String(path), digestOf(content)]))
    const now = new Map(entries.filter(({ kind }) => kind !== "directory").map((entry) => [entry.path, entry]))
    const edits: Array<LibraryEdit> = []
    const differing: Array<Entry> = []
    let left = limits.editsBytes
    for (const [path, entry] of now) {
      const was = before.get(path)
      if (entry.kind === "file" && was !== undefined && was === entry.digest) continue
      const problem = problemOf(entry, limits)
      if (problem !== undefined) edits.push(rejected(path, problem))
      else if (entry.size > left) {
        edits.push(rejected(path, `the edits together are larger than ${limits.editsBytes} bytes`))
      } else {
        left -= entry.size
        differing.push(entry)
      }
    }
    const contents = yield* Effect.forEach(
      differing,
      ({ path, size }) =>
        read(path, size).pipe(
          Effect.catchIf(
            (error) => error.reason === "exhausted",
            () => Effect.succeed("longer" as const)
          ),
          Effect.map((first) => ({ path, size, first }))
        ),
      { concurrency: readAtOnce }
    )
    for (const { first, path, size } of contents) {
      // By itself this time, so that no more than one is longer than it was listed while it is on its way.
      const content = first === "longer" ? yield* read(path, limits.editBytes) : first
      const was = before.get(path)
      if (content === undefined) {
        // It went away since it was listed: it is as if it had not been there.
        if (was !== undefined) edits.push(LibraryEdit.cases.Deleted.make({ path }))
        continue
      }
      if (content.length - size > left) {
        edits.push(rejected(path, "it grew while it was read"))
        continue
      }
      left -= Math.max(0, content.length - size)
      if (was === undefined) edits.push(LibraryEdit.cases.Added.make({ path, content }))
      else if (digestOf(content) !== was) edits.push(LibraryEdit.cases.Modified.make({ path, content }))
    }
    for (const path of before.keys()) if (!now.has(path)) edits.push(LibraryEdit.cases.Deleted.make({ path }))
    return edits.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
  }
)
