/**
 * Files of sandcastles on the wire.
 *
 * Source: decisions.md §7 ("`GET …/{id}/files?path=`, `POST …/{id}/files`").
 */
import type { SandboxEntry } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Schema from "effect/Schema"
import { boundedText, count, text } from "../wire/WireValue.ts"

/** A file or a folder. */
export const SandcastleFileWire = Schema.Struct({
  name: text("The last part of the path"),
  path: text("The path below `/sandbox/files`"),
  type: Schema.Literals(["file", "directory"]).annotate({ description: "Whether it is a file or a folder" }),
  size: count("Bytes of a file; 0 of a folder")
}).annotate({ identifier: "SandcastleFile", description: "A file or a folder of a sandcastle" })
export type SandcastleFileWire = typeof SandcastleFileWire.Type

/** What a folder holds. */
export const SandcastleFileListWire = Schema.Struct({
  files: Schema.Array(SandcastleFileWire).annotate({
    description: "What the folder holds, in the order of the paths; dotfiles are left out"
  })
}).annotate({ identifier: "SandcastleFileList", description: "What a folder of a sandcastle holds" })
export type SandcastleFileListWire = typeof SandcastleFileListWire.Type

/** Which folder to list. */
export const ListFilesQuery = Schema.Struct({
  path: Schema.optionalKey(
    boundedText({ minimum: 0, maximum: 1_024 }, "The folder, below `/sandbox/files`; absent, that folder itself")
  )
})
export type ListFilesQuery = typeof ListFilesQuery.Type

/** A file or a folder as the wire shows it. */
export const ofEntry = (entry: SandboxEntry): SandcastleFileWire => ({
  name: entry.path.slice(entry.path.lastIndexOf("/") + 1),
  path: entry.path,
  type: entry.kind,
  size: entry.size
})

/** What a folder holds, as the wire shows it. */
export const ofEntries = (entries: ReadonlyArray<SandboxEntry>): SandcastleFileListWire => ({
  files: entries.map(ofEntry)
})
