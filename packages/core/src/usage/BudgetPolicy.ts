/**
 * Whether another run may start within the budgets.
 *
 * Source: decisions.md §4 ("Budgets per organization, role and member: past one, a new run is 429 with a message that
 * names it").
 */
import * as DateTime from "effect/DateTime"
import { allow, type Decision, deny } from "../access/Decision.ts"
import type { Principal } from "../access/Principal.ts"
import { type Budget, type BudgetPeriod, BudgetScope } from "./Budget.ts"
import type { UsageFilter, UsageTotals } from "./UsageSums.ts"

/** A span of time: from its first moment to the one after its last. */
export interface Span {
  readonly from: DateTime.Utc
  readonly until: DateTime.Utc
}

/** A budget with what was used of it in the period that goes on. */
export interface BudgetStanding {
  readonly budget: Budget
  /** Tokens, or millionths of the host's currency, as the budget measures. */
  readonly used: number
  readonly span: Span
}

const lengths = { day: { days: 1 }, week: { weeks: 1 }, month: { months: 1 } } as const

/** The period that a moment falls into, in UTC; weeks begin on Mondays. */
export const spanOf = (period: BudgetPeriod, now: DateTime.Utc): Span => {
  const from = DateTime.startOf(now, period, { weekStartsOn: 1 })
  return { from, until: DateTime.add(from, lengths[period]) }
}

/** Whether a budget bounds the runs of a principal. */
export const bounds = (budget: Budget, principal: Principal): boolean =>
  budget.organizationId === principal.organizationId &&
  BudgetScope.match(budget.scope, {
    Organization: () => true,
    Role: ({ id }) => principal.roles.some((role) => role.id === id),
    Member: ({ id }) => id === principal.memberId
  })

/** The usage that counts for a budget in a period. */
export const filterOf = (budget: Budget, span: Span): UsageFilter =>
  BudgetScope.match(budget.scope, {
    Organization: (): UsageFilter => ({ ...span }),
    Role: ({ id }) => ({ ...span, roleId: id }),
    Member: ({ id }) => ({ ...span, memberId: id })
  })

/** What totals come to, as a budget measures. */
export const usedOf = (budget: Budget, totals: UsageTotals): number =>
  budget.measure === "tokens" ? totals.inputTokens + totals.outputTokens : totals.cost

/** Whether nothing of the budget is left. */
export const isUsedUp = (standing: BudgetStanding): boolean => standing.used >= standing.budget.amount

/**
 * The budget that stands in the way the longest, ties by id: what a refusal names, so that its promise of a better
 * moment holds.
 */
export const blocking = (standings: ReadonlyArray<BudgetStanding>): BudgetStanding | undefined =>
  standings
    .filter(isUsedUp)
    .toSorted(
      (a, b) =>
        DateTime.toEpochMillis(b.span.until) - DateTime.toEpochMillis(a.span.until) ||
        (a.budget.id < b.budget.id ? -1 : 1)
    )[0]

/** Whether another run may start, given the budgets that bound it. One that is used up is enough to deny. */
export const check = (standings: ReadonlyArray<BudgetStanding>): Decision => {
  const found = blocking(standings)
  if (found === undefined) return allow("permission", "within every budget", { budgets: standings.length })
  const { budget, span, used } = found
  return deny(
    "budget",
    `the budget "${budget.name}" is used up until ${DateTime.formatIso(span.until)}: ${used} of ${budget.amount} ` +
      (budget.measure === "tokens" ? "tokens" : "millionths of the currency"),
    { budget: budget.name, used, amount: budget.amount, period: budget.period }
  )
}
