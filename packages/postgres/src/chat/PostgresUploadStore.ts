/**
 * The files that came with questions, in PostgreSQL: their contents as bytes.
 */
import { Upload } from "@castellan/core/chat/Upload"
import { UploadStore } from "@castellan/core/chat/UploadStore"
import { Transaction } from "@castellan/core/transaction/Transaction"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import * as LongBytes from "../database/LongBytes.ts"
import * as LongWrite from "../database/LongWrite.ts"
import * as PostgresTransaction from "../database/PostgresTransaction.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"

const document = Document.make(Upload)

/** Keeps uploaded files in PostgreSQL. */
export const layer: Layer.Layer<UploadStore, never, SqlClient> = Layer.effect(
  UploadStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const transaction = yield* Transaction
    return UploadStore.of({
      save: (upload, content) =>
        LongWrite.run(
          sql,
          transaction,
          content.length,
          Query.run(sql`
          INSERT INTO castellan.chat_uploads (organization_id, id, chat_id, path, created_at, document, content)
          SELECT ${upload.organizationId}, ${upload.id}, ${upload.chatId}, ${upload.path},
            ${DateTime.toDateUtc(upload.createdAt)}, ${document.encode(upload)}, ${content}
          WHERE ${entering(sql, upload.organizationId)}
          ON CONFLICT (organization_id, chat_id, path) DO UPDATE SET id = excluded.id,
            created_at = excluded.created_at, document = excluded.document, content = excluded.content`)
        ),
      list: (organizationId, chatId) =>
        Query.all(
          document,
          sql`
            SELECT document FROM castellan.chat_uploads
            WHERE ${within(sql, organizationId)} AND chat_id = ${chatId} ORDER BY created_at, id`
        ),
      content: (organizationId, id) =>
        Effect.flatMap(
          Query.row(sql<LongBytes.Beginning>`
            SELECT octet_length(content) AS size,
              substring(content FROM 1 FOR ${LongBytes.pieceBytes}::int) AS content
            FROM castellan.chat_uploads WHERE ${within(sql, organizationId)} AND id = ${id}`),
          (beginning) =>
            Option.isNone(beginning)
              ? Effect.succeedNone
              : Effect.asSome(
                  LongBytes.whole(
                    beginning.value,
                    (from) => sql<{ readonly content: Uint8Array }>`
                      SELECT substring(content FROM ${from}::int FOR ${LongBytes.pieceBytes}::int) AS content
                      FROM castellan.chat_uploads WHERE ${within(sql, organizationId)} AND id = ${id}`
                  )
                )
        ),
      removeOf: (organizationId, chatId) =>
        Query.run(sql`
          DELETE FROM castellan.chat_uploads WHERE ${within(sql, organizationId)} AND chat_id = ${chatId}`)
    })
  })
).pipe(Layer.provide(PostgresTransaction.layer))
