/**
 * The operations of usage and of budgets.
 *
 * Source: decisions.md §4 ("Usage").
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { createErrors, listErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, reportingInput } from "../wire/Operation.ts"
import { BudgetListWire, ReplaceBudgetsRequest } from "./BudgetWire.ts"
import { UsageReportQuery, UsageReportWire } from "./UsageReportWire.ts"

const report = HttpApiEndpoint.get("report", "/v2/usage", {
  query: UsageReportQuery,
  success: UsageReportWire,
  error: listErrors
}).annotateMerge(
  operation(
    "getUsage",
    "Sum usage",
    "What runs used up, summed by day, member, role, model and client metadata: of the whole organization with `organization:read`; one's own, by `member_id`, without a permission."
  )
)

const listBudgets = HttpApiEndpoint.get("listBudgets", "/v2/budgets", {
  success: BudgetListWire,
  error: listErrors
}).annotateMerge(operation("listBudgets", "List budgets", "The budgets of the organization, in the order of creation."))

const replaceBudgets = HttpApiEndpoint.put("replaceBudgets", "/v2/budgets", {
  payload: ReplaceBudgetsRequest,
  success: BudgetListWire,
  error: createErrors
}).annotateMerge(
  operation(
    "replaceBudgets",
    "Replace the budgets",
    "Sets every budget of the organization at once. Past a budget, a new run is refused with 429 and a message that names it. It needs `organization:write`."
  )
)

/** The operations of usage and of budgets. */
export class UsageGroup extends HttpApiGroup.make("usage")
  .add(report, listBudgets, replaceBudgets)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(OpenApi.annotations({ title: "Usage", description: "What runs used up, and may use up" })) {}
