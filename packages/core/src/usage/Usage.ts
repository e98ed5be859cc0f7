/**
 * What runs used up: kept as they end, and summed on request.
 *
 * Source: decisions.md §4 ("Usage").
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { enforce } from "../access/Decision.ts"
import type { CurrentPrincipal } from "../access/Principal.ts"
import { UseCase } from "../audit/UseCase.ts"
import type { NotFound, PermissionDenied } from "../error/Failure.ts"
import type { Run } from "../run/Run.ts"
import { ModelPrices } from "./ModelPrices.ts"
import * as UsagePolicy from "./UsagePolicy.ts"
import * as UsageRecord from "./UsageRecord.ts"
import { UsageStore } from "./UsageStore.ts"
import type { UsageQuery, UsageSum } from "./UsageSums.ts"

/** The use cases of usage. */
export class Usage extends Context.Service<
  Usage,
  {
    /**
     * Keeps what a run used up, at the price of this moment, on behalf of the principal that the run carries. A run
     * that goes on is left for later, and one that was recorded is not recorded again: the runner calls it at the end
     * of every run, as often as it likes.
     */
    readonly record: (run: Run) => Effect.Effect<void>
    /** The sums of the organization's usage, or of the caller's own. */
    readonly sums: (
      query: UsageQuery
    ) => Effect.Effect<ReadonlyArray<UsageSum>, PermissionDenied | NotFound, CurrentPrincipal>
  }
>()("@castellan/core/usage/Usage") {}

/** Usage over the store, at the prices of the context. */
export const layer: Layer.Layer<Usage, never, UsageStore | UseCase> = Layer.effect(
  Usage,
  Effect.gen(function* () {
    const store = yield* UsageStore
    const useCase = yield* UseCase
    const prices = yield* ModelPrices
    return Usage.of({
      record: Effect.fn("Usage.record")(function* (run) {
        const record = UsageRecord.ofRun(run, prices.get(run.model))
        if (Option.isSome(record)) yield* store.record(record.value)
      }),

      sums: Effect.fn("Usage.sums")(function* (query) {
        return yield* useCase.read(
          { action: "read", target: { type: "organization" } },
          Effect.fnUntraced(function* (principal) {
            yield* enforce(UsagePolicy.read(principal, query))
            return yield* store.sums(principal.organizationId, query)
          })
        )
      })
    })
  })
)
