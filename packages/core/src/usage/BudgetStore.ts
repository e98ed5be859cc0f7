/**
 * The port that keeps budgets.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { Budget, BudgetId } from "./Budget.ts"

/** Keeps budgets. No answer ever holds a budget of another organization. */
export class BudgetStore extends Context.Service<
  BudgetStore,
  {
    readonly get: (organizationId: OrganizationId, id: BudgetId) => Effect.Effect<Option.Option<Budget>>
    /** Every budget of the organization, in the order of creation. */
    readonly list: (organizationId: OrganizationId) => Effect.Effect<ReadonlyArray<Budget>>
    /** Inserts the budget, or replaces the one of the same id. */
    readonly save: (budget: Budget) => Effect.Effect<void>
    /** Removes the budget for good; nothing where there is none. */
    readonly remove: (organizationId: OrganizationId, id: BudgetId) => Effect.Effect<void>
  }
>()("@castellan/core/usage/BudgetStore") {}

/** Keeps budgets in memory. */
export const layerMemory: Layer.Layer<BudgetStore> = Layer.effect(
  BudgetStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<BudgetId, Budget>()
    const get = (organizationId: OrganizationId, id: BudgetId) =>
      Effect.map(
        table.get(id),
        Option.filter((budget) => budget.organizationId === organizationId)
      )
    return BudgetStore.of({
      get,
      list: (organizationId) => table.where((budget) => budget.organizationId === organizationId),
      save: (budget) => table.set(budget.id, budget),
      remove: (organizationId, id) =>
        Effect.flatMap(get(organizationId, id), (found) => (Option.isSome(found) ? table.remove(id) : Effect.void))
    })
  })
)
