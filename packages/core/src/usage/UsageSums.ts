/**
 * Sums of usage, by any of its dimensions.
 *
 * Source: decisions.md §4 ("sums it by day, member, role, model, client metadata").
 */
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import { canonicalText, type ClientMetadata, sameClient } from "../access/ClientMetadata.ts"
import { MemberId } from "../member/Member.ts"
import { ModelId } from "../model/Model.ts"
import { RoleId } from "../role/Role.ts"
import { Micros } from "./ModelPrices.ts"
import type { UsageRecord } from "./UsageRecord.ts"

/** What usage can be told apart by. `client` is the client metadata. */
export const UsageDimension = Schema.Literals(["day", "member", "role", "model", "client"])
export type UsageDimension = typeof UsageDimension.Type

/** Which records to sum; what is absent narrows nothing. */
export interface UsageFilter {
  readonly memberId?: MemberId
  /** Runs that were made with the role, among others. */
  readonly roleId?: RoleId
  readonly model?: ModelId
  readonly client?: ClientMetadata
  /** Runs that ended at this moment or later. */
  readonly from?: DateTime.Utc
  /** Runs that ended before this moment. */
  readonly until?: DateTime.Utc
}

/** Which records to sum, and what to tell them apart by; by nothing is one sum. */
export interface UsageQuery extends UsageFilter {
  readonly by: ReadonlyArray<UsageDimension>
}

/** What the records of one sum have in common: a field for each dimension asked for, where the records have it. */
export const UsageGroup = Schema.Struct({
  /** A day in UTC, `YYYY-MM-DD`: the one on which the run ended. */
  day: Schema.optionalKey(Schema.String),
  memberId: Schema.optionalKey(MemberId),
  roleId: Schema.optionalKey(RoleId),
  model: Schema.optionalKey(ModelId),
  /** The client metadata as JSON, its fields in the order of their names. */
  client: Schema.optionalKey(Schema.String)
})
export type UsageGroup = typeof UsageGroup.Type

/** How much was used. */
export const UsageTotals = Schema.Struct({
  runs: Schema.Int,
  inputTokens: Schema.Int,
  outputTokens: Schema.Int,
  toolCalls: Schema.Int,
  durationMillis: Schema.Int,
  /** The cost of the runs whose model had a price. */
  cost: Micros,
  /** Runs whose model had none. */
  unpricedRuns: Schema.Int
})
export type UsageTotals = typeof UsageTotals.Type

/** One sum. */
export const UsageSum = Schema.Struct({ group: UsageGroup, totals: UsageTotals })
export type UsageSum = typeof UsageSum.Type

/** Nothing used. */
export const noTotals: UsageTotals = {
  runs: 0,
  inputTokens: 0,
  outputTokens: 0,
  toolCalls: 0,
  durationMillis: 0,
  cost: Micros.make(0),
  unpricedRuns: 0
}

/** The two together. */
export const addTotals = (a: UsageTotals, b: UsageTotals): UsageTotals => ({
  runs: a.runs + b.runs,
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  toolCalls: a.toolCalls + b.toolCalls,
  durationMillis: a.durationMillis + b.durationMillis,
  cost: Micros.make(a.cost + b.cost),
  unpricedRuns: a.unpricedRuns + b.unpricedRuns
})

/** The totals of one run. */
export const totalsOf = (record: UsageRecord): UsageTotals => ({
  runs: 1,
  inputTokens: record.inputTokens,
  outputTokens: record.outputTokens,
  toolCalls: record.toolCalls,
  durationMillis: record.durationMillis,
  cost: record.cost ?? Micros.make(0),
  unpricedRuns: record.cost === undefined ? 1 : 0
})

/** Whether a record belongs to a sum. */
export const matches = (filter: UsageFilter, record: UsageRecord): boolean =>
  (filter.memberId === undefined || record.memberId === filter.memberId) &&
  (filter.roleId === undefined || record.roles.includes(filter.roleId)) &&
  (filter.model === undefined || record.model === filter.model) &&
  (filter.client === undefined || sameClient(record.clientMetadata, filter.client)) &&
  (filter.from === undefined || DateTime.isGreaterThanOrEqualTo(record.at, filter.from)) &&
  (filter.until === undefined || DateTime.isLessThan(record.at, filter.until))

/** The groups that a record counts in: one, or one for each of its roles. */
const groupsOf = (record: UsageRecord, by: ReadonlySet<UsageDimension>): ReadonlyArray<UsageGroup> => {
  const group: UsageGroup = {
    ...(by.has("day") ? { day: DateTime.formatIsoDateUtc(record.at) } : {}),
    ...(by.has("member") ? { memberId: record.memberId } : {}),
    ...(by.has("model") ? { model: record.model } : {}),
    ...(by.has("client") && record.clientMetadata !== undefined ? { client: canonicalText(record.clientMetadata) } : {})
  }
  return by.has("role") && record.roles.length > 0 ? record.roles.map((roleId) => ({ ...group, roleId })) : [group]
}

/** A group's fields in the order of the dimensions; what it lacks comes before all else. */
const fieldsOf = ({ client, day, memberId, model, roleId }: UsageGroup): ReadonlyArray<string> => [
  day ?? "",
  memberId ?? "",
  roleId ?? "",
  model ?? "",
  client ?? ""
]

const compare = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): number => {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? ""
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}

/** Sums in the order of day, member, role, model and client. */
export const ordered = (sums: Iterable<UsageSum>): ReadonlyArray<UsageSum> =>
  Array.from(sums, (sum) => ({ fields: fieldsOf(sum.group), sum }))
    .toSorted((a, b) => compare(a.fields, b.fields))
    .map((found) => found.sum)

/**
 * The sums of the records that match, in the order of day, member, role, model and client. A run with several roles
 * counts in the sum of each: sums by role overlap, all others add up to the whole. By nothing, there is always one.
 */
export const sum = (records: Iterable<UsageRecord>, query: UsageQuery): ReadonlyArray<UsageSum> => {
  const by = new Set(query.by)
  const sums = new Map<string, UsageSum>()
  const add = (group: UsageGroup, totals: UsageTotals): void => {
    const key = JSON.stringify(fieldsOf(group))
    const before = sums.get(key)
    sums.set(key, { group, totals: before === undefined ? totals : addTotals(before.totals, totals) })
  }
  if (by.size === 0) add({}, noTotals)
  for (const record of records) {
    if (!matches(query, record)) continue
    const totals = totalsOf(record)
    for (const group of groupsOf(record, by)) add(group, totals)
  }
  return ordered(sums.values())
}
