/**
 * Edits of the library that a sandcastle holds, and the change that they become.
 *
 * Source: api-v2.md "Library change result"; decisions.md §7 (`library/diff`), §8.
 */
import { type ChangeConflict, ChangeId, ChangeNumber, type FilePatch, statusName } from "@castellan/core/change/Change"
import type { ChangeView } from "@castellan/core/change/ChangeView"
import { CommitId } from "@castellan/core/library/ObjectId"
import type { LibraryDiff } from "@castellan/core/sandcastle/SandcastleFiles"
import * as Schema from "effect/Schema"
import { boundedText, flag, integerBetween, text, uuid } from "../wire/WireValue.ts"
import { diffs, ofDiff, rawDiff } from "./DiffWire.ts"

/** An edit that cannot be part of a change. */
export const RejectedEditWire = Schema.Struct({
  path: text("The path, below the library"),
  reason: text("Why it cannot")
}).annotate({ identifier: "RejectedEdit", description: "An edit that cannot be part of a change" })
export type RejectedEditWire = typeof RejectedEditWire.Type

/** What was done to the library in a sandcastle. */
export const LibraryDiffWire = Schema.Struct({
  has_changes: flag("Whether anything was done"),
  diffs,
  raw_diff: rawDiff,
  rejected: Schema.Array(RejectedEditWire).annotate({ description: "What cannot be part of a change, and why" })
}).annotate({ identifier: "LibraryDiff", description: "What was done to the library in a sandcastle" })
export type LibraryDiffWire = typeof LibraryDiffWire.Type

const titleRule = "must be a non-empty string of at most 50 characters"

const title = Schema.String.annotate({
  message: titleRule,
  description: "The change's title, at most 50 characters; required for a new change"
}).check(
  Schema.makeFilter((sent: string) => sent.trim() !== "" && Array.from(sent).length <= 50, { message: titleRule }),
  Schema.makeFilter((sent: string) => sent.isWellFormed() && !sent.includes("\0"), {
    message: "must be well-formed Unicode without NUL characters"
  })
)

/** A change to be made of what was done to the library. */
export const CreateLibraryChangeRequest = Schema.Struct({
  title: Schema.optionalKey(title),
  description: Schema.optionalKey(
    boundedText({ minimum: 0, maximum: 50_000 }, "What the change is for, in Markdown; required for a new change")
  ),
  draft: Schema.optionalKey(flag("True files a draft, which waits to be submitted")).annotateKey({ default: false }),
  change_number: Schema.optionalKey(
    integerBetween(1, 2_147_483_647, "The change to revise; absent, a new one is made").pipe(
      Schema.decodeTo(ChangeNumber)
    )
  )
}).annotate({
  identifier: "CreateLibraryChangeRequest",
  description: "A change to be made of what was done to the library, or a revision of one",
  message: "must be a JSON object"
})
export type CreateLibraryChangeRequest = typeof CreateLibraryChangeRequest.Type

/** The change that was made. */
export const LibraryChangeWire = Schema.Struct({
  change_id: uuid(ChangeId, "The change's id"),
  change_number: ChangeNumber.annotate({ description: "The change's number in the organization" }),
  status: Schema.Literals(["open", "draft", "approved", "reserved", "denied"]).annotate({
    description: "Where the change stands. `reserved`: it contradicts the library, and a further revision resolves that"
  }),
  git_ref: CommitId.annotate({ description: "The commit with the change's edits" }),
  has_conflicts: flag("Whether the change contradicts the library"),
  conflicts: Schema.optionalKey(text("Where it does, for people to read")),
  auto_approved: flag("Whether a folder's own rule approved it, so that it is live already"),
  diffs,
  raw_diff: rawDiff
}).annotate({ identifier: "LibraryChange", description: "The change that was made of the edits" })
export type LibraryChangeWire = typeof LibraryChangeWire.Type

/** All of a change as a unified diff. */
export const rawDiffOf = (files: ReadonlyArray<FilePatch>): string => files.map(({ patch }) => patch).join("")

/** What was done to the library, as the wire shows it. */
export const ofLibraryDiff = ({ diffs: shown, hasChanges, raw, rejected }: LibraryDiff): LibraryDiffWire => ({
  has_changes: hasChanges,
  diffs: shown.map(ofDiff),
  raw_diff: raw,
  rejected
})

/** Where a change contradicts the library, for people to read; nothing where it does not. */
export const conflictText = (conflicts: ReadonlyArray<ChangeConflict>): string | undefined =>
  conflicts.length === 0 ? undefined : conflicts.map(({ view }) => view).join("\n")

/** A change as its maker is shown it. */
export const ofLibraryChange = ({ change, conflicts, files }: ChangeView): LibraryChangeWire => {
  const shown = conflictText(conflicts)
  return {
    change_id: change.id,
    change_number: change.number,
    status: statusName(change.status),
    git_ref: change.gitRef,
    has_conflicts: change.status._tag === "Reserved",
    ...(shown === undefined ? {} : { conflicts: shown }),
    auto_approved: change.autoApproved,
    diffs: files.map(({ diff }) => ofDiff(diff)),
    raw_diff: rawDiffOf(files)
  }
}
