/**
 * Budgets on the wire.
 *
 * Source: decisions.md §4 ("Budgets per organization, role and member").
 */
import { MemberId } from "@castellan/core/member/Member"
import { RoleId } from "@castellan/core/role/Role"
import { type Budget, BudgetId, BudgetMeasure, BudgetPeriod, BudgetScope } from "@castellan/core/usage/Budget"
import type { BudgetStanding } from "@castellan/core/usage/BudgetPolicy"
import type { BudgetDraft } from "@castellan/core/usage/Budgets"
import * as Schema from "effect/Schema"
import { boundedText, count, integerBetween, listOf, oneOf, text, timestamp, uuid } from "../wire/WireValue.ts"

/** A budget. */
export const BudgetWire = Schema.Struct({
  id: uuid(BudgetId, "The budget's id"),
  name: text("The name, which a refusal says"),
  member_id: Schema.optionalKey(uuid(MemberId, "The member whose runs count")),
  role_id: Schema.optionalKey(uuid(RoleId, "The role whose runs count, of all its holders together")),
  measure: BudgetMeasure.annotate({
    description: "What is counted: `tokens`, or `cost` in millionths of the host's currency"
  }),
  amount: count("How much may be used up in a period"),
  period: BudgetPeriod.annotate({ description: "How often the count begins again, at midnight UTC" }),
  used: Schema.optionalKey(count("How much was used up in this period, where it is told")),
  period_ends_at: Schema.optionalKey(timestamp("When the count begins again, where it is told")),
  created_at: timestamp("When the budget was made"),
  updated_at: timestamp("When the budget was last changed")
}).annotate({
  identifier: "Budget",
  description: "A bound on what runs may use up: of a member, of a role, or of the whole organization"
})
export type BudgetWire = typeof BudgetWire.Type

/** The budgets of the organization. */
export const BudgetListWire = Schema.Struct({
  budgets: Schema.Array(BudgetWire).annotate({ description: "The budgets, in the order of creation" })
}).annotate({ identifier: "BudgetList", description: "The budgets of the organization" })
export type BudgetListWire = typeof BudgetListWire.Type

const scopeRule = "must not have both member_id and role_id"

/** A budget as it shall be. */
export const BudgetRequest = Schema.Struct({
  id: Schema.optionalKey(uuid(BudgetId, "The budget to keep or to change; absent, a new one is made")),
  name: boundedText({ minimum: 1, maximum: 100 }, "The name, which a refusal says"),
  member_id: Schema.optionalKey(uuid(MemberId, "The member whose runs count")),
  role_id: Schema.optionalKey(uuid(RoleId, "The role whose runs count, of all its holders together")),
  measure: oneOf(BudgetMeasure.literals, "What is counted: `tokens`, or `cost` in millionths of the host's currency"),
  amount: integerBetween(1, Number.MAX_SAFE_INTEGER, "How much may be used up in a period"),
  period: oneOf(BudgetPeriod.literals, "How often the count begins again, at midnight UTC")
})
  .annotate({
    message: "must be a JSON object",
    description: "A budget as it shall be: of a member, of a role, or, with neither, of the whole organization"
  })
  .check(
    Schema.makeFilter(({ member_id, role_id }) => member_id === undefined || role_id === undefined, {
      message: scopeRule
    })
  )
  .annotate({ identifier: "BudgetRequest" })
export type BudgetRequest = typeof BudgetRequest.Type

/** Every budget that the organization shall have. */
export const ReplaceBudgetsRequest = Schema.Struct({
  budgets: listOf(BudgetRequest, { maximum: 1_000 }, "budgets", "Every budget that the organization shall have")
}).annotate({
  identifier: "ReplaceBudgetsRequest",
  description: "Every budget that the organization shall have; one that is not named is removed",
  message: "must be a JSON object"
})
export type ReplaceBudgetsRequest = typeof ReplaceBudgetsRequest.Type

/** Whose runs a budget of a request counts. */
export const toScope = ({ member_id, role_id }: BudgetRequest): BudgetScope => {
  if (member_id !== undefined) return BudgetScope.cases.Member.make({ id: member_id })
  return role_id === undefined ? BudgetScope.cases.Organization.make({}) : BudgetScope.cases.Role.make({ id: role_id })
}

/** A budget as the wire shows it. */
export const ofBudget = (budget: Budget): BudgetWire => ({
  id: budget.id,
  name: budget.name,
  ...(budget.scope._tag === "Member" ? { member_id: budget.scope.id } : {}),
  ...(budget.scope._tag === "Role" ? { role_id: budget.scope.id } : {}),
  measure: budget.measure,
  amount: budget.amount,
  period: budget.period,
  created_at: budget.createdAt,
  updated_at: budget.updatedAt
})

/** What a budget of a request is to be, in the domain's terms. */
export const toBudgetDraft = (request: BudgetRequest): BudgetDraft => ({
  ...(request.id === undefined ? {} : { id: request.id }),
  name: request.name,
  scope: toScope(request),
  measure: request.measure,
  amount: request.amount,
  period: request.period
})

/** Budgets with what was used of them, as the wire shows them. */
export const ofStandings = (standings: ReadonlyArray<BudgetStanding>): BudgetListWire => ({
  budgets: standings.map(({ budget, span, used }) => ({ ...ofBudget(budget), used, period_ends_at: span.until }))
})

/** The budgets as the wire shows them. */
export const ofBudgets = (budgets: ReadonlyArray<Budget>): BudgetListWire => ({ budgets: budgets.map(ofBudget) })
