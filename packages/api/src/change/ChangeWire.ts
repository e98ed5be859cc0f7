/**
 * Changes on the wire, as a caller is shown them.
 *
 * Source: api-v2.md "Changes"; decisions.md §8.
 */
import { ChangeId, ChangeNumber, statusName } from "@castellan/core/change/Change"
import type { Approved } from "@castellan/core/change/Approving"
import type { ChangeList } from "@castellan/core/change/Changes"
import type { ChangeView } from "@castellan/core/change/ChangeView"
import { ChatId } from "@castellan/core/chat/Chat"
import { CommitId } from "@castellan/core/library/ObjectId"
import type { Position } from "@castellan/core/page/Page"
import { MemberId } from "@castellan/core/member/Member"
import * as Schema from "effect/Schema"
import { nextPageToken, pageFields, type SealPosition } from "../wire/PageWire.ts"
import { count, flag, integerBetween, listOf, oneOf, text, timestamp, uuid } from "../wire/WireValue.ts"
import { diffs, ofDiff, rawDiff } from "./DiffWire.ts"
import { conflictText, rawDiffOf } from "./LibraryChangeWire.ts"

const statuses = ["draft", "open", "reserved", "approved", "denied"] as const

/** What a caller may do to a change. */
export const ChangeCapabilitiesWire = Schema.Struct({
  can_approve: flag("Whether the caller may approve it as it stands"),
  can_deny: flag("Whether the caller may deny it as it stands"),
  can_restore: flag("Whether the caller may restore it as it stands"),
  caller_approved: flag("Whether the caller has approved this revision")
}).annotate({ identifier: "ChangeCapabilities", description: "What the caller may do to the change" })
export type ChangeCapabilitiesWire = typeof ChangeCapabilitiesWire.Type

/** A change. */
export const ChangeWire = Schema.Struct({
  id: uuid(ChangeId, "The change's id"),
  number: ChangeNumber.annotate({ description: "The change's number in the organization" }),
  author_id: Schema.optionalKey(uuid(MemberId, "The author; absent where it cannot be told")),
  author_email: Schema.optionalKey(text("The author's e-mail address")),
  author_name: Schema.optionalKey(text("The author's name")),
  title: text("The change's title"),
  description: text("What the change is for, in Markdown"),
  status: Schema.Literals(statuses).annotate({ description: "Where the change stands" }),
  git_ref: CommitId.annotate({ description: "The commit of this revision: what `expected_git_ref` takes" }),
  revision: count("Which revision this is, from 1"),
  ai_generated: flag("Whether the service's own analyst wrote it"),
  chat_id: Schema.optionalKey(uuid(ChatId, "The chat that it was written in")),
  approval_count: count("Approvals of the folder that is furthest from its number"),
  required_approvals: count("How many that folder asks for"),
  conflicts: Schema.optionalKey(text("Where it contradicts the library, for people to read")),
  auto_approved: flag("Whether a folder's own rule approved it"),
  created_at: timestamp("When the change was made"),
  updated_at: timestamp("When anything was last done to it"),
  diffs,
  raw_diff: rawDiff,
  capabilities: ChangeCapabilitiesWire
}).annotate({ identifier: "Change", description: "A reviewable modification of the ontology or the library" })
export type ChangeWire = typeof ChangeWire.Type

/** How many changes there are in each status. */
export const ChangeCountsWire = Schema.Struct({
  draft: count("Drafts"),
  open: count("Changes that wait for approvals"),
  reserved: count("Changes that contradict the library"),
  approved: count("Changes that are part of the library"),
  denied: count("Changes that were denied")
}).annotate({ identifier: "ChangeCounts", description: "How many changes the caller sees in each status" })
export type ChangeCountsWire = typeof ChangeCountsWire.Type

/** A page of changes. */
export const ChangeListWire = Schema.Struct({
  changes: Schema.Array(ChangeWire).annotate({ description: "The changes of this page, newest first" }),
  next_page_token: nextPageToken,
  counts: ChangeCountsWire
}).annotate({ identifier: "ChangeList", description: "A page of changes" })
export type ChangeListWire = typeof ChangeListWire.Type

/** What an approval came to. */
export const ApprovalWire = Schema.Struct({
  merged: flag("Whether the change is part of the library now"),
  approval_count: count("Approvals of the folder that is furthest from its number"),
  required_approvals: count("How many that folder asks for"),
  already_approved: flag("Whether the caller had approved this revision before")
}).annotate({ identifier: "Approval", description: "What an approval came to" })
export type ApprovalWire = typeof ApprovalWire.Type

