/**
 * The life of a change: a draft, open or reserved one is revised, reviewed and merged, or denied; a denied one can be
 * restored; an approved one is part of the library and never changes again (law L10).
 *
 * Every pair of state and event has an answer; an illegal one is a refusal that says the state.
 *
 * Source: api-v2.md "States and transitions"; decisions.md §8; policy-cases A23, A24, A30, A34 to A36, A39, A40.
 */
import type * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { MemberId } from "../member/Member.ts"
import { Change, ChangeConflict, ChangeStatus, Merge } from "./Change.ts"

/** Where a changeset puts its change, first or revised. What an exception approves is open, and merged at once. */
export const Outcome = Schema.TaggedUnion({
  Draft: {},
  Open: {},
  Reserved: { conflicts: Schema.Array(ChangeConflict) }
})
export type Outcome = typeof Outcome.Type

/** What can happen to a change. */
export const ChangeEvent = Schema.TaggedUnion({
  /** The author calls a draft ready for review. */
  Submit: {},
  /** A further changeset. */
  Revise: { outcome: Outcome },
  /** An approval was given that does not merge the change. */
  Approve: {},
  /** The approvals are complete, and the change went into the library. */
  Merge: { merge: Merge },
  /** The approvals are complete, and the library contradicts the change. */
  ConflictAtMerge: { conflicts: Schema.Array(ChangeConflict) },
  Deny: { by: MemberId },
  /** Back from denied, with the conflicts that it has now. */
  Restore: { conflicts: Schema.Array(ChangeConflict) }
})
export type ChangeEvent = typeof ChangeEvent.Type

const verbs: { readonly [Tag in ChangeEvent["_tag"]]: string } = {
  Submit: "submit",
  Revise: "revise",
  Approve: "approve",
  Merge: "merge",
  ConflictAtMerge: "merge",
  Deny: "deny",
  Restore: "restore"
}

/** The change's state does not allow this. */
export class ChangeRefusal extends Schema.TaggedError<ChangeRefusal>()("ChangeRefusal", {
  state: Schema.Literals(["Draft", "Open", "Reserved", "Approved", "Denied"]),
  event: Schema.Literals(["Submit", "Revise", "Approve", "Merge", "ConflictAtMerge", "Deny", "Restore"])
}) {
  override get message(): string {
    const state = this.state === "Approved" ? "approved and merged" : this.state.toLowerCase()
    return `cannot ${verbs[this.event]} a change that is ${state}`
  }
}

/** Where a changeset puts its change: what conflicts is reserved, whatever it was meant to be (A40). */
export const outcomeOf = (draft: boolean, conflicts: ReadonlyArray<ChangeConflict>): Outcome => {
  if (conflicts.length > 0) return Outcome.cases.Reserved.make({ conflicts })
  return draft ? Outcome.cases.Draft.make({}) : Outcome.cases.Open.make({})
}

/** The status after an event at a moment. */
export const transition = (
  status: ChangeStatus,
  event: ChangeEvent,
  at: DateTime.Utc
): Result.Result<ChangeStatus, ChangeRefusal> => {
  const refuse = (): Result.Result<ChangeStatus, ChangeRefusal> =>
    Result.fail(new ChangeRefusal({ state: status._tag, event: event._tag }))
  const whenOpen = (next: () => ChangeStatus): Result.Result<ChangeStatus, ChangeRefusal> =>
    status._tag === "Open" ? Result.succeed(next()) : refuse()
  const reserved = (conflicts: ReadonlyArray<ChangeConflict>): ChangeStatus =>
    ChangeStatus.cases.Reserved.make({ conflicts })

  return ChangeEvent.match(event, {
    Submit: () => (status._tag === "Draft" ? Result.succeed(ChangeStatus.cases.Open.make({})) : refuse()),
    Revise: ({ outcome }) =>
      status._tag === "Approved" || status._tag === "Denied" ? refuse() : Result.succeed(outcome),
    Approve: () => whenOpen(() => status),
    Merge: ({ merge }) => whenOpen(() => ChangeStatus.cases.Approved.make({ merge })),
    ConflictAtMerge: ({ conflicts }) => whenOpen(() => reserved(conflicts)),
    Deny: ({ by }) =>
      status._tag === "Approved" || status._tag === "Denied"
        ? refuse()
        : Result.succeed(ChangeStatus.cases.Denied.make({ from: status._tag, by, at })),
    Restore: ({ conflicts }) => {
      if (status._tag !== "Denied") return refuse()
      if (conflicts.length > 0) return Result.succeed(reserved(conflicts))
      // What was reserved and conflicts no longer is open: its author had filed it for review.
      return Result.succeed(
        status.from === "Draft" ? ChangeStatus.cases.Draft.make({}) : ChangeStatus.cases.Open.make({})
      )
    }
  })
}

/** The change after an event at a moment, with what the event changes beside the status. */
export const advance = (
  change: Change,
  event: ChangeEvent,
  at: DateTime.Utc,
  beside: Partial<Pick<Change, "title" | "description" | "changesets" | "approvals">> = {}
): Result.Result<Change, ChangeRefusal> =>
  Result.map(
    transition(change.status, event, at),
    (status) => new Change({ ...change, ...beside, status, updatedAt: at })
  )
