/**
 * How a change is approved, and merged as soon as its approvals are complete.
 *
 * Source: api-v2.md "POST /v2/changes/{id}/approve"; decisions.md §8; policy-cases A6 to A8, A26 to A30.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { enforce } from "../access/Decision.ts"
import type { Principal } from "../access/Principal.ts"
import type { Done } from "../audit/UseCase.ts"
import { Conflict } from "../error/Failure.ts"
import { type Situation, standing } from "./ApprovalPolicy.ts"
import type { Approval, Change } from "./Change.ts"
import { decideApprove, hasApproved, reviewedOf } from "./ChangePolicy.ts"
import { allowed, entry, replace } from "./ChangeRecord.ts"
import { advance, ChangeEvent, transition } from "./ChangeState.ts"
import type { ChangeStore } from "./ChangeStore.ts"
import { current } from "./ExpectedRef.ts"
import type { Merging } from "./Merging.ts"

/** What became of an approval. Source: api-v2.md "Approve result". */
export interface Approved {
  readonly merged: boolean
  readonly approvalCount: number
  readonly requiredApprovals: number
  /** Whether the caller had approved this revision before. */
  readonly alreadyApproved: boolean
}

/** Carries out approvals of changes that are there for the caller, reviewed at `ref`. */
export const make = (store: ChangeStore["Service"], merging: Merging) =>
  Effect.fnUntraced(function* (principal: Principal, situation: Situation, change: Change, ref: string) {
    yield* enforce(decideApprove(situation, principal, reviewedOf(change)))
    const at = yield* DateTime.now
    yield* allowed(transition(change.status, ChangeEvent.cases.Approve.make({}), at))
    yield* current(change, ref)

    const alreadyApproved = hasApproved(change, principal.memberId)
    const approval: Approval = {
      memberId: principal.memberId,
      gitRef: change.gitRef,
      at,
      ...(principal.key === undefined ? {} : { apiKeyId: principal.key.id })
    }
    const approved = alreadyApproved
      ? change
      : yield* allowed(
          advance(change, ChangeEvent.cases.Approve.make({}), at, { approvals: [...change.approvals, approval] })
        )
    const entries = alreadyApproved ? [] : [entry("approve", change, approved)]
    const reached = standing(reviewedOf(approved), situation)
    const answer: Approved = {
      merged: reached.met,
      approvalCount: reached.furthest.approvers.length,
      requiredApprovals: reached.furthest.required,
      alreadyApproved
    }
    const done = (
      outcome: Result.Result<Approved, Conflict>,
      more: Done<Approved>["entries"] = []
    ): Done<Result.Result<Approved, Conflict>> => ({ answer: outcome, entries: [...entries, ...more] })

    if (!reached.met) {
      yield* replace(store, change, approved)
      return done(Result.succeed(answer))
    }

    const attempt = yield* merging.attempt(principal.organizationId, approved.changeset)
    const conflicts = [...attempt.conflicts, ...attempt.uncompiled]
    if (conflicts.length > 0) {
      const reserved = yield* allowed(advance(approved, ChangeEvent.cases.ConflictAtMerge.make({ conflicts }), at))
      yield* replace(store, change, reserved)
      const paths = conflicts.map(({ path }) => path).join(", ")
      const message = `the change conflicts with the library, and is reserved now: ${paths}`
      // That it conflicts is kept while the caller is told, so it is no failure of the transaction.
      return done(Result.fail(new Conflict({ message })), [entry("update", approved, reserved)])
    }

    const terms = { by: principal.memberId, at, standing: reached, automatic: false }
    const merge = yield* merging.merge(approved, attempt, terms)
    const merged = yield* allowed(advance(approved, ChangeEvent.cases.Merge.make({ merge }), at))
    yield* replace(store, change, merged)
    return done(Result.succeed(answer), [entry("merge", approved, merged)])
  })
