/**
 * A decision of a rule: data, with its reason and the facts it rested on. A rule looks nothing up and never throws;
 * the service that asks gathers the facts first. Decisions are never kept: each is made anew from live facts.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { NotFound, PermissionDenied } from "../error/Failure.ts"

/** What a rule allowed by, for machines. */
export const AllowReason = Schema.Literals([
  /** An effective role grants the permission, and nothing narrows it. */
  "permission",
  /** The permission is held, and the object is reached far enough. */
  "access",
  /** The thing is the caller's own: its key, its draft, its change. */
  "own",
  /** OWNERS authority on every path. */
  "ownership",
  /** The admin role stands for the authority that is asked for. */
  "administrator",
  /** No rule governs this; the author's own authority is enough. */
  "ungoverned",
  /** The rule of every governing folder is met. */
  "approved",
  /** A folder's own exception approves without an approver. */
  "auto_approved",
  /** A role in the policy's list of exemptions. */
  "exempt",
  /** The model is one that the roles allow. */
  "model"
])
export type AllowReason = typeof AllowReason.Type

/** Why a rule denied, for machines. */
export const DenyReason = Schema.Literals([
  /** The object is not visible: to the caller it does not exist. */
  "hidden",
  /** No effective role grants the permission. */
  "permission",
  /** Only the admin role may. */
  "admin_required",
  /** The object is visible, but not reached far enough. */
  "access",
  /** A role or permission that the caller does not hold cannot be handed on. */
  "not_held",
  /** A role that the key's owner does not hold cannot be assumed. */
  "owner_not_holding",
  /** A key cannot be minted for this member. */
  "target_member",
  /** Full member access cannot be given by a key that lacks it. */
  "full_member_access",
  /** Too many keys minted one another in a row. */
  "key_depth",
  /** Built-in roles are not changed. */
  "system_role",
  /** The identity provider keeps this. */
  "scim_managed",
  /** OWNERS authority is missing on a path. */
  "not_owned",
  /** The author, or whoever pushed the latest changeset, where approvers must be distinct. */
  "self_approval",
  /** An approver whose key or account is in the author's hands. */
  "controlled_by_author",
  /** Who wrote the change is not known, where approvers must be distinct. */
  "unattributed",
  /** The rule of a governing folder is not met yet. */
  "approvals_missing",
  /** The rule of a governing folder can never be met. */
  "unsatisfiable",
  /** The author of a thing alone may do this. */
  "not_author",
  /** No model is available, or this one may not be named. */
  "model",
  "model_choice",
  /** A connector is not available. */
  "connector",
  /** A row policy reads a field that the caller's metadata lacks, or cannot be applied. */
  "row_policy",
  /** The object belongs to another end user. */
  "client_metadata",
  /** A budget is used up. */
  "budget"
])
export type DenyReason = typeof DenyReason.Type

/** One fact that a decision rested on: a name, a number, an answer, or a list of names. */
export const FactValue = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Array(Schema.String)])
export type FactValue = typeof FactValue.Type

/** What a decision rested on, by name: small, fit for the audit log and for the caller. */
export const Facts = Schema.Record(Schema.String, FactValue)
export type Facts = typeof Facts.Type

/** The outcome of a rule. `message` is a sentence for people. */
export const Decision = Schema.TaggedUnion({
  Allow: { reason: AllowReason, message: Schema.String, facts: Facts },
  Deny: { reason: DenyReason, message: Schema.String, facts: Facts }
})
export type Decision = typeof Decision.Type

/** A permission to go on. */
export type Allow = Extract<Decision, { readonly _tag: "Allow" }>

/** A denial. */
export type Deny = Extract<Decision, { readonly _tag: "Deny" }>

const noFacts: Facts = {}

/** Allows, with a machine-readable reason, a sentence, and what it rested on. */
export const allow = (reason: AllowReason, message: string, facts: Facts = noFacts): Allow => ({
  _tag: "Allow",
  reason,
  message,
  facts
})

/** Denies, with a machine-readable reason, a sentence, and what it rested on. */
export const deny = (reason: DenyReason, message: string, facts: Facts = noFacts): Deny => ({
  _tag: "Deny",
  reason,
  message,
  facts
})

/** A denial as an error: what is hidden reads as not found, all else as permission denied. */
export const refusal = (denial: Deny): PermissionDenied | NotFound =>
  denial.reason === "hidden"
    ? new NotFound({ message: denial.message })
    : new PermissionDenied({ message: denial.message })

/** Goes on when allowed, and fails when denied. */
export const enforce = (decision: Decision): Effect.Effect<void, PermissionDenied | NotFound> =>
  decision._tag === "Allow" ? Effect.void : Effect.fail(refusal(decision))
