/**
 * Answers that are rows as they are.
 */
import type { QueryResult } from "@castellan/core/analyst/Tool"
import { rowsColumns } from "../plan/Column.ts"
import type { Rows } from "../plan/Plan.ts"
import { nameOf } from "../understanding/Facts.ts"
import { lowerFirst, rowsOf } from "../understanding/Measuring.ts"
import { anyValue, escaped, plainNumber } from "./Format.ts"
import { nothing } from "./Phrases.ts"
import { columnAt } from "./Series.ts"
import { table, tableRows } from "./Table.ts"

/** Rows, first in words, then in a table. */
export const rows = (plan: Rows, main: QueryResult, count: number | undefined): ReadonlyArray<string> => {
  const columns = rowsColumns(plan)
  const [first] = main.rows
  if (first === undefined) return [nothing(plan)]
  const cell = (row: QueryResult["rows"][number], index: number): string => {
    const column = columns[index]
    const at = column === undefined ? -1 : columnAt(main, column.name)
    return anyValue(row[at] ?? null, main.columns[at], column?.unit)
  }
  const shown = main.rows.slice(0, tableRows)
  const listing = table(
    columns.map((column) => ({ text: column.label, numeric: column.facts.field.type === "number" })),
    shown.map((row) => columns.map((_, index) => cell(row, index)))
  )
  const all = count ?? main.row_count
  const names = escaped(rowsOf(plan.facts))
  const rest =
    all > shown.length
      ? [
          `These are the first ${plainNumber(shown.length)}${main.row_count > shown.length ? `; the table has ${main.row_count === all ? "them all" : plainNumber(main.row_count)}` : ""}.`
        ]
      : []
  const { order } = plan
  if (order === undefined) {
    const lead = all === 1 ? `**1** of the ${names} matches.` : `**${plainNumber(all)}** ${names} match.`
    return [[lead, ...rest].join(" "), listing]
  }
  const at = columns.findIndex((column) => column.facts === order.facts)
  const [name] = plan.facts.names
  const title = name === undefined ? -1 : columns.findIndex((column) => column.facts === name)
  const time = order.facts.time !== undefined
  const end = order.descending ? (time ? "latest" : "highest") : time ? "earliest" : "lowest"
  const what = escaped(lowerFirst(nameOf(order.facts)))
  const head =
    title === -1
      ? `The ${end} ${what} of the ${names} is **${cell(first, at)}**.`
      : `**${escaped(cell(first, title))}** has the ${end} ${what}: **${cell(first, at)}**.`
  return [head, ...(main.rows.length > 1 || title === -1 ? [listing] : [])]
}
