/**
 * Chats, their runs and what is thought of them in PostgreSQL. Whatever changes a chat together with its run is one
 * statement.
 */
import type { Chat } from "@castellan/core/chat/Chat"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { Feedback } from "@castellan/core/chat/Feedback"
import { Conflict } from "@castellan/core/error/Failure"
import { Run } from "@castellan/core/run/Run"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { SqlClient } from "effect/sql/SqlClient"
import { columnText } from "../database/ColumnText.ts"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"
import { audienceOf, type ChatAudience } from "./ChatAudience.ts"
import * as ChatList from "./ChatList.ts"
import { type ChatRow, chatOf, columns, document } from "./ChatRow.ts"

const runDocument = Document.make(Run)
const feedbackDocument = Document.make(Feedback)

/** A run was asked for while another is in progress, or of a chat that is not there. */
const busy = new Conflict({ message: "a run of this chat is in progress" })

/** Characters of a summary that lists are sorted by: more than a summary has, and what an index takes. */
const nameLength = 250

const nameOf = (chat: Chat): string => columnText(chat.summary.slice(0, nameLength))

const searchedOf = (text: string): string => columnText(text.toLowerCase())

/** Keeps chats and their runs in PostgreSQL. */
export const layer: Layer.Layer<ChatStore, never, SqlClient> = Layer.effect(
  ChatStore,
  Effect.map(SqlClient, (sql) => {
    /** Makes sure that an audience is known. */
    const keepAudience = ({ organizationId }: Chat, { client, id, readers }: ChatAudience) => sql`
      INSERT INTO castellan.chat_audiences (organization_id, client, reader, audience_id, ends_at)
      SELECT ${organizationId}, ${client}, reader, ${id}, ends_at
      FROM unnest(
        ${array(
          readers.map(({ reader }) => reader),
          PgTypes.OID.text
        )}::text[],
        ${array(
          readers.map(({ endsAt }) => endsAt),
          PgTypes.OID.timestamptz
        )}::timestamptz[]
      ) AS audience (reader, ends_at)
      WHERE ${entering(sql, organizationId)}
      ON CONFLICT DO NOTHING`

    /** Keeps a run; within a statement that has checked that it may. */
    const values = (run: Run) => sql`${run.organizationId}, ${run.id}, ${run.chatId}, ${runDocument.encode(run)}::json`

    const saveRun = (run: Run) => sql`
      UPDATE castellan.runs SET document = ${runDocument.encode(run)}
      WHERE ${within(sql, run.organizationId)} AND id = ${run.id}`

    return ChatStore.of({
      get: (organizationId, id) =>
        Effect.flatMap(
          Query.row(
            sql<ChatRow>`
              SELECT ${columns(sql)} FROM castellan.chats AS chat WHERE ${within(sql, organizationId, "chat")}
                AND chat.id = ${id}`
          ),
          Option.match({ onNone: () => Effect.succeedNone, onSome: (row) => Effect.asSome(chatOf(row)) })
        ),

      list: (query) => ChatList.list(sql, query),

      open: (chat, run) => {
        const { organizationId } = chat
        const audience = audienceOf(chat.access)
        return Query.run(sql`
          WITH audience AS (${keepAudience(chat, audience)}),
          run AS (
            INSERT INTO castellan.runs (organization_id, id, chat_id, document)
            SELECT ${values(run)} WHERE ${entering(sql, organizationId)}
          )
          INSERT INTO castellan.chats (organization_id, id, audience_id, running_run_id, created_at, updated_at, name,
            searched_summary, searched_question, document)
          SELECT ${organizationId}, ${chat.id}, ${audience.id}, ${run.id}, ${DateTime.toDateUtc(chat.createdAt)},
            ${DateTime.toDateUtc(run.createdAt)}, ${nameOf(chat)}, ${searchedOf(chat.summary)},
            ${searchedOf(chat.firstQuestion)}, ${document.encode(chat)}
          WHERE ${entering(sql, organizationId)}`)
      },

      ask: (run) =>
        Effect.flatMap(
          Query.row(sql`
            WITH chat AS (
              UPDATE castellan.chats
              SET running_run_id = ${run.id}, updated_at = ${DateTime.toDateUtc(run.createdAt)}
              WHERE ${within(sql, run.organizationId)} AND id = ${run.chatId} AND running_run_id IS NULL
              RETURNING id
            )
            INSERT INTO castellan.runs (organization_id, id, chat_id, document)
            SELECT ${values(run)} FROM chat
            RETURNING id`),
          (kept) => (Option.isNone(kept) ? Effect.fail(busy) : Effect.void)
        ),

      save: (chat) => {
        const { organizationId } = chat
        const audience = audienceOf(chat.access)
        return Query.run(sql`
          WITH audience AS (${keepAudience(chat, audience)})
          UPDATE castellan.chats
          SET audience_id = ${audience.id}, created_at = ${DateTime.toDateUtc(chat.createdAt)}, name = ${nameOf(chat)},
            searched_summary = ${searchedOf(chat.summary)}, searched_question = ${searchedOf(chat.firstQuestion)},
            document = ${document.encode(chat)}
          WHERE ${within(sql, organizationId)} AND id = ${chat.id}`)
      },

      remove: (organizationId, id) =>
        Query.run(sql`
          WITH run AS (
            DELETE FROM castellan.runs WHERE ${within(sql, organizationId)} AND chat_id = ${id}
          ), opinion AS (
            DELETE FROM castellan.chat_feedback WHERE ${within(sql, organizationId)} AND chat_id = ${id}
          )
          DELETE FROM castellan.chats WHERE ${within(sql, organizationId)} AND id = ${id}`),

      saveFeedback: (given) =>
        Query.run(sql`
          INSERT INTO castellan.chat_feedback (organization_id, chat_id, member_id, document)
          SELECT ${given.organizationId}, ${given.chatId}, ${given.memberId}, ${feedbackDocument.encode(given)}
          WHERE ${entering(sql, given.organizationId)}
          ON CONFLICT (organization_id, chat_id, member_id) DO UPDATE SET document = excluded.document`),

      feedback: (organizationId, id) =>
        Query.all(
          feedbackDocument,
          sql`SELECT document FROM castellan.chat_feedback
            WHERE ${within(sql, organizationId)} AND chat_id = ${id} ORDER BY member_id`
        ),

      run: (organizationId, id) =>
        Query.first(
          runDocument,
          sql`SELECT document FROM castellan.runs WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),

      runs: (organizationId, chatId) =>
        Query.all(
          runDocument,
          sql`SELECT document FROM castellan.runs
            WHERE ${within(sql, organizationId)} AND chat_id = ${chatId} ORDER BY place`
        ),

      saveRun: (run) => Query.run(saveRun(run)),

      endRun: (run, at) =>
        Query.run(sql`
          WITH run AS (${saveRun(run)})
          UPDATE castellan.chats SET running_run_id = NULL, updated_at = ${DateTime.toDateUtc(at)}
          WHERE ${within(sql, run.organizationId)} AND id = ${run.chatId} AND running_run_id = ${run.id}`)
    })
  })
)

const array = (elements: ReadonlyArray<unknown>, type: number) => Result.getOrThrow(PgTypes.array(elements, type))
