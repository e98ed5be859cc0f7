/**
 * The operations of usage and of budgets, bound to their use cases.
 *
 * Source: decisions.md §4 ("Usage").
 */
import { Api } from "@castellan/api/Api"
import { ofBudgets, ofStandings, toBudgetDraft } from "@castellan/api/usage/BudgetWire"
import { ofUsageSums, toUsageQuery } from "@castellan/api/usage/UsageReportWire"
import { Budgets } from "@castellan/core/usage/Budgets"
import { Usage } from "@castellan/core/usage/Usage"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { declared } from "../request/DeclaredFailures.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** The operations of usage and of budgets. */
export const layer = HttpApiBuilder.group(
  Api,
  "usage",
  Effect.fnUntraced(function* (handlers) {
    const budgets = yield* Budgets
    const usage = yield* Usage

    return handlers.handleAll({
      report: Effect.fnUntraced(function* ({ query }) {
        return ofUsageSums(yield* usage.sums(toUsageQuery(query)))
      }, declared("PermissionDenied")),

      listBudgets: () => Effect.map(budgets.list, ofStandings).pipe(declared("PermissionDenied")),

      replaceBudgets: Effect.fnUntraced(
        function* ({ payload }) {
          return ofBudgets(yield* budgets.replace(payload.budgets.map(toBudgetDraft)))
        },
        declared("InvalidRequest", "PermissionDenied")
      )
    })
  }, OperationServices.given)
)
