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
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { enforce } from "../access/Decision.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import type { AuditEntry } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import { InvalidRequest, NotFound, type PermissionDenied, RateLimitExceeded } from "../error/Failure.ts"
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

/** A budget as it shall be. */
export interface BudgetDraft {
  /** The budget to keep or to change; absent: a new one. */
  readonly id?: BudgetId
  readonly name: string
  readonly scope: BudgetScope
  readonly measure: BudgetMeasure
  /** Tokens, or millionths of the host's currency. */
  readonly amount: number
  readonly period: BudgetPeriod
}

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
    /**
     * Sets every budget of the organization at once: makes those without an id, changes those with one, and removes
     * those that are not named. Answers with all of them, in the order of creation.
     */
    readonly replace: (
      drafts: ReadonlyArray<BudgetDraft>
    ) => Effect.Effect<ReadonlyArray<Budget>, InvalidRequest | PermissionDenied | NotFound, CurrentPrincipal>
  }
>()("@castellan/core/usage/Budgets") {}

const isBudgetName = Schema.is(BudgetName)
const isBudgetAmount = Schema.is(BudgetAmount)

/** The drafts with their values in their form. Names tell budgets apart in refusals, so each is there once. */
const checked = Effect.fnUntraced(function* (drafts: ReadonlyArray<BudgetDraft>) {
  const trimmed = drafts.map((draft) => ({ ...draft, name: draft.name.trim() }))
  for (const { amount, name } of trimmed) {
    if (!isBudgetName(name))
      return yield* new InvalidRequest({ message: "budgets: a name must have 1 to 100 characters" })
    if (!isBudgetAmount(amount)) {
      return yield* new InvalidRequest({ message: "budgets: an amount must be a whole number of at least 1" })
    }
  }
  if (new Set(trimmed.map(({ name }) => name)).size < trimmed.length) {
    return yield* new InvalidRequest({ message: "budgets: two budgets must not have the same name" })
  }
  const ids = trimmed.flatMap(({ id }) => (id === undefined ? [] : [id]))
  if (new Set(ids).size < ids.length) {
    return yield* new InvalidRequest({ message: "budgets: a budget must not be named twice" })
  }
  return trimmed
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

    const standingOf = Effect.fnUntraced(function* (budget: Budget, now: DateTime.Utc) {
      const span = BudgetPolicy.spanOf(budget.period, now)
      const sums = yield* usage.sums(budget.organizationId, { ...BudgetPolicy.filterOf(budget, span), by: [] })
      const used = sums.reduce((total, { totals }) => total + BudgetPolicy.usedOf(budget, totals), 0)
      return { budget, used, span } satisfies BudgetPolicy.BudgetStanding
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

      replace: Effect.fn("Budgets.replace")(function* (given) {
        const drafts = yield* checked(given)
        return yield* useCase.run(
          { action: "update", target: { type: "budget" } },
          Effect.fnUntraced(function* (principal) {
            const { organizationId } = principal
            const before = new Map((yield* store.list(organizationId)).map((budget) => [budget.id, budget]))
            for (const { id } of drafts) {
              if (id !== undefined && !before.has(id)) return yield* new NotFound({ message: "budget not found" })
            }
            yield* enforce(UsagePolicy.changeBudgets(principal))
            const now = yield* DateTime.now
            const entries: Array<AuditEntry> = []
            const kept = new Set<BudgetId>()
            for (const { id, ...draft } of drafts) {
              const old = id === undefined ? undefined : before.get(id)
              // A role or member that has gone since does not stand in the way of all other budgets.
              if (old === undefined || !Equal.equals(old.scope, draft.scope))
                yield* requireKnown(principal, draft.scope)
              const next = new Budget({
                ...draft,
                id: id ?? BudgetId.make(yield* Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)),
                organizationId,
                createdAt: old?.createdAt ?? now,
                updatedAt: now
              })
              kept.add(next.id)
              if (old !== undefined && Equal.equals(recordOf(old), recordOf(next))) continue
              yield* store.save(next)
              entries.push({
                action: old === undefined ? "create" : "update",
                target: { type: "budget", id: next.id },
                ...(old === undefined ? {} : { before: recordOf(old) }),
                after: recordOf(next)
              })
            }
            for (const budget of before.values()) {
              if (kept.has(budget.id)) continue
              yield* store.remove(organizationId, budget.id)
              entries.push({ action: "delete", target: { type: "budget", id: budget.id }, before: recordOf(budget) })
            }
            return { answer: yield* store.list(organizationId), entries }
          })
        )
      })
    })
  })
)
