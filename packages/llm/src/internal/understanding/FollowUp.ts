/**
 * A question that goes on from the one before: "and by month?", "only for Seattle", "what about 2012?".
 */
import type { Filter, Group } from "../plan/Plan.ts"
import type { Draft } from "./Draft.ts"

const isTimeFilter = (filter: Filter): boolean => filter._tag === "Within" || filter._tag === "Recurring"

/** Whether a later filter takes the place of an earlier one. */
const replaces = (later: Filter, earlier: Filter): boolean => {
  if (later.facts === earlier.facts)
    return later._tag === earlier._tag || (!isTimeFilter(later) && !isTimeFilter(earlier)) || later._tag === "Within"
  return false
}

const isTimeGroup = (group: Group): boolean =>
  group._tag === "Grain" || group._tag === "Part" || group._tag === "Periods"

const isSingle = (filter: Filter): boolean => filter._tag === "OneOf" && !filter.negated && filter.values.length === 1

/** What the earlier question asks with what the later one says put in. */
export const merge = (earlier: Draft, later: Draft): Draft => {
  const newMeasures = later.measures.length > 0 || later.scatter !== undefined || later.statistic !== undefined
  const newGroups = later.groups.length > 0
  const [column] = later.columns
  const reordered =
    later.reordered && column !== undefined && later.order === undefined && later.ranked === undefined
      ? { facts: column, descending: earlier.order?.descending ?? earlier.ranked ?? true }
      : undefined
  const asksRows = later.rows || (earlier.rows && !newMeasures && !newGroups && !later.share && !later.countsRows)
  const kept = earlier.filters.filter(
    (filter) =>
      !later.filters.some((other) => replaces(other, filter)) &&
      !(
        filter._tag === "OneOf" && later.groups.some((group) => group._tag === "Field" && group.facts === filter.facts)
      ) &&
      !(filter._tag === "Known" && newGroups)
  )
  const filters = [...kept, ...later.filters]
  const groups = (newGroups ? later.groups : earlier.groups).filter(
    (group) =>
      !(group._tag === "Periods" && !newGroups && later.filters.some((filter) => filter._tag === "Within")) &&
      !(
        group._tag === "Field" &&
        !newGroups &&
        later.filters.some((filter) => isSingle(filter) && filter.facts === group.facts)
      )
  )
  const staysRanked =
    later.ranking === undefined &&
    earlier.ranking !== undefined &&
    (!newGroups || !later.groups.some(isTimeGroup)) &&
    groups.length > 0
  const keepsChange =
    later.change === undefined &&
    !later.filters.some((filter) => filter._tag === "Within") &&
    !later.groups.some(isTimeGroup)
  const change = later.change ?? (keepsChange ? earlier.change : undefined)
  return {
    facts: later.facts,
    measures: asksRows ? [] : later.measures.length > 0 ? later.measures : earlier.measures,
    groups: asksRows ? later.groups : groups,
    filters,
    having: later.having.length > 0 ? later.having : newGroups ? [] : earlier.having,
    ranking: later.ranking ?? (staysRanked ? earlier.ranking : undefined),
    judged: later.ranking === undefined ? earlier.judged && staysRanked : later.judged,
    limit: later.limit ?? (later.ranking === undefined && (staysRanked || earlier.rows) ? earlier.limit : undefined),
    target: later.target || (earlier.target && groups.length > 0),
    share: later.share || (earlier.share && !newMeasures && later.portion.length === 0),
    portion: later.portion.length > 0 ? later.portion : newMeasures ? [] : earlier.portion,
    change,
    outer: later.outer ?? (newMeasures || newGroups ? undefined : earlier.outer),
    alternative: newMeasures ? later.alternative : earlier.alternative,
    rows: asksRows,
    columns: later.columns.length > 0 ? later.columns : earlier.columns,
    order:
      later.order ??
      reordered ??
      (earlier.order !== undefined && later.ranked !== undefined
        ? { ...earlier.order, descending: later.ranked }
        : earlier.order),
    scatter: later.scatter ?? (newMeasures || newGroups || asksRows ? undefined : earlier.scatter),
    statistic: later.statistic ?? (newMeasures || newGroups || asksRows ? undefined : earlier.statistic),
    sort: later.sort ?? earlier.sort,
    ranked: reordered === undefined ? (later.ranked ?? earlier.ranked) : undefined,
    reordered: false,
    countsRows: later.countsRows || (earlier.countsRows && !newMeasures),
    mentionsRows: later.mentionsRows || earlier.mentionsRows
  }
}

/** Whether a question says anything that could be put into the one before. */
export const saysSomething = (draft: Draft): boolean =>
  draft.measures.length > 0 ||
  draft.groups.length > 0 ||
  draft.filters.length > 0 ||
  draft.having.length > 0 ||
  draft.ranking !== undefined ||
  draft.ranked !== undefined ||
  draft.limit !== undefined ||
  draft.sort !== undefined ||
  draft.share ||
  draft.portion.length > 0 ||
  draft.change !== undefined ||
  draft.scatter !== undefined ||
  draft.statistic !== undefined ||
  draft.order !== undefined ||
  draft.rows ||
  draft.countsRows
