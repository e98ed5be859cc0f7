/**
 * A change of the library: what an author would have it be, the revisions of that, and what reviewers said.
 *
 * Source: api-v2.md "Library change result", "Changes" and "States and transitions"; decisions.md §8.
 */
import * as Schema from "effect/Schema"
import { ClientMetadata } from "../access/ClientMetadata.ts"
import { ApiKeyId } from "../apikey/ApiKey.ts"
import { ChatId } from "../chat/Chat.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { Diff } from "../library/Diff.ts"
import { LibraryPath } from "../library/LibraryPath.ts"
import { CommitId } from "../library/ObjectId.ts"
import { MemberId } from "../member/Member.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { RoleId } from "../role/Role.ts"
import { isOneLine } from "../text/OneLine.ts"

/** A change's id. */
export const ChangeId = Uuid.pipe(Schema.brand("ChangeId"))
export type ChangeId = typeof ChangeId.Type

/** A change's number within its organization: unique and gapless, from 1. */
export const ChangeNumber = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).pipe(Schema.brand("ChangeNumber"))
export type ChangeNumber = typeof ChangeNumber.Type

/** The most characters (code points) of a title. Source: api-v2.md "Limits"; policy-cases A43. */
export const titleLength = 50

/** A change's title: something visible, and no longer than {@link titleLength} code points. */
export const ChangeTitle = Schema.String.check(
  Schema.makeFilter((title: string) => title.trim() !== "" || "a title that is not empty"),
  Schema.makeFilter((title: string) => isOneLine(title) || "one line without control or text-direction characters"),
  Schema.makeFilter((title: string) => Array.from(title).length <= titleLength || `at most ${titleLength} characters`)
).pipe(Schema.brand("ChangeTitle"))
export type ChangeTitle = typeof ChangeTitle.Type

/**
 * Who wrote something. What cannot be attributed to a member is nobody's: a rule that asks for other people than the
 * author cannot be met by anybody then (policy-cases A11).
 */
export const Attribution = Schema.TaggedUnion({
  Member: {
    memberId: MemberId,
    /** The roles that the member held then, whatever its key was narrowed to (policy-cases A16, A17). */
    roles: Schema.Array(RoleId),
    /** The end user behind the key that it was done through, where the key speaks for one. */
    clientMetadata: Schema.optionalKey(ClientMetadata)
  },
  Unattributed: {}
})
export type Attribution = typeof Attribution.Type

/** What a changeset does to one path: the counts, and the text of it in git's format. */
export const FilePatch = Schema.Struct({ diff: Diff, patch: Schema.String })
export type FilePatch = typeof FilePatch.Type

/** One revision of a change. It is never changed; a revised change has one more. */
export const Changeset = Schema.Struct({
  /** From 1. */
  revision: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  /** The commit of the library with the change's edits on top of `base`. */
  gitRef: CommitId,
  /** The commit that the edits were made on. */
  base: CommitId,
  /** Who pushed this revision. */
  pusher: Attribution,
  /** Every path that it touches, each once, sorted; both ends of a rename. */
  paths: Schema.Array(LibraryPath),
  files: Schema.Array(FilePatch),
  createdAt: Schema.DateTimeUtc
})
export type Changeset = typeof Changeset.Type

/** Where a change and the library contradict each other, as people are shown it. */
export const ChangeConflict = Schema.Struct({ path: LibraryPath, view: Schema.String })
export type ChangeConflict = typeof ChangeConflict.Type

/** A reviewer's word for one revision. */
export const Approval = Schema.Struct({
  memberId: MemberId,
  /** The revision that was reviewed: an approval says nothing of another one (policy-cases A9). */
  gitRef: CommitId,
  at: Schema.DateTimeUtc,
  /** The key that it was given through, where one was. */
  apiKeyId: Schema.optionalKey(ApiKeyId)
})
export type Approval = typeof Approval.Type

/** How a change came to be part of the library. */
export const Merge = Schema.Struct({
  /** The commit of the library that holds it. */
  commit: CommitId,
  at: Schema.DateTimeUtc,
  /** Whether a folder's own exception approved it, and nobody. */
  automatic: Schema.Boolean,
  /** The approvals that counted then in the folder furthest from its number, and that number. */
  approvals: Schema.Int,
  required: Schema.Int
})
export type Merge = typeof Merge.Type

/** Where a change stands; what is approved is part of the library. */
export const ChangeStatus = Schema.TaggedUnion({
  /** Not ready for review. */
  Draft: {},
  /** Waits for its approvals. */
  Open: {},
  /** Contradicts the library; a further revision has to resolve that. */
  Reserved: { conflicts: Schema.Array(ChangeConflict) },
  /** Merged; final. */
  Approved: { merge: Merge },
  /** Denied; what was there is kept, and can be restored to what it was. */
  Denied: {
    from: Schema.Literals(["Draft", "Open", "Reserved"]),
    by: MemberId,
    at: Schema.DateTimeUtc
  }
})
export type ChangeStatus = typeof ChangeStatus.Type

/** The name of a status on the wire. */
export type ChangeStatusName = "draft" | "open" | "reserved" | "approved" | "denied"

const statusNames: { readonly [Tag in ChangeStatus["_tag"]]: ChangeStatusName } = {
  Draft: "draft",
  Open: "open",
  Reserved: "reserved",
  Approved: "approved",
  Denied: "denied"
}

/** A status as the wire names it. */
export const statusName = (status: ChangeStatus): ChangeStatusName => statusNames[status._tag]

/** A change of an organization's library. */
export class Change extends Schema.Class<Change>("@castellan/core/change/Change")({
  id: ChangeId,
  organizationId: OrganizationId,
  number: ChangeNumber,
  author: Attribution,
  title: ChangeTitle,
  /** Markdown. */
  description: Schema.String,
  status: ChangeStatus,
  /** Every revision, the first one first. */
  changesets: Schema.NonEmptyArray(Changeset),
  /** Every approval that was given, of whatever revision, in the order of their time. */
  approvals: Schema.Array(Approval),
  /** Whether the service's own analyst wrote it. */
  aiGenerated: Schema.Boolean,
  /** The chat that it was written in, where it was one. */
  chatId: Schema.optionalKey(ChatId),
  createdAt: Schema.DateTimeUtc,
  updatedAt: Schema.DateTimeUtc
}) {
  /** The latest revision. */
  get changeset(): Changeset {
    return this.changesets.at(-1) ?? this.changesets[0]
  }

  /** The commit of the latest revision: what a reviewer names as `expected_git_ref`. */
  get gitRef(): CommitId {
    return this.changeset.gitRef
  }

  /** Every path that the latest revision touches. */
  get paths(): ReadonlyArray<LibraryPath> {
    return this.changeset.paths
  }

  /** Whether a folder's own exception approved it. */
  get autoApproved(): boolean {
    return this.status._tag === "Approved" && this.status.merge.automatic
  }
}
