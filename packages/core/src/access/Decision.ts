/**
 * A decision of a rule: data, with its reason. A rule looks nothing up and never throws; the service that asks
 * gathers the facts first.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { NotFound, PermissionDenied } from "../error/Failure.ts"

/** Why a rule denied, for machines. */
export const DenyReason = Schema.Literals(["hidden", "permission", "access", "model_choice", "model", "connector"])
export type DenyReason = typeof DenyReason.Type

/** The outcome of a rule. */
export const Decision = Schema.TaggedUnion({
  Allow: {
    /** What the permission rested on, for `explain` and the audit log. */
    because: Schema.String
  },
  Deny: {
    reason: DenyReason,
    /** A sentence for people. */
    message: Schema.String
  }
})
export type Decision = typeof Decision.Type

/** Allows, saying what it rests on. */
export const allow = (because: string): Decision => Decision.cases.Allow.make({ because })

/** A denial. */
export type Deny = Extract<Decision, { readonly _tag: "Deny" }>

/** Denies, with a machine-readable reason and a sentence. */
export const deny = (reason: DenyReason, message: string): Deny => Decision.cases.Deny.make({ reason, message })

/** A denial as an error: what is hidden reads as not found, all else as permission denied. */
export const refusal = (denial: Deny): PermissionDenied | NotFound =>
  denial.reason === "hidden"
    ? new NotFound({ message: denial.message })
    : new PermissionDenied({ message: denial.message })

/** Goes on when allowed, and fails when denied. */
export const enforce = (decision: Decision): Effect.Effect<void, PermissionDenied | NotFound> =>
  decision._tag === "Allow" ? Effect.void : Effect.fail(refusal(decision))
