/**
 * What assets hold, in PostgreSQL: as bytes, text as UTF-8, so that a NUL is kept like any other character.
 */
import type { AssetFormat, AssetId } from "@castellan/core/asset/Asset"
import { type AssetBody, AssetStore } from "@castellan/core/asset/AssetStore"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { Transaction } from "@castellan/core/transaction/Transaction"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SqlClient } from "effect/sql/SqlClient"
import { columnText } from "../database/ColumnText.ts"
import * as LongBytes from "../database/LongBytes.ts"
import * as LongWrite from "../database/LongWrite.ts"
import * as PostgresTransaction from "../database/PostgresTransaction.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"

interface BodyRow extends LongBytes.Beginning {
  readonly isText: boolean
  readonly name: string | null
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

const rowOf = ({ content, format }: AssetBody) =>
  typeof content === "string"
    ? { format, isText: true, content: encoder.encode(content) }
    : { format, isText: false, content }

/** Keeps assets in PostgreSQL. */
export const layer: Layer.Layer<AssetStore, never, SqlClient> = Layer.effect(
  AssetStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const transaction = yield* Transaction
    /** The beginning of a body, and the statements for the rest of it. */
    const find = (organizationId: OrganizationId, id: AssetId, format: AssetFormat) => {
      const isIt = sql`${within(sql, organizationId)} AND asset_id = ${id} AND format = ${format}`
      const begin = Query.row(sql<BodyRow>`
        SELECT is_text AS "isText", name, octet_length(content) AS size,
          substring(content FROM 1 FOR ${LongBytes.pieceBytes}::int) AS content
        FROM castellan.asset_bodies WHERE ${isIt}`)
      const piece: LongBytes.PieceStatement = (from) => sql<{ readonly content: Uint8Array }>`
        SELECT substring(content FROM ${from}::int FOR ${LongBytes.pieceBytes}::int) AS content
        FROM castellan.asset_bodies WHERE ${isIt}`
      return { begin, piece }
    }
    return AssetStore.of({
      put: ({ chatId, id, name, organizationId }, bodies) => {
        if (bodies.length === 0) return Effect.void
        const rows = bodies.map(rowOf)
        const values = rows.map(
          ({ content, format, isText }) => sql`(${format}::text, ${isText}::boolean, ${content}::bytea)`
        )
        const write = Query.run(sql`
          INSERT INTO castellan.asset_bodies (organization_id, asset_id, format, chat_id, name, is_text, content)
          SELECT ${organizationId}, ${id}, body.format, ${chatId}, ${columnText(name)}, body.is_text, body.content
          FROM (VALUES ${sql.csv(values)}) AS body (format, is_text, content)
          WHERE ${entering(sql, organizationId)}
          ON CONFLICT (organization_id, asset_id, format)
            DO UPDATE SET name = excluded.name, is_text = excluded.is_text, content = excluded.content`)
        const bytes = rows.reduce((sum, { content }) => sum + content.length, 0)
        return LongWrite.run(sql, transaction, bytes, write)
      },
      body: Effect.fnUntraced(function* (organizationId, id, format) {
        const { begin, piece } = find(organizationId, id, format)
        const beginning = yield* begin
        if (Option.isNone(beginning)) return Option.none()
        const content = yield* LongBytes.whole(beginning.value, piece)
        return Option.some(beginning.value.isText ? decoder.decode(content) : content)
      }),
      open: (organizationId, id, format) => {
        const { begin, piece } = find(organizationId, id, format)
        return Effect.map(
          begin,
          Option.map(({ name, ...beginning }) => ({
            ...(name === null ? {} : { name }),
            size: beginning.size,
            pieces: LongBytes.pieces(beginning, piece)
          }))
        )
      },
      removeOf: (organizationId, chatId) =>
        Query.run(sql`
          DELETE FROM castellan.asset_bodies WHERE ${within(sql, organizationId)} AND chat_id = ${chatId}`)
    })
  })
).pipe(Layer.provide(PostgresTransaction.layer))
