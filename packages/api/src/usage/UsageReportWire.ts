/**
 * Sums of usage on the wire. Costs are whole millionths of the host's currency, so that they add up.
 *
 * Source: decisions.md §4 ("Usage").
 */
import { MemberId } from "@castellan/core/member/Member"
import { ModelId } from "@castellan/core/model/Model"
import { RoleId } from "@castellan/core/role/Role"
import { UsageDimension, type UsageQuery, type UsageSum } from "@castellan/core/usage/UsageSums"
import * as Schema from "effect/Schema"
import { count, listOf, modelId, moment, oneOf, text, uuid } from "../wire/WireValue.ts"

/** One sum of usage. */
export const UsageSumWire = Schema.Struct({
  day: Schema.optionalKey(text("The day in UTC, `YYYY-MM-DD`, on which the runs ended")),
  member_id: Schema.optionalKey(uuid(MemberId, "The member that the runs acted as")),
  role_id: Schema.optionalKey(uuid(RoleId, "A role that the runs had; a run counts in the sum of each")),
  model: Schema.optionalKey(ModelId.annotate({ description: "The model that answered" })),
  client_id: Schema.optionalKey(text("The client metadata, its fields in the order of their names")),
  runs: count("Runs that ended"),
  input_tokens: count("Tokens that models read"),
  output_tokens: count("Tokens that models wrote"),
  tool_calls: count("Calls of tools"),
  duration_ms: count("How long the runs took together, in milliseconds"),
  cost_micros: count("What the runs cost, in millionths of the host's currency, as far as their models have a price"),
  unpriced_runs: count("Runs whose model has no price")
}).annotate({ identifier: "UsageSum", description: "What some runs used up together" })
export type UsageSumWire = typeof UsageSumWire.Type

/** Sums of usage. */
export const UsageReportWire = Schema.Struct({
  usage: Schema.Array(UsageSumWire).annotate({
    description: "The sums, in the order of day, member, role, model and client"
  })
}).annotate({ identifier: "UsageReport", description: "Sums of usage" })
export type UsageReportWire = typeof UsageReportWire.Type

/** Which runs to sum, and by what. */
export const UsageReportQuery = Schema.Struct({
  group_by: Schema.optionalKey(
    listOf(
      oneOf(UsageDimension.literals, "What to tell sums apart by"),
      { maximum: 5 },
      "of day, member, role, model, client",
      "What to tell sums apart by; may be repeated. Absent, one sum of everything"
    )
  ),
  member_id: Schema.optionalKey(uuid(MemberId, "Only runs that acted as the member")),
  role_id: Schema.optionalKey(uuid(RoleId, "Only runs that had the role, among others")),
  model: Schema.optionalKey(modelId("Only runs that the model answered")),
  from: Schema.optionalKey(moment("Only runs that ended at this moment or later")),
  until: Schema.optionalKey(moment("Only runs that ended before this moment"))
})
export type UsageReportQuery = typeof UsageReportQuery.Type

/** The sums that a query asks for. */
export const toUsageQuery = (query: UsageReportQuery): UsageQuery => ({
  by: query.group_by ?? [],
  ...(query.member_id === undefined ? {} : { memberId: query.member_id }),
  ...(query.role_id === undefined ? {} : { roleId: query.role_id }),
  ...(query.model === undefined ? {} : { model: query.model }),
  ...(query.from === undefined ? {} : { from: query.from }),
  ...(query.until === undefined ? {} : { until: query.until })
})

/** A sum as the wire shows it. */
export const ofUsageSum = ({ group, totals }: UsageSum): UsageSumWire => ({
  ...(group.day === undefined ? {} : { day: group.day }),
  ...(group.memberId === undefined ? {} : { member_id: group.memberId }),
  ...(group.roleId === undefined ? {} : { role_id: group.roleId }),
  ...(group.model === undefined ? {} : { model: group.model }),
  ...(group.client === undefined ? {} : { client_id: group.client }),
  runs: totals.runs,
  input_tokens: totals.inputTokens,
  output_tokens: totals.outputTokens,
  tool_calls: totals.toolCalls,
  duration_ms: totals.durationMillis,
  cost_micros: totals.cost,
  unpriced_runs: totals.unpricedRuns
})

/** The sums as the wire shows them. */
export const ofUsageSums = (sums: ReadonlyArray<UsageSum>): UsageReportWire => ({ usage: sums.map(ofUsageSum) })
