/**
 * A bound on what runs may use up in a day, a week or a month.
 *
 * Source: decisions.md §4 ("Budgets per organization, role and member").
 */
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"
import { MemberId } from "../member/Member.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { RoleId } from "../role/Role.ts"

/** A budget's id. */
export const BudgetId = Uuid.pipe(Schema.brand("BudgetId"))
export type BudgetId = typeof BudgetId.Type

/** Whose runs count. */
export const BudgetScope = Schema.TaggedUnion({
  /** Every run. */
  Organization: {},
  /** The runs, of all members together, that were made with the role. */
  Role: { id: RoleId },
  /** The runs that act as the member. */
  Member: { id: MemberId }
})
export type BudgetScope = typeof BudgetScope.Type

/** What is counted: input and output tokens, or the cost in millionths of the host's currency. */
export const BudgetMeasure = Schema.Literals(["tokens", "cost"])
export type BudgetMeasure = typeof BudgetMeasure.Type

/** How often the count begins again: at midnight UTC, of every day, of every Monday, or of every first of a month. */
export const BudgetPeriod = Schema.Literals(["day", "week", "month"])
export type BudgetPeriod = typeof BudgetPeriod.Type

/** How much may be used up in a period. */
export const BudgetAmount = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

/** A budget's name on the wire and in its refusal. */
export const BudgetName = Schema.Trimmed.check(Schema.isNonEmpty(), Schema.isMaxLength(100))

/** A budget of an organization. */
export class Budget extends Schema.Class<Budget>("@castellan/core/usage/Budget")({
  id: BudgetId,
  organizationId: OrganizationId,
  name: BudgetName,
  scope: BudgetScope,
  measure: BudgetMeasure,
  amount: BudgetAmount,
  period: BudgetPeriod,
  createdAt: Schema.DateTimeUtc,
  updatedAt: Schema.DateTimeUtc
}) {}
