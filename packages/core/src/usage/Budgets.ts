/**
 * The use cases of budgets, and the question that every new run is put to.
 *
 * Source: decisions.md §4 ("Budgets per organization, role and member: past one, a new run is 429 with a message that
 * names it").
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { enforce } from "../access/Decision.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import { UseCase } from "../audit/UseCase.ts"
import { Conflict, InvalidRequest, NotFound, type PermissionDenied, RateLimitExceeded } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import { MemberStore } from "../member/MemberStore.ts"
import { RoleStore } from "../role/RoleStore.ts"
import {
  Budget,
  BudgetAmount,
  BudgetId,
  type BudgetMeasure,
  BudgetName,
  type BudgetPeriod,
  type BudgetScope
} from "./Budget.ts"
import * as BudgetPolicy from "./BudgetPolicy.ts"
import { BudgetStore } from "./BudgetStore.ts"
import * as UsagePolicy from "./UsagePolicy.ts"
import { UsageStore } from "./UsageStore.ts"

/** A budget to make. */
export interface BudgetDraft {
  readonly name: string
  readonly scope: BudgetScope
  readonly measure: BudgetMeasure
  /** Tokens, or millionths of the host's currency. */
  readonly amount: number
  readonly period: BudgetPeriod
}

/** What to change of a budget; what is absent stays. Whose runs count, and what of them, never changes. */
export interface BudgetPatch {
  readonly name?: string
  readonly amount?: number
  readonly period?: BudgetPeriod
}

type Failure = InvalidRequest | PermissionDenied | NotFound | Conflict

/** The use cases of budgets. */
export class Budgets extends Context.Service<
  Budgets,
  {
    /**
     * Whether a new run of the principal may start. Only runs that have ended count: those that are under way at the
     * same time may go past a budget together.
     */
    readonly check: (principal: Principal) => Effect.Effect<void, RateLimitExceeded>
    /** Every budget of the organization with what was used of it, in the order of creation. */
    readonly list: Effect.Effect<
      ReadonlyArray<BudgetPolicy.BudgetStanding>,
      PermissionDenied | NotFound,
      CurrentPrincipal
    >
    /** Makes a budget. A name that another one bears is a conflict: refusals say it by its name. */
    readonly create: (draft: BudgetDraft) => Effect.Effect<Budget, Failure, CurrentPrincipal>
    readonly patch: (id: BudgetId, patch: BudgetPatch) => Effect.Effect<Budget, Failure, CurrentPrincipal>
    readonly remove: (id: BudgetId) => Effect.Effect<void, PermissionDenied | NotFound, CurrentPrincipal>
  }
>()("@castellan/core/usage/Budgets") {}

const isBudgetName = Schema.is(BudgetName)
const isBudgetAmount = Schema.is(BudgetAmount)

/** A patch with its values in their form. */
const checked = Effect.fnUntraced(function* <P extends BudgetPatch>(patch: P) {
  const name = patch.name?.trim()
  if (name !== undefined && !isBudgetName(name)) {
    return yield* new InvalidRequest({ message: "name: must have 1 to 100 characters" })
  }
  if (patch.amount !== undefined && !isBudgetAmount(patch.amount)) {
    return yield* new InvalidRequest({ message: "amount: must be a whole number of at least 1" })
  }
  return name === undefined ? patch : { ...patch, name }
})

/** A budget as the audit log has it. */
const recordOf = (budget: Budget): Schema.JsonObject => ({
  name: budget.name,
  scope: budget.scope,
  measure: budget.measure,
  amount: budget.amount,
  period: budget.period
})

/** The use cases over the stores. */
export const layer: Layer.Layer<
  Budgets,
  never,
  BudgetStore | MemberStore | RoleStore | SecureRandom.SecureRandom | UsageStore | UseCase
