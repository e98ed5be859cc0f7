/**
 * What every store of budgets keeps to.
 */
import { Budget, BudgetScope } from "@castellan/core/usage/Budget"
import { BudgetStore } from "@castellan/core/usage/BudgetStore"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/testing/TestClock"
import * as AdministrationSample from "../fixture/AdministrationSample.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

/** Runs the contract of `BudgetStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<BudgetStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`BudgetStore (${name})`, (it) => {
    it.effect("lists the budgets of one organization, in the order of their creation, as they are now", () =>
      Effect.gen(function* () {
        const store = yield* BudgetStore
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        const role = yield* Sample.role(ours)
        const first = yield* AdministrationSample.budget(ours, {
          name: "Zürich",
          scope: BudgetScope.cases.Role.make({ id: role.id }),
          measure: "cost",
          amount: Number.MAX_SAFE_INTEGER,
          period: "month"
        })
        yield* TestClock.adjust("1 second")
        const second = yield* AdministrationSample.budget(ours, {
          scope: BudgetScope.cases.Member.make({ id: yield* Sample.memberId }),
          period: "week"
        })
        const foreign = yield* AdministrationSample.budget(theirs)
        yield* Effect.forEach([first, second, foreign], store.save)
        assertSame(yield* store.list(ours), [first, second])
        const changed = new Budget({ ...first, amount: 1 })
        yield* store.save(changed)
        assertSame(yield* store.list(ours), [changed, second])
        assertSame(yield* store.get(ours, second.id), Option.some(second))
        assertSame(yield* store.get(ours, foreign.id), Option.none())
      })
    )

    it.effect("removes one budget for good, and never one of another organization", () =>
      Effect.gen(function* () {
        const store = yield* BudgetStore
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        const [budget, other] = [yield* AdministrationSample.budget(ours), yield* AdministrationSample.budget(ours)]
        yield* Effect.forEach([budget, other], store.save)
        yield* store.remove(theirs, budget.id)
        assertSame(yield* store.get(ours, budget.id), Option.some(budget))
        yield* store.remove(ours, budget.id)
        yield* store.remove(ours, budget.id)
        assertSame(yield* store.list(ours), [other])
      })
    )
  })
}
