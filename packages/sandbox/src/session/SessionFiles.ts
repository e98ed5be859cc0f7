/**
 * Files of a session and its library, by commands to the supervisor.
 */
import type { LibraryFile, SandboxEntry, SandboxSession } from "@castellan/core/sandcastle/SandboxRuntime"
import { library } from "@castellan/core/sandcastle/SandboxPath"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as CommandFrame from "../protocol/CommandFrame.ts"
import { maximumLine } from "../protocol/Command.ts"
import { editsOf, isHeld } from "./LibraryEdits.ts"
import { joined } from "./Joined.ts"
import { harmlessName } from "./OutputText.ts"
import { failure } from "./SessionFailure.ts"
import type { SessionLink } from "./SessionLink.ts"
import { SessionLimits } from "./SessionLimits.ts"

/** What the port has of files. */
export type SessionFiles = Pick<SandboxSession, "diff" | "download" | "list" | "mountLibrary" | "remove" | "upload">

/** Entries of one folder that are listed. */
const maximumListed = 10_000

/** How many of the files fit into the line of one command: the first ones. */
const fitting = (files: ReadonlyArray<LibraryFile>): number => {
  const { length: frame } = CommandFrame.line({
    id: Number.MAX_SAFE_INTEGER,
    nonce: "0".repeat(32),
    order: { op: "mount", path: library, files: [], bytes: Number.MAX_SAFE_INTEGER }
  })
  let left = maximumLine - frame
  for (const [index, file] of files.entries()) {
    left -= Buffer.byteLength(JSON.stringify({ path: file.path, bytes: file.content.length })) + 1
    if (left < 0) return index
  }
  return files.length
}

/**
 * The entries of a folder as a listing tells them: what lies in it and hides from nobody. Names are a program's own: one
 * that no path of ours can have is told in escapes, by which nobody reaches it.
 */
const listed = (folder: string, entries: ReadonlyArray<{ path: string; kind: string; size: number }>) => {
  const prefix = folder === "" ? "" : `${folder}/`
  return entries
    .flatMap(({ kind, path, size }): ReadonlyArray<SandboxEntry> => {
      const name = path.slice(prefix.length)
      const isIn = path.startsWith(prefix) && name !== "" && !name.includes("/")
      if (!isIn || name.startsWith(".") || (kind !== "file" && kind !== "directory")) return []
      return [{ path: harmlessName(path), kind, size: kind === "file" ? size : 0 }]
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}

/** The files of a session. */
export const make: (link: SessionLink) => Effect.Effect<SessionFiles> = Effect.fnUntraced(function* (link) {
  const limits = yield* SessionLimits

  // Each file of a library may take its time; all of them together may not take that often.
  const comparison = Duration.times(limits.command, 2)
  const withinItsTime = Effect.timeoutOrElse({
    duration: comparison,
    orElse: () =>
      Effect.fail(
        failure("exhausted", `to look for edits of the library took longer than ${Duration.format(comparison)}`)
      )
  })

  const put = (path: string, content: Uint8Array) =>
    Effect.asVoid(link.ask({ op: "put", path, bytes: content.length }, content))

  const get = (path: string, bytes: number) =>
    Effect.map(link.ask({ op: "get", path }, undefined, { bytes }), ({ data }) => joined(data))

  const mountLibrary = Effect.fnUntraced(function* (all: ReadonlyArray<LibraryFile>) {
    const files = all.filter(isHeld)
    const first = fitting(files)
    const content = Buffer.concat(files.slice(0, first).map((file) => file.content))
    yield* link.ask(
      {
        op: "mount",
        path: library,
        files: files.slice(0, first).map((file) => ({ path: file.path, bytes: file.content.length })),
        bytes: content.length
      },
      content
    )
    for (const file of files.slice(first)) yield* put(`${library}/${file.path}`, file.content)
  })

  return {
    upload: put,
    download: (path) => get(path, limits.fileBytes),
    list: (path) =>
      Effect.map(link.ask({ op: "list", path: path ?? "" }, undefined, { entries: maximumListed }), ({ entries }) =>
        listed(path ?? "", entries)
      ),
    remove: (path) => Effect.asVoid(link.ask({ op: "remove", path })),
    mountLibrary,
    diff: Effect.fnUntraced(function* (base) {
      const maximumEntries = limits.libraryEntries
      // Where the whole folder is gone, or is no folder any more, all that it held was deleted.
      const { entries } = yield* link
        .ask({ op: "tree", path: library, maximumEntries }, undefined, { entries: maximumEntries })
        .pipe(
          Effect.catchIf(
            (error) => error.reason === "not_found",
            () => Effect.succeed({ entries: [] })
          )
        )
      const read = (path: string, bytes: number) =>
        get(`${library}/${path}`, bytes).pipe(
          Effect.catchIf(
            (error) => error.reason === "not_found",
            () => Effect.succeed(undefined)
          )
        )
      return yield* editsOf(base, entries, limits, read)
    }, withinItsTime)
  }
})
