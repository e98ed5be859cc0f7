/**
 * What assets hold, in PostgreSQL: as bytes, text as UTF-8, so that a NUL is kept like any other character.
 */
import { AssetStore } from "@castellan/core/asset/AssetStore"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { SqlClient } from "effect/sql/SqlClient"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"

interface BodyRow {
  readonly isText: boolean
  readonly content: Uint8Array
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

const array = (values: ReadonlyArray<unknown>, element: number) => Result.getOrThrow(PgTypes.array(values, element))

/** Keeps assets in PostgreSQL. */
export const layer: Layer.Layer<AssetStore, never, SqlClient> = Layer.effect(
  AssetStore,
  Effect.map(SqlClient, (sql) =>
    AssetStore.of({
      put: ({ chatId, id, organizationId }, bodies) =>
        Query.run(sql`
          INSERT INTO castellan.asset_bodies (organization_id, asset_id, format, chat_id, is_text, content)
          SELECT ${organizationId}, ${id}, body.format, ${chatId}, body.is_text, body.content
          FROM unnest(
            ${array(
              bodies.map(({ format }) => format),
              PgTypes.OID.text
            )}::text[],
            ${array(
              bodies.map(({ content }) => typeof content === "string"),
              PgTypes.OID.bool
            )}::boolean[],
            ${array(
              bodies.map(({ content }) => (typeof content === "string" ? encoder.encode(content) : content)),
              PgTypes.OID.bytea
            )}::bytea[]
          ) AS body (format, is_text, content)
          WHERE ${entering(sql, organizationId)}
          ON CONFLICT (organization_id, asset_id, format)
            DO UPDATE SET is_text = excluded.is_text, content = excluded.content`),
      body: (organizationId, id, format) =>
        Effect.map(
          Query.row(sql<BodyRow>`
            SELECT is_text AS "isText", content FROM castellan.asset_bodies
            WHERE ${within(sql, organizationId)} AND asset_id = ${id} AND format = ${format}`),
          Option.map(({ content, isText }) => (isText ? decoder.decode(content) : content))
        ),
      removeOf: (organizationId, chatId) =>
        Query.run(sql`
          DELETE FROM castellan.asset_bodies WHERE ${within(sql, organizationId)} AND chat_id = ${chatId}`)
    })
  )
)
