/**
 * The triggers of agents in PostgreSQL.
 */
import { Trigger } from "@castellan/core/agent/Trigger"
import { TriggerStore } from "@castellan/core/agent/TriggerStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"

const document = Document.make(Trigger)

/** Keeps triggers in PostgreSQL. */
export const layer: Layer.Layer<TriggerStore, never, SqlClient> = Layer.effect(
  TriggerStore,
  Effect.map(SqlClient, (sql) =>
    TriggerStore.of({
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.triggers WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      ofAgent: (organizationId, agentId) =>
        Query.all(
          document,
          sql`
            SELECT document FROM castellan.triggers
            WHERE ${within(sql, organizationId)} AND agent_id = ${agentId} ORDER BY id`
        ),
      add: (trigger) =>
        Query.run(sql`
          INSERT INTO castellan.triggers (organization_id, id, agent_id, document)
          SELECT ${trigger.organizationId}, ${trigger.id}, ${trigger.agentId}, ${document.encode(trigger)}
          WHERE ${entering(sql, trigger.organizationId)}
        `),
      remove: (organizationId, id) =>
        Query.run(sql`DELETE FROM castellan.triggers WHERE ${within(sql, organizationId)} AND id = ${id}`)
    })
  )
)
