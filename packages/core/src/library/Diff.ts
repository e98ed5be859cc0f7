/**
 * What a change does to one file, in figures.
 *
 * Source: api-v2.md "Library change result" (Diff).
 */
import * as Schema from "effect/Schema"

/** What a change does to one file. The text of it is in the change's unified diff. */
export const Diff = Schema.Struct({
  /** The path to show: the new one, or the old one where the file is deleted. */
  name: Schema.String,
  /** Where the file was; empty where it is new. */
  oldPath: Schema.String,
  /** Where the file is; empty where it is deleted. */
  newPath: Schema.String,
  /** Lines that came; none counted in a binary. */
  additions: Schema.Int,
  /** Lines that went; none counted in a binary. */
  deletions: Schema.Int,
  isNew: Schema.Boolean,
  isDelete: Schema.Boolean,
  /** Whether the very same contents were moved here from `oldPath`. */
  isRename: Schema.Boolean,
  isBinary: Schema.Boolean
})
export type Diff = typeof Diff.Type
