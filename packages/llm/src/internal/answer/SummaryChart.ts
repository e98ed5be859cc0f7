/**
 * The chart of numbers over one group: a line over time, else bars.
 */
import { summaryColumns } from "../plan/Column.ts"
import type { Summary } from "../plan/Plan.ts"
import { title } from "../plan/Reading.ts"
import {
  type Chart,
  axis,
  heading,
  isCalendar,
  isKnown,
  maxBars,
  partialSteps,
  sameUnit,
  schema,
  startsAtZero,
  timeFormats,
  timeUnits
} from "./ChartParts.ts"
import { crossed, folded } from "./SeriesChart.ts"
import type { QueryResult } from "@castellan/core/analyst/Tool"

export const summary = (plan: Summary, main: QueryResult): Chart | undefined => {
  const columns = summaryColumns(plan)
  const [measure] = columns.measures
  const [group, second] = columns.groups
  if (group === undefined || measure === undefined || plan.outer !== undefined || main.row_count < 2) return undefined
  const name = title(plan, 100)
  const value = plan.share
    ? columns.share
    : plan.change === undefined
      ? measure
      : plan.change.relative
        ? columns.changePercent
        : columns.change
  const y = { field: value.name, type: "quantitative", title: heading(value.label, value.unit) }
  const base = { ...schema, title: name }
  const known = isKnown(group.name)
  if (second !== undefined) return crossed(plan, main, name)
  if (group.group._tag === "Bins") {
    const at = plan.measures.length
    return at > 1
      ? undefined
      : {
          name,
          specification: {
            ...base,
            mark: "bar",
            encoding: {
              x: {
                field: group.name,
                type: "quantitative",
                bin: { binned: true },
                title: heading(group.label, group.unit)
              },
              x2: { field: columns.to.name },
              y
            }
          }
        }
  }
  if (group.group._tag === "Grain" && plan.ranking === undefined) {
    const marks = main.row_count <= 40 ? { mark: { type: "line", point: true } } : { mark: "line" }
    const partial = partialSteps(plan, main, group)
    return plan.measures.length > 1
      ? folded(plan, main, name)
      : {
          name,
          specification: {
            ...base,
            ...(partial.names.length === 0
              ? {}
              : {
                  title: {
                    text: name,
                    subtitle: `Without ${partial.names.join(" and ")}, of which the data cover only a part`
                  }
                }),
            ...marks,
            transform: [known, ...partial.filters],
            encoding: { x: axis(group, main), y: { ...y, scale: { zero: startsAtZero(main, value.name) } } }
          }
        }
  }
  if (plan.measures.length > 1 && plan.ranking === undefined && sameUnit(plan)) return folded(plan, main, name)
  const ordered = axis(group, main)
  const round = ordered["sort"] !== undefined || ordered["type"] !== "nominal"
  if (round && main.row_count <= 40 && group.group._tag !== "Grain") {
    return {
      name,
      specification: {
        ...base,
        mark: "bar",
        transform: [known],
        // Days and months are known by their first three letters; other names are not.
        encoding: {
          x: {
            ...ordered,
            axis: {
              labelAngle: 0,
              ...(isCalendar(main, group.name) === undefined ? {} : { labelExpr: "slice(datum.label, 0, 3)" })
            }
          },
          y
        }
      }
    }
  }
  const named =
    group.group._tag === "Grain"
      ? {
          ...ordered,
          type: "ordinal",
          timeUnit: timeUnits[group.group.grain],
          axis: { format: timeFormats[group.group.grain] }
        }
      : ordered
  const order = plan.ranking?.descending === false ? "ascending" : "descending"
  const shortened = main.row_count > maxBars
  return {
    name,
    specification: {
      ...base,
      ...(shortened ? { title: { text: name, subtitle: `The first ${maxBars} of ${main.row_count}` } } : {}),
      mark: "bar",
      transform: [
        known,
        ...(shortened
          ? [
              { window: [{ op: "row_number", as: "place" }], sort: [{ field: value.name, order }] },
              { filter: { field: "place", lte: maxBars } }
            ]
          : [])
      ],
      encoding: { y: { ...named, sort: { field: value.name, order } }, x: y }
    }
  }
}
