/**
 * What the two query tools have in common: how a result is kept, told to the model, and shown to the reader.
 */
import * as Effect from "effect/Effect"
import type { ResultTable, Value } from "../../connector/ResultTable.ts"
import * as ResultText from "../../connector/ResultText.ts"
import type { RunLimits } from "../../run/RunLimits.ts"
import { excerpt } from "../../text/Excerpt.ts"
import type { RunContext } from "../RunContext.ts"
import type { StepOutcome } from "../Step.ts"
import type { QueryResult } from "../Tool.ts"

/** Rows of a cell's preview. */
export const previewRows = 20

/** Characters of one value that the model reads. */
const valueLength = 500

const forModel = (value: Value): Value => (typeof value === "string" ? excerpt(value, valueLength) : value)

/** The first rows of a result, as far as a model is to read them: a wide table, or a long text, does not flood it. */
const rowsForModel = (table: ResultTable, limits: RunLimits): QueryResult["rows"] => {
  const rows: Array<ReadonlyArray<Value>> = []
  let characters = 0
  for (const row of table.rows.slice(0, limits.rowsForModel)) {
    const read = row.map(forModel)
    characters += JSON.stringify(read).length
    if (characters > limits.charactersForModel && rows.length > 0) break
    rows.push(read)
  }
  return rows
}

/** Keeps a result on the run's shelf; the model reads its first rows, the cell previews them. */
export const queryOutcome = (context: RunContext, table: ResultTable): Effect.Effect<StepOutcome<QueryResult>> =>
  Effect.map(context.results.put(table), (name) => ({
    value: {
      result: name,
      columns: table.columns,
      rows: rowsForModel(table, context.limits),
      row_count: table.rows.length,
      truncated: table.truncated
    },
    result: { dataframePreview: ResultText.markdown(table, previewRows) }
  }))
