/**
 * What a decision is expected to be. Where it is another, the failure says the decision as a sentence.
 */
import type { AllowReason, Decision, DenyReason } from "@castellan/core/access/Decision"
import { explain } from "@castellan/core/access/Explanation"
import { assert } from "@effect/vitest"

/** An expectation of one decision. */
export interface DecisionExpectation {
  /** It allows, by this reason where one is named. */
  readonly toAllow: (reason?: AllowReason) => void
  /** It denies, for this reason where one is named. */
  readonly toDeny: (reason?: DenyReason) => void
}

/** Expects something of a decision. */
export const expectDecision = (decision: Decision): DecisionExpectation => {
  const check = (tag: Decision["_tag"], reason: AllowReason | DenyReason | undefined): void => {
    assert.strictEqual(decision._tag, tag, explain(decision))
    if (reason !== undefined) assert.strictEqual(decision.reason, reason, explain(decision))
  }
  return {
    toAllow: (reason) => check("Allow", reason),
    toDeny: (reason) => check("Deny", reason)
  }
}
