/**
 * How PostgreSQL carries out the statements of a store, as the store sends them.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CurrentTransformer } from "effect/sql/Statement"

/** A statement as it was sent. */
interface Sent {
  readonly text: string
  readonly parameters: ReadonlyArray<unknown>
}

/** A node of a plan that was carried out. */
export interface PlanNode {
  readonly "Node Type": string
  readonly "Index Name"?: string
  readonly "Actual Rows": number
  readonly "Shared Hit Blocks": number
  readonly "Shared Read Blocks": number
  readonly Plans?: ReadonlyArray<PlanNode>
}

const PlanNode: Schema.Codec<PlanNode> = Schema.Struct({
  "Node Type": Schema.String,
  "Index Name": Schema.optionalKey(Schema.String),
  "Actual Rows": Schema.Number,
  "Shared Hit Blocks": Schema.Number,
  "Shared Read Blocks": Schema.Number,
  Plans: Schema.optionalKey(Schema.Array(Schema.suspend((): Schema.Codec<PlanNode> => PlanNode)))
})

const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ Plan: PlanNode })))

/** The plans of every statement that an effect sends, each carried out once more to see what it visits. */
export const plansOf = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const sql = yield* PgClient.PgClient
  const sent: Array<Sent> = []
  yield* Effect.provideService(effect, CurrentTransformer, (statement) =>
    Effect.sync(() => {
      const [text, parameters] = statement.compile()
      sent.push({ text, parameters })
      return statement
    })
  )
  return yield* Effect.forEach(sent, ({ parameters, text }) =>
    sql.unsafe<{ readonly "QUERY PLAN": unknown }>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, parameters).pipe(
      Effect.flatMap(([row]) => decode(row?.["QUERY PLAN"])),
      Effect.flatMap(([explained]) =>
        explained === undefined ? Effect.die(new Error("a statement without a plan")) : Effect.succeed(explained.Plan)
      )
    )
  )
})

/** A node and all below it. */
export const nodesOf = (plan: PlanNode): ReadonlyArray<PlanNode> => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** Pages of the database that a plan looked at. */
export const pagesOf = (plan: PlanNode): number => plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
