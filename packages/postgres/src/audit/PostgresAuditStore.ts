/**
 * The audit log in PostgreSQL, in the order of its primary key. Every way to look for something has an index in the same
 * order, so that a page costs the rows that it holds.
 */
import { AuditEvent } from "@castellan/core/audit/AuditEvent"
import { type AuditQuery, AuditStore } from "@castellan/core/audit/AuditStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import * as Document from "../database/Document.ts"
import * as Keyset from "../database/Keyset.ts"
import { keyText } from "../database/KeyText.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"

const document = Document.make(AuditEvent)

/** What a query adds to the condition of a statement. */
const narrowing = (sql: SqlClient, query: AuditQuery): ReadonlyArray<Fragment> => {
  const { action, after, from, memberId, outcome, targetId, targetType, until } = query
  const conditions: Array<Fragment> = []
  if (action !== undefined) conditions.push(sql`action = ${action}`)
  if (targetType !== undefined) conditions.push(sql`target_type = ${targetType}`)
  if (targetId !== undefined) conditions.push(sql`target_id = ${keyText(targetId)}`)
  if (memberId !== undefined) conditions.push(sql`member_id = ${memberId}`)
  if (outcome !== undefined) conditions.push(outcome === "Refused" ? sql`is_refused` : sql`NOT is_refused`)
  if (from !== undefined) conditions.push(sql`at >= ${DateTime.toDateUtc(from)}`)
  if (until !== undefined) conditions.push(sql`at < ${DateTime.toDateUtc(until)}`)
  if (after !== undefined) conditions.push(Keyset.after(sql, "at", after))
  return conditions
}

/** Keeps audit events in PostgreSQL. */
export const layer: Layer.Layer<AuditStore, never, SqlClient> = Layer.effect(
  AuditStore,
  Effect.map(SqlClient, (sql) =>
    AuditStore.of({
      append: (event) =>
        Query.run(sql`
          INSERT INTO castellan.audit_events
            (organization_id, id, at, action, target_type, target_id, member_id, is_refused, document)
          SELECT ${event.organizationId}, ${event.id}, ${DateTime.toDateUtc(event.at)}, ${event.action},
            ${event.target.type}, ${event.target.id === undefined ? null : keyText(event.target.id)},
            ${event.actor.memberId}, ${event.outcome._tag === "Refused"}, ${document.encode(event)}
          WHERE ${entering(sql, event.organizationId)}
        `),
      list: (organizationId, query) =>
        Effect.map(
          Query.all(
            document,
            sql`SELECT document FROM castellan.audit_events
              WHERE ${sql.and([within(sql, organizationId), ...narrowing(sql, query)])}
              ORDER BY at DESC, id DESC LIMIT ${Keyset.rowsFor(query)}`
          ),
          (found) => Keyset.slice(found, query, ({ at, id }) => ({ at, id }))
        )
    })
  )
)
