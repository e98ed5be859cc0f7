/**
 * What the two query tools have in common: how a result is kept, told to the model, and shown to the reader.
 */
import * as Effect from "effect/Effect"
import type { ResultTable } from "../../connector/ResultTable.ts"
import * as ResultText from "../../connector/ResultText.ts"
import type { RunContext } from "../RunContext.ts"
import type { StepOutcome } from "../Step.ts"
import type { QueryResult } from "../Tool.ts"

/** Rows of a cell's preview. */
export const previewRows = 20

/** Keeps a result on the run's shelf; the model reads its first rows, the cell previews them. */
export const queryOutcome = (context: RunContext, table: ResultTable): Effect.Effect<StepOutcome<QueryResult>> =>
  Effect.map(context.results.put(table), (name) => ({
    value: {
      result: name,
      columns: table.columns,
      rows: table.rows.slice(0, context.limits.rowsForModel),
      row_count: table.rows.length,
      truncated: table.truncated
    },
    result: { dataframePreview: ResultText.markdown(table, previewRows) }
  }))
