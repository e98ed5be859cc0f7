/**
 * Usage in PostgreSQL: a row for each run, and sums that the database makes.
 */
import * as ClientMetadata from "@castellan/core/access/ClientMetadata"
import { UsageRecord } from "@castellan/core/usage/UsageRecord"
import { UsageStore } from "@castellan/core/usage/UsageStore"
import * as UsageSums from "@castellan/core/usage/UsageSums"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"
import { uuidArray } from "../database/UuidArray.ts"

const document = Document.make(UsageRecord)

/** One sum as the statement answers with it. */
interface SumRow {
  readonly day: string | null
  readonly member_id: string | null
  readonly role_id: string | null
  readonly model: string | null
  readonly client: string | null
  readonly runs: bigint
  readonly input_tokens: bigint
  readonly output_tokens: bigint
  readonly tool_calls: bigint
  readonly duration_millis: bigint
  readonly cost: bigint
  readonly unpriced_runs: bigint
}

const decodeSums = Schema.decodeUnknownEffect(Schema.Array(UsageSums.UsageSum))

const sumOf = (row: SumRow): typeof UsageSums.UsageSum.Encoded => ({
  group: {
    ...(row.day === null ? {} : { day: row.day }),
    ...(row.member_id === null ? {} : { memberId: row.member_id }),
    ...(row.role_id === null ? {} : { roleId: row.role_id }),
    ...(row.model === null ? {} : { model: row.model }),
    ...(row.client === null ? {} : { client: row.client })
  },
  totals: {
    runs: Number(row.runs),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    toolCalls: Number(row.tool_calls),
    durationMillis: Number(row.duration_millis),
    cost: Number(row.cost),
    unpricedRuns: Number(row.unpriced_runs)
  }
})

/** What a filter adds to the condition of a statement. The same as `UsageSums.matches`. */
const narrowing = (sql: SqlClient, filter: UsageSums.UsageFilter): ReadonlyArray<Fragment> => {
  const { client, from, memberId, model, roleId, until } = filter
  const conditions: Array<Fragment> = []
  if (memberId !== undefined) conditions.push(sql`member_id = ${memberId}`)
  if (roleId !== undefined) conditions.push(sql`${roleId}::uuid = ANY(roles)`)
  if (model !== undefined) conditions.push(sql`model = ${model}`)
  if (client !== undefined) {
    conditions.push(ClientMetadata.isEmpty(client) ? sql`false` : sql`client = ${ClientMetadata.canonicalText(client)}`)
  }
  if (from !== undefined) conditions.push(sql`at >= ${DateTime.toDateUtc(from)}`)
  if (until !== undefined) conditions.push(sql`at < ${DateTime.toDateUtc(until)}`)
  return conditions
}

/** Keeps usage in PostgreSQL. */
export const layer: Layer.Layer<UsageStore, never, SqlClient> = Layer.effect(
  UsageStore,
  Effect.map(SqlClient, (sql) =>
    UsageStore.of({
      record: (record) =>
        Query.run(sql`
          INSERT INTO castellan.usage_records (organization_id, run_id, member_id, roles, client, model, input_tokens,
            output_tokens, tool_calls, duration_millis, cost, at, document)
          SELECT ${record.organizationId}, ${record.runId}, ${record.memberId}, ${uuidArray(record.roles)},
            ${record.clientMetadata === undefined ? null : ClientMetadata.canonicalText(record.clientMetadata)},
            ${record.model}, ${BigInt(record.inputTokens)}, ${BigInt(record.outputTokens)}, ${BigInt(record.toolCalls)},
            ${BigInt(record.durationMillis)}, ${record.cost === undefined ? null : BigInt(record.cost)},
            ${DateTime.toDateUtc(record.at)}, ${document.encode(record)}
          WHERE ${entering(sql, record.organizationId)}
          ON CONFLICT (organization_id, run_id) DO NOTHING
        `),
      sums: Effect.fnUntraced(function* (organizationId, query) {
        const by = new Set(query.by)
        // A group's field is null where it is not asked for, so that one statement tells apart by whatever is.
        const found = yield* Query.rows(sql<SumRow>`
          SELECT
            CASE WHEN ${by.has("day")} THEN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD') END AS day,
            CASE WHEN ${by.has("member")} THEN member_id END AS member_id,
            role.id AS role_id,
            CASE WHEN ${by.has("model")} THEN model END AS model,
            CASE WHEN ${by.has("client")} THEN client END AS client,
            count(*) AS runs, sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens,
            sum(tool_calls)::bigint AS tool_calls, sum(duration_millis)::bigint AS duration_millis,
            coalesce(sum(cost), 0)::bigint AS cost, count(*) - count(cost) AS unpriced_runs
          FROM castellan.usage_records
            LEFT JOIN LATERAL unnest(CASE WHEN ${by.has("role")} THEN roles END) AS role (id) ON true
          WHERE ${sql.and([within(sql, organizationId), ...narrowing(sql, query)])}
          GROUP BY 1, 2, 3, 4, 5
        `)
        if (by.size === 0 && found.length === 0) return [{ group: {}, totals: UsageSums.noTotals }]
        return UsageSums.ordered(yield* Effect.orDie(decodeSums(found.map(sumOf))))
      })
    })
  )
)
