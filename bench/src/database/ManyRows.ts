/**
 * A database with as many chats and executions as asked for, made by the database itself.
 */
import { audienceOf } from "@castellan/postgres/chat/ChatAudience"
import { document } from "@castellan/postgres/chat/ChatRow"
import * as Documents from "@castellan/postgres/database/Document"
import { entering } from "@castellan/postgres/database/Tenancy"
import type { Principal } from "@castellan/core/access/Principal"
import { Execution, ExecutionId } from "@castellan/core/sandcastle/Execution"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Somebody who reads them. */
export const reader: Effect.Effect<Principal> = Effect.provide(
  Effect.flatMap(Sample.organizationId, (organizationId) => Sample.principal(organizationId)),
  layerCrypto
)

/**
 * Chats of an organization over the last two years: of ten, nine are the reader's list, half of these its own and half
 * everybody's; the tenth is another member's.
 */
export const chats = (me: Principal, rows: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { organizationId } = me
    const other = yield* Sample.principal(organizationId)
    const chat = yield* Sample.chat(me)
    const foreign = yield* Sample.chat(other)
    const own = audienceOf(chat.access)
    const everybody = audienceOf({ ...chat.access, isPublic: true })
    const others = audienceOf(foreign.access)
    for (const { client, id, readers } of [own, everybody, others]) {
      for (const { reader: one } of readers) {
        yield* sql`
          INSERT INTO castellan.chat_audiences (organization_id, client, reader, audience_id, ends_at)
          SELECT ${organizationId}, ${client}, ${one}, ${id}, 'infinity' WHERE ${entering(sql, organizationId)}`
      }
    }
    yield* sql`
      INSERT INTO castellan.chats (organization_id, id, audience_id, created_at, updated_at, name, searched_summary,
        searched_question, document)
      SELECT ${organizationId}::uuid, gen_random_uuid(),
        CASE WHEN number % 20 < 9 THEN ${own.id}::uuid WHEN number % 20 < 18 THEN ${everybody.id}::uuid
          ELSE ${others.id}::uuid END,
        now() - number * interval '63 seconds', now() - number * interval '63 seconds', md5(number::text),
        'how much did we sell?', 'how much did we sell?', ${document.encode(chat)}::json
      FROM generate_series(1, ${rows}::int) AS number WHERE ${entering(sql, organizationId)}`
    return chat
  }).pipe(Effect.provide(layerCrypto))

/** Executions of one sandcastle over the last month. */
export const executions = (me: Principal, rows: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const now = yield* DateTime.now
    const sandcastleId = SandcastleId.make("bench")
    const execution = new Execution({
      id: ExecutionId.make(yield* Uuid.next),
      organizationId: me.organizationId,
      sandcastleId,
      kind: "sql",
      source: "chat",
      input: "SELECT region, sum(amount) FROM sales GROUP BY region ORDER BY 2 DESC",
      outputPreview: "north 120\nsouth 98\nwest 71\n",
      status: { _tag: "Completed", endedAt: now },
      createdAt: now
    })
    yield* sql`
      INSERT INTO castellan.executions (organization_id, id, sandcastle_id, created_at, recorded_at, document)
      SELECT ${me.organizationId}::uuid, id, ${sandcastleId}, at, at, (jsonb_set(jsonb_set(
          ${Documents.make(Execution).encode(execution)}::jsonb, '{id}', to_jsonb(id)), '{createdAt}',
          to_jsonb(to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))))::json
      FROM (SELECT gen_random_uuid() AS id, date_trunc('milliseconds', now()) - number * interval '2 seconds' AS at
        FROM generate_series(1, ${rows}::int) AS number) AS made
      WHERE ${entering(sql, me.organizationId)}`
    return sandcastleId
  }).pipe(Effect.provide(layerCrypto))