/** A change was moved. */
export const MovedChangeWire = Schema.Struct({
  success: flag("Always true"),
  change: ChangeWire
}).annotate({ identifier: "MovedChange", description: "The change as it stands now" })
export type MovedChangeWire = typeof MovedChangeWire.Type

const refRule = "must be a git reference: 40 lower-case hexadecimal digits"

/** What a reviewer has reviewed. */
export const ReviewRequest = Schema.Struct({
  expected_git_ref: Schema.String.annotate({ message: refRule })
    .check(
      Schema.isPattern(/^[0-9a-f]{40}$/u, {
        message: refRule,
        description: "The `git_ref` of the change as the caller reviewed it; a stale one is refused with 409"
      })
    )
    .pipe(Schema.decodeTo(CommitId))
}).annotate({
  identifier: "ReviewRequest",
  description: "What the caller has reviewed",
  message: "must be a JSON object"
})
export type ReviewRequest = typeof ReviewRequest.Type

/** Which changes to list. */
export const ListChangesQuery = Schema.Struct({
  status: Schema.optionalKey(
    listOf(
      oneOf(statuses, "Where changes stand"),
      { maximum: 5 },
      "statuses",
      "Only changes in this status; may be repeated"
    )
  ),
  ...pageFields("changes"),
  include_auto_approved: Schema.optionalKey(
    flag("Whether changes that a folder's own rule approved are listed too")
  ).annotateKey({ default: false })
})
export type ListChangesQuery = typeof ListChangesQuery.Type

/** Which revision of a change to show. */
export const GetChangeQuery = Schema.Struct({
  revision: Schema.optionalKey(integerBetween(1, 2_147_483_647, "The revision, from 1; absent, the latest"))
})
export type GetChangeQuery = typeof GetChangeQuery.Type

/** A change as the wire shows it. */
export const ofChange = ({
  approvalCount,
  author,
  capabilities,
  change,
  changeset,
  conflicts,
  files,
  requiredApprovals
}: ChangeView): ChangeWire => {
  const shownConflicts = conflictText(conflicts)
  return {
    id: change.id,
    number: change.number,
    ...(change.author._tag === "Member" ? { author_id: change.author.memberId } : {}),
    ...(author === undefined ? {} : { author_email: author.email }),
    ...(author?.name === undefined ? {} : { author_name: author.name }),
    title: change.title,
    description: change.description,
    status: statusName(change.status),
    git_ref: changeset.gitRef,
    revision: changeset.revision,
    ai_generated: change.aiGenerated,
    ...(change.chatId === undefined ? {} : { chat_id: change.chatId }),
    approval_count: approvalCount,
    required_approvals: requiredApprovals,
    ...(shownConflicts === undefined ? {} : { conflicts: shownConflicts }),
    auto_approved: change.autoApproved,
    created_at: change.createdAt,
    updated_at: change.updatedAt,
    diffs: files.map(({ diff }) => ofDiff(diff)),
    raw_diff: rawDiffOf(files),
    capabilities: {
      can_approve: capabilities.canApprove,
      can_deny: capabilities.canDeny,
      can_restore: capabilities.canRestore,
      caller_approved: capabilities.callerApproved
    }
  }
}

/** A page of changes as the wire shows it. */
export const ofChanges = (list: ChangeList, seal: SealPosition): ChangeListWire => ({
  changes: list.items.map(ofChange),
  ...(list.next === undefined ? {} : { next_page_token: seal(list.next) }),
  counts: list.counts
})

/** What an approval came to, as the wire shows it. */
export const ofApproved = (approved: Approved): ApprovalWire => ({
  merged: approved.merged,
  approval_count: approved.approvalCount,
  required_approvals: approved.requiredApprovals,
  already_approved: approved.alreadyApproved
})

/** A change that was moved, as the wire shows it. */
export const ofMoved = (view: ChangeView): MovedChangeWire => ({ success: true, change: ofChange(view) })

/** The part of the list that a query asks for; where its page begins is the handler's to read from the token. */
export const toChangeQuery = (query: ListChangesQuery, after: Position | undefined) => ({
  limit: query.page_size ?? 50,
  ...(after === undefined ? {} : { after }),
  ...(query.status === undefined ? {} : { statuses: query.status }),
  includeAutoApproved: query.include_auto_approved ?? false
})