> = Layer.effect(
  Budgets,
  Effect.gen(function* () {
    const store = yield* BudgetStore
    const usage = yield* UsageStore
    const members = yield* MemberStore
    const roles = yield* RoleStore
    const useCase = yield* UseCase
    const random = yield* SecureRandom.SecureRandom

    const load = Effect.fnUntraced(function* (principal: Principal, id: BudgetId) {
      const budget = yield* store.get(principal.organizationId, id)
      return Option.isNone(budget) ? yield* new NotFound({ message: "budget not found" }) : budget.value
    })

    const standingOf = Effect.fnUntraced(function* (budget: Budget, now: DateTime.Utc) {
      const span = BudgetPolicy.spanOf(budget.period, now)
      const sums = yield* usage.sums(budget.organizationId, { ...BudgetPolicy.filterOf(budget, span), by: [] })
      const used = sums.reduce((total, { totals }) => total + BudgetPolicy.usedOf(budget, totals), 0)
      return { budget, used, span } satisfies BudgetPolicy.BudgetStanding
    })

    const requireFreeName = Effect.fnUntraced(function* (principal: Principal, name: string) {
      const budgets = yield* store.list(principal.organizationId)
      if (budgets.some((budget) => budget.name === name)) {
        return yield* new Conflict({ message: `a budget named "${name}" exists already` })
      }
    })

    /** Whoever the runs of a scope are counted of must be there. */
    const requireKnown = Effect.fnUntraced(function* (principal: Principal, scope: BudgetScope) {
      if (scope._tag === "Role" && Option.isNone(yield* roles.get(principal.organizationId, scope.id))) {
        return yield* new InvalidRequest({ message: "scope: there is no such role" })
      }
      if (scope._tag === "Member" && Option.isNone(yield* members.get(principal.organizationId, scope.id))) {
        return yield* new InvalidRequest({ message: "scope: there is no such member" })
      }
    })

    return Budgets.of({
      check: Effect.fn("Budgets.check")(function* (principal) {
        const now = yield* DateTime.now
        const budgets = (yield* store.list(principal.organizationId)).filter((budget) =>
          BudgetPolicy.bounds(budget, principal)
        )
        const standings = yield* Effect.forEach(budgets, (budget) => standingOf(budget, now))
        const decision = BudgetPolicy.check(standings)
        if (decision._tag === "Allow") return
        const until = BudgetPolicy.blocking(standings)?.span.until ?? now
        return yield* new RateLimitExceeded({
          message: decision.message,
          retryAfterSeconds: Math.max(
            1,
            Math.ceil((DateTime.toEpochMillis(until) - DateTime.toEpochMillis(now)) / 1000)
          )
        })
      }),

      list: useCase
        .read(
          { action: "list", target: { type: "budget" } },
          Effect.fnUntraced(function* (principal) {
            yield* enforce(UsagePolicy.readBudgets(principal))
            const now = yield* DateTime.now
            const budgets = yield* store.list(principal.organizationId)
            return yield* Effect.forEach(budgets, (budget) => standingOf(budget, now))
          })
        )
        .pipe(Effect.withSpan("Budgets.list")),

      create: Effect.fn("Budgets.create")(function* (given) {
        const draft = yield* checked(given)
        return yield* useCase.run(
          { action: "create", target: { type: "budget" } },
          Effect.fnUntraced(function* (principal) {
            yield* enforce(UsagePolicy.changeBudgets(principal))
            yield* requireKnown(principal, draft.scope)
            yield* requireFreeName(principal, draft.name)
            const now = yield* DateTime.now
            const budget = new Budget({
              name: draft.name,
              scope: draft.scope,
              measure: draft.measure,
              amount: draft.amount,
              period: draft.period,
              id: BudgetId.make(yield* Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)),
              organizationId: principal.organizationId,
              createdAt: now,
              updatedAt: now
            })
            yield* store.save(budget)
            return {
              answer: budget,
              entries: [{ action: "create", target: { type: "budget", id: budget.id }, after: recordOf(budget) }]
            }
          })
        )
      }),

      patch: Effect.fn("Budgets.patch")(function* (id, given) {
        const { amount, name, period } = yield* checked(given)
        return yield* useCase.run(
          { action: "update", target: { type: "budget", id } },
          Effect.fnUntraced(function* (principal) {
            const budget = yield* load(principal, id)
            yield* enforce(UsagePolicy.changeBudgets(principal))
            if (name !== undefined && name !== budget.name) yield* requireFreeName(principal, name)
            const next = new Budget({
              ...budget,
              name: name ?? budget.name,
              amount: amount ?? budget.amount,
              period: period ?? budget.period,
              updatedAt: yield* DateTime.now
            })
            yield* store.save(next)
            return {
              answer: next,
              entries: [
                { action: "update", target: { type: "budget", id }, before: recordOf(budget), after: recordOf(next) }
              ]
            }
          })
        )
      }),

      remove: Effect.fn("Budgets.remove")(function* (id) {
        yield* useCase.run(
          { action: "delete", target: { type: "budget", id } },
          Effect.fnUntraced(function* (principal) {
            const budget = yield* load(principal, id)
            yield* enforce(UsagePolicy.changeBudgets(principal))
            yield* store.remove(principal.organizationId, id)
            return {
              answer: undefined,
              entries: [{ action: "delete", target: { type: "budget", id }, before: recordOf(budget) }]
            }
          })
        )
      })
    })
  })
)
