/**
 * How a server carries out what stores ask it: the statements that an effect runs, each with the plan that it gets and
 * with what the plan came upon. Plans are of prepared statements, as the service's are: either made for the values of
 * one call, or the one that the server keeps for every call.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import { CurrentTransformer } from "effect/sql/Statement"

/** Which of the plans of a prepared statement to look at. */
export type PlanMode = "auto" | "force_custom_plan" | "force_generic_plan"

/** One step of a plan, as `EXPLAIN` tells it. */
interface Step {
  readonly "Node Type": string
  readonly "Index Name"?: string | undefined
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number | undefined
  readonly "Rows Removed by Index Recheck"?: number | undefined
  readonly "Shared Hit Blocks": number
  readonly "Shared Read Blocks": number
  readonly Plans?: ReadonlyArray<Step> | undefined
}

const Step: Schema.Codec<Step> = Schema.Struct({
  "Node Type": Schema.String,
  "Index Name": Schema.optional(Schema.String),
  "Actual Rows": Schema.Number,
  "Actual Loops": Schema.Number,
  "Rows Removed by Filter": Schema.optional(Schema.Number),
  "Rows Removed by Index Recheck": Schema.optional(Schema.Number),
  "Shared Hit Blocks": Schema.Number,
  "Shared Read Blocks": Schema.Number,
  Plans: Schema.optional(Schema.Array(Schema.suspend(() => Step)))
})

const decodePlan = Schema.decodeUnknownEffect(
  Schema.Tuple([Schema.Struct({ "QUERY PLAN": Schema.Tuple([Schema.Struct({ Plan: Step })]) })])
)

/** A look through a table or an index. */
export interface Scan {
  readonly kind: string
  readonly index: string | undefined
  /** What it found, each time. */
  readonly rows: number
}

/** What a statement's plan did. */
export interface Plan {
  readonly statement: string
  /** The kinds of step: `Index Scan`, `Sort`, … */
  readonly steps: ReadonlyArray<string>
  readonly indexes: ReadonlyArray<string>
  readonly scans: ReadonlyArray<Scan>
  /** Rows that were looked at in tables and indexes, those that were put aside among them. */
  readonly examined: number
  /** Pages of the database that were looked at. */
  readonly pages: number
}

const stepsOf = (step: Step): ReadonlyArray<Step> => [step, ...(step.Plans ?? []).flatMap(stepsOf)]

const examinedBy = (step: Step): number =>
  step["Node Type"].endsWith("Scan") && !/^(?:Subquery|CTE|WorkTable|Function|Bitmap Index)/.test(step["Node Type"])
    ? step["Actual Loops"] *
      (step["Actual Rows"] + (step["Rows Removed by Filter"] ?? 0) + (step["Rows Removed by Index Recheck"] ?? 0))
    : 0

/** A parameter as SQL has it. */
const literal = (value: unknown): string => {
  if (value === null || value === undefined) return "NULL"
  if (Array.isArray(value)) return `ARRAY[${value.map(literal).join(", ")}]::text[]`
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`
  return value instanceof Date ? `'${value.toISOString()}'` : String(value)
}

/** The plans of every statement that an effect runs, in order. */
export const plansOf = Effect.fnUntraced(function* <A, E, R>(mode: PlanMode, effect: Effect.Effect<A, E, R>) {
  const sql = yield* SqlClient
  const statements: Array<readonly [text: string, parameters: ReadonlyArray<unknown>]> = []
  yield* Effect.provideService(effect, CurrentTransformer, (statement) =>
    Effect.sync(() => {
      statements.push(statement.compile())
      return statement
    })
  )
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql.unsafe(`SET LOCAL plan_cache_mode = ${mode}`)
      return yield* Effect.forEach(statements, ([text, parameters]) =>
        Effect.gen(function* () {
          const values = parameters.length === 0 ? "" : `(${parameters.map(literal).join(", ")})`
          yield* sql.unsafe(`PREPARE planned AS ${text}`).unprepared
          const found = yield* sql.unsafe(
            `EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) EXECUTE planned${values}`
          ).unprepared
          yield* sql.unsafe("DEALLOCATE planned").unprepared
          const [row] = yield* decodePlan(found)
          const whole = row["QUERY PLAN"][0].Plan
          const steps = stepsOf(whole)
          return {
            statement: text,
            steps: steps.map((step) => step["Node Type"]),
            indexes: steps.flatMap((step) => step["Index Name"] ?? []),
            scans: steps
              .filter((step) => step["Node Type"].includes("Scan"))
              .map((step) => ({ kind: step["Node Type"], index: step["Index Name"], rows: step["Actual Rows"] })),
            examined: steps.reduce((total, step) => total + examinedBy(step), 0),
            pages: whole["Shared Hit Blocks"] + whole["Shared Read Blocks"]
          } satisfies Plan
        })
      )
    })
  )
})
