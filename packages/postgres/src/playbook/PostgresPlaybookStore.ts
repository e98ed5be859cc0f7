/**
 * Playbooks in PostgreSQL.
 */
import { Playbook } from "@castellan/core/playbook/Playbook"
import { type PlaybookQuery, PlaybookStore } from "@castellan/core/playbook/PlaybookStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import * as AccessColumns from "../access/AccessColumns.ts"
import * as Document from "../database/Document.ts"
import { columnText } from "../database/ColumnText.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"
import { counted } from "../page/CountedList.ts"

const document = Document.make(Playbook)

/** Playbooks that belong on a list. The same as `PlaybookStore.matches`. */
const matches = (sql: SqlClient, query: PlaybookQuery): Fragment => {
  const conditions: Array<Fragment> = [within(sql, query.reader.organizationId), sql`status <> 'Deleted'`]
  if (query.status !== undefined) conditions.push(sql`status = ${query.status}`)
  if (query.searchTerm !== undefined) {
    const term = columnText(query.searchTerm.toLowerCase())
    conditions.push(sql`(strpos(lower_name, ${term}) > 0 OR strpos(lower_prompt, ${term}) > 0)`)
  }
  conditions.push(AccessColumns.readableBy(sql, query.reader, query.now))
  return sql.and(conditions)
}

/** Keeps playbooks in PostgreSQL. */
export const layer: Layer.Layer<PlaybookStore, never, SqlClient> = Layer.effect(
  PlaybookStore,
  Effect.map(SqlClient, (sql) =>
    PlaybookStore.of({
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.playbooks WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      list: (query) =>
        counted(sql, {
          document,
          table: "castellan.playbooks",
          where: matches(sql, query),
          sortBy: [query.sortBy, "id"],
          direction: query.sortDirection,
          page: query
        }),
      save: (playbook) => {
        const { name, prompt } = playbook.configuration
        return Query.run(sql`
          INSERT INTO castellan.playbooks (organization_id, id, status, name, lower_name, lower_prompt,
            ${AccessColumns.names(sql)}, created_at, updated_at, document)
          SELECT ${playbook.organizationId}, ${playbook.id}, ${playbook.status._tag}, ${columnText(name)},
            ${columnText(name.toLowerCase())}, ${columnText(prompt.toLowerCase())},
            ${AccessColumns.values(sql, playbook.access)},
            ${DateTime.toDateUtc(playbook.createdAt)}, ${DateTime.toDateUtc(playbook.updatedAt)},
            ${document.encode(playbook)}
          WHERE ${entering(sql, playbook.organizationId)}
          ON CONFLICT (organization_id, id) DO UPDATE SET status = excluded.status, name = excluded.name,
            lower_name = excluded.lower_name, lower_prompt = excluded.lower_prompt, ${AccessColumns.replaced(sql)},
            created_at = excluded.created_at, updated_at = excluded.updated_at, document = excluded.document
        `)
      }
    })
  )
)
