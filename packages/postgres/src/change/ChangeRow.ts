/**
 * A change as rows: what is written to now and then, its revisions, each of which is written once, and the paths of the
 * latest one, by which readers find it.
 */
import { Change, type ChangeStatusName, Changeset, statusName } from "@castellan/core/change/Change"
import type { ChangeCounts, ChangeSelection } from "@castellan/core/change/ChangeStore"
import { keyOf } from "@castellan/core/folderpolicy/OwnedRanges"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { clientKey } from "../access/ClientKey.ts"
import * as Document from "../database/Document.ts"

/** A change's status, where what a folder's own exception approved is told from what people did. */
export type ChangeKind = ChangeStatusName | "auto_approved"

/** Every kind. */
export const kinds: ReadonlyArray<ChangeKind> = ["draft", "open", "reserved", "approved", "auto_approved", "denied"]

/** The kind of a change. */
export const kindOf = (change: Change): ChangeKind =>
  change.autoApproved ? "auto_approved" : statusName(change.status)

/** The kinds that a selection means, each once. */
export const kindsOf = ({
  includeAutoApproved,
  statuses
}: Pick<ChangeSelection, "includeAutoApproved" | "statuses">): ReadonlyArray<ChangeKind> =>
  kinds.filter((kind) => {
    const status = kind === "auto_approved" ? "approved" : kind
    return (includeAutoApproved || kind !== "auto_approved") && (statuses === undefined || statuses.includes(status))
  })

/** How many changes there are of each kind. */
export type KindCounts = { readonly [Kind in ChangeKind]: number }

/** None of any kind. */
export const none: KindCounts = { draft: 0, open: 0, reserved: 0, approved: 0, auto_approved: 0, denied: 0 }

/** Numbers by kind as numbers by status. */
export const countsOf = (
  { approved, auto_approved, ...others }: KindCounts,
  { includeAutoApproved }: Pick<ChangeSelection, "includeAutoApproved">
): ChangeCounts => ({ ...others, approved: approved + (includeAutoApproved ? auto_approved : 0) })

const whole = Document.make(Change)
const withoutRevisions = Document.make(Schema.Struct(Struct.omit(Change.fields, ["changesets"])))
const revision = Document.make(Changeset)

/** What is selected of a change: its document, and the documents of its revisions, in their order. */
export interface ChangeRow {
  readonly document: unknown
  readonly changesets: unknown
}

/** The change of its row. */
export const decode = ({ changesets, document }: ChangeRow): Effect.Effect<Change> =>
  whole.decode(typeof document === "object" ? { ...document, changesets } : document)

/** The document of a change: all but its revisions. */
export const encode = (change: Change): string => withoutRevisions.encode(change)

/** The documents of revisions. */
export const encodeRevisions = (changesets: ReadonlyArray<Changeset>): ReadonlyArray<string> =>
  changesets.map(revision.encode)

/** The columns beside the document that a statement finds, sorts or checks a change by. */
export const columnsOf = (change: Change) => ({
  kind: kindOf(change),
  gitRef: change.gitRef,
  approvals: change.approvals.length,
  revisions: change.changesets.length,
  author: change.author._tag === "Member" ? change.author.memberId : null,
  client: change.author._tag === "Member" ? clientKey(change.author.clientMetadata) : null
})

/** The keys of the paths of a change's latest revision, each once. */
export const keysOf = (change: Change): ReadonlyArray<string> => [...new Set(change.paths.map(keyOf))]
