/**
 * The results of one run, by name, so that charts and tables refer to data and never restate them. Only the latest
 * are kept: a run's memory has a bound.
 */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type { ResultTable } from "../connector/ResultTable.ts"
import { ToolFailure } from "./ToolFailure.ts"

/** The results of one run. */
export interface ResultShelf {
  /** Keeps a result and answers with its name. */
  readonly put: (table: ResultTable) => Effect.Effect<string>
  /** The result of a name; fails when there is none, or when it is kept no longer. */
  readonly get: (name: string) => Effect.Effect<ResultTable, ToolFailure>
}

/** Results that one run keeps at most. */
export const capacity = 12

/** A shelf with nothing on it. */
export const make: Effect.Effect<ResultShelf> = Effect.map(
  Ref.make<{ readonly count: number; readonly tables: ReadonlyMap<string, ResultTable> }>({
    count: 0,
    tables: new Map()
  }),
  (ref) => ({
    put: (table) =>
      Ref.modify(ref, ({ count, tables }) => {
        const name = `result_${count + 1}`
        const kept = [...tables, [name, table] as const].slice(-capacity)
        return [name, { count: count + 1, tables: new Map(kept) }]
      }),
    get: (name) =>
      Effect.flatMap(Ref.get(ref), ({ tables }) => {
        const table = tables.get(name)
        const known = [...tables.keys()].join(", ") || "none"
        return table === undefined
          ? Effect.fail(new ToolFailure({ message: `there is no result ${name}; kept are: ${known}` }))
          : Effect.succeed(table)
      })
  })
)
