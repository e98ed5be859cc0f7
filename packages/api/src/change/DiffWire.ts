/**
 * Differences of files on the wire.
 *
 * Source: api-v2.md "Library change result" (`Diff`).
 */
import type { Diff } from "@castellan/core/library/Diff"
import * as Schema from "effect/Schema"
import { count, flag, text } from "../wire/WireValue.ts"

/** What is done to one file. */
export const DiffWire = Schema.Struct({
  name: text("The path to show"),
  old_path: text("Where the file was; empty where it is new"),
  new_path: text("Where the file is; empty where it is deleted"),
  additions: count("Lines that come"),
  deletions: count("Lines that go"),
  is_new: flag("Whether the file is new"),
  is_delete: flag("Whether the file is deleted"),
  is_rename: flag("Whether the file is moved as it is"),
  is_binary: flag("Whether the file is no text")
}).annotate({ identifier: "Diff", description: "What is done to one file" })
export type DiffWire = typeof DiffWire.Type

/** The diffs of an answer. */
export const diffs = Schema.Array(DiffWire).annotate({ description: "What is done to each file" })

/** The unified diff of an answer. */
export const rawDiff = text("All of it as a unified diff, in git's format")

/** What is done to one file, as the wire shows it. */
export const ofDiff = (diff: Diff): DiffWire => ({
  name: diff.name,
  old_path: diff.oldPath,
  new_path: diff.newPath,
  additions: diff.additions,
  deletions: diff.deletions,
  is_new: diff.isNew,
  is_delete: diff.isDelete,
  is_rename: diff.isRename,
  is_binary: diff.isBinary
})
