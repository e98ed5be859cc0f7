/**
 * Apps in PostgreSQL.
 */
import { App } from "@castellan/core/app/App"
import { type AppQuery, AppStore } from "@castellan/core/app/AppStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import * as AccessColumns from "../access/AccessColumns.ts"
import { clientKey } from "../access/ClientKey.ts"
import { columnText } from "../database/ColumnText.ts"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"
import { counted } from "../page/CountedList.ts"

const document = Document.make(App)

/** Apps that belong on a list. The same as `AppStore.matches`. */
const matches = (sql: SqlClient, { now, reader }: AppQuery): Fragment =>
  sql.and([
    within(sql, reader.organizationId),
    sql`chat_client = ${clientKey(reader.clientMetadata)}`,
    AccessColumns.readableBy(sql, reader, now)
  ])

/** Keeps apps in PostgreSQL. */
export const layer: Layer.Layer<AppStore, never, SqlClient> = Layer.effect(
  AppStore,
  Effect.map(SqlClient, (sql) =>
    AppStore.of({
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.apps WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      list: (query) =>
        counted(sql, {
          document,
          table: "castellan.apps",
          where: matches(sql, query),
          sortBy: ["name", "id"],
          direction: "asc",
          page: query
        }),
      save: (app) =>
        Query.run(sql`
          INSERT INTO castellan.apps (organization_id, id, name, chat_client, ${AccessColumns.names(sql)}, document)
          SELECT ${app.organizationId}, ${app.id}, ${columnText(app.name)},
            ${clientKey(app.chatCreator?.clientMetadata)}, ${AccessColumns.values(sql, app.access)},
            ${document.encode(app)}
          WHERE ${entering(sql, app.organizationId)}
          ON CONFLICT (organization_id, id) DO UPDATE SET name = excluded.name, chat_client = excluded.chat_client,
            ${AccessColumns.replaced(sql)}, document = excluded.document
        `),
      remove: (organizationId, id) =>
        Query.run(sql`DELETE FROM castellan.apps WHERE ${within(sql, organizationId)} AND id = ${id}`)
    })
  )
)
