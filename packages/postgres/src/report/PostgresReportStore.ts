/**
 * Reports in PostgreSQL.
 */
import { Report } from "@castellan/core/report/Report"
import { ReportStore } from "@castellan/core/report/ReportStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import { clientKey } from "../access/ClientKey.ts"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"
import { counted } from "../page/CountedList.ts"

const document = Document.make(Report)

/** Keeps reports in PostgreSQL. */
export const layer: Layer.Layer<ReportStore, never, SqlClient> = Layer.effect(
  ReportStore,
  Effect.map(SqlClient, (sql) =>
    ReportStore.of({
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.reports WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      list: (query) =>
        counted(sql, {
          document,
          table: "castellan.reports",
          where: sql.and([
            within(sql, query.reader.organizationId),
            sql`playbook_id = ${query.playbookId}`,
            sql`client = ${clientKey(query.reader.clientMetadata)}`
          ]),
          sortBy: ["created_at", "id"],
          direction: "desc",
          page: query
        }),
      add: (report) =>
        Query.run(sql`
          INSERT INTO castellan.reports (organization_id, id, playbook_id, client, created_at, document)
          SELECT ${report.organizationId}, ${report.id}, ${report.playbookId},
            ${clientKey(report.creator.clientMetadata)}, ${DateTime.toDateUtc(report.createdAt)},
            ${document.encode(report)}
          WHERE ${entering(sql, report.organizationId)}
        `)
    })
  )
)
