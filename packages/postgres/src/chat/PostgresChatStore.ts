/**
 * Chats, their runs and what is thought of them in PostgreSQL. Whatever changes a chat together with its run is one
 * statement.
 */
import { Chat } from "@castellan/core/chat/Chat"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { Feedback } from "@castellan/core/chat/Feedback"
import { Conflict } from "@castellan/core/error/Failure"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { isEnded, Run, type RunId } from "@castellan/core/run/Run"
import { type HeldRun, type RenewedRun, startedBy, type TakenRun } from "@castellan/core/run/RunLease"
import { Transaction } from "@castellan/core/transaction/Transaction"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { SqlClient } from "effect/sql/SqlClient"
import { columnText } from "../database/ColumnText.ts"
import * as Document from "../database/Document.ts"
import * as PostgresTransaction from "../database/PostgresTransaction.ts"
import * as Query from "../database/Query.ts"
import { acrossOrganizations, entering, within } from "../database/Tenancy.ts"
import { uuidArray } from "../database/UuidArray.ts"
import * as RunNotifications from "../run/RunNotifications.ts"
import { audienceOf } from "./ChatAudience.ts"
import * as ChatList from "./ChatList.ts"
import { type ChatRow, chatOf, columns, document } from "./ChatRow.ts"
import * as KeptAudience from "./KeptAudience.ts"

const runDocument = Document.make(Run)
const feedbackDocument = Document.make(Feedback)

/** A run was asked for while another is in progress, or of a chat that is not there. */
const busy = new Conflict({ message: "a run of this chat is in progress" })

/** Characters of a summary that lists are sorted by: more than a summary has, and what an index takes. */
const nameLength = 250

const nameOf = (chat: Chat): string => columnText(chat.summary.slice(0, nameLength))

const searchedOf = (text: string): string => columnText(text.toLowerCase())

/** A chat that has left an audience, as it was; null where it has not. */
interface LeftRow {
  readonly document: unknown
}

const accessOf = Document.make(Schema.Struct({ access: Chat.fields.access })).decode

/** A lease, as whoever has taken it finds it. */
interface LeaseRow {
  readonly epoch: number
  readonly isCancelled: boolean
  readonly inputTokens: number
  readonly outputTokens: number
  readonly toolCalls: number
}

/** Keeps chats and their runs in PostgreSQL. */
export const layer: Layer.Layer<ChatStore, never, RunNotifications.RunNotifications | SqlClient> = Layer.effect(
  ChatStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const notifications = yield* RunNotifications.RunNotifications
    const transaction = yield* Transaction
    /** Looks whether the audience that a chat has left has any other. */
    const forget = (organizationId: OrganizationId, left: Option.Option<LeftRow>) =>
      Option.isNone(left) || left.value.document === null
        ? Effect.void
        : Effect.flatMap(accessOf(left.value.document), ({ access }) =>
            KeptAudience.forget(sql, organizationId, audienceOf(access))
          )

    /** Keeps a run; within a statement that has checked that it may. */
    const values = (run: Run) => sql`${run.organizationId}, ${run.id}, ${run.chatId}, ${runDocument.encode(run)}::json`

    /** The lease of a run that was just asked; within a statement that has checked that it may. */
    const lease = (run: Run) =>
      sql`${run.organizationId}, ${run.id}, ${run.epoch}, ${DateTime.toDateUtc(startedBy(run))}`

    /** The lease of a run in its epoch. Whoever waits for it here finds it as the one before has left it. */
    const held = ({ epoch, id, organizationId }: HeldRun) =>
      sql`${within(sql, organizationId)} AND run_id = ${id} AND epoch = ${epoch}`

    const runOf = (organizationId: OrganizationId, id: RunId) =>
      Query.first(
        runDocument,
        sql`SELECT document FROM castellan.runs WHERE ${within(sql, organizationId)} AND id = ${id}`
      )

    /** The run as whoever takes it up finds it. What it used up was last told with its lease, until it ended. */
    const taken = (run: Run, { epoch, isCancelled, ...usage }: LeaseRow): TakenRun => ({
      run: new Run({ ...run, epoch, usage: isEnded(run) ? run.usage : usage }),
      isCancelled
    })

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
          WITH ${KeptAudience.keep(sql, organizationId, audience)}, run AS (
            INSERT INTO castellan.runs (organization_id, id, chat_id, document)
            SELECT ${values(run)} WHERE ${entering(sql, organizationId)}
          ), lease AS (
            INSERT INTO castellan.run_leases (organization_id, run_id, epoch, until)
            SELECT ${lease(run)} WHERE ${entering(sql, organizationId)}
          )
          INSERT INTO castellan.chats (organization_id, id, audience_id, running_run_id, created_at, updated_at, name,
            searched_summary, searched_question, document)
          SELECT ${organizationId}, ${chat.id}, ${audience.id}, ${run.id}, ${DateTime.toDateUtc(chat.createdAt)},
            ${DateTime.toDateUtc(run.createdAt)}, ${nameOf(chat)}, ${searchedOf(chat.summary)},
            ${searchedOf(chat.firstQuestion)}, ${document.encode(chat)}
          WHERE ${entering(sql, organizationId)} AND ${KeptAudience.isKept(sql)}`).pipe(transaction.run)
      },

      ask: (run) =>
        Effect.flatMap(
          Query.row(sql`
            WITH chat AS (
              UPDATE castellan.chats
              SET running_run_id = ${run.id}, updated_at = ${DateTime.toDateUtc(run.createdAt)}
              WHERE ${within(sql, run.organizationId)} AND id = ${run.chatId} AND running_run_id IS NULL
              RETURNING id
            ), lease AS (
              INSERT INTO castellan.run_leases (organization_id, run_id, epoch, until) SELECT ${lease(run)} FROM chat
            )
            INSERT INTO castellan.runs (organization_id, id, chat_id, document)
            SELECT ${values(run)} FROM chat
            RETURNING id`),
          (kept) => (Option.isNone(kept) ? Effect.fail(busy) : Effect.void)
        ),

      save: (chat) =>
        Effect.gen(function* () {
          const { organizationId } = chat
          const audience = audienceOf(chat.access)
          const left = yield* Query.row(sql<LeftRow>`
            WITH ${KeptAudience.keep(sql, organizationId, audience)}, before AS (
              SELECT document FROM castellan.chats
              WHERE ${within(sql, organizationId)} AND id = ${chat.id} AND audience_id <> ${audience.id}
            )
            UPDATE castellan.chats
            SET audience_id = ${audience.id}, created_at = ${DateTime.toDateUtc(chat.createdAt)},
              name = ${nameOf(chat)}, searched_summary = ${searchedOf(chat.summary)},
              searched_question = ${searchedOf(chat.firstQuestion)}, document = ${document.encode(chat)}
            WHERE ${within(sql, organizationId)} AND id = ${chat.id} AND ${KeptAudience.isKept(sql)}
            RETURNING (SELECT document FROM before)`)
          yield* forget(organizationId, left)
        }).pipe(transaction.run),

      remove: (organizationId, id) =>
        Effect.gen(function* () {
          const left = yield* Query.row(sql<LeftRow>`
            WITH run AS (
              DELETE FROM castellan.runs WHERE ${within(sql, organizationId)} AND chat_id = ${id} RETURNING id
            ), lease AS (
              DELETE FROM castellan.run_leases
              WHERE ${within(sql, organizationId)} AND run_id IN (SELECT id FROM run)
            ), opinion AS (
              DELETE FROM castellan.chat_feedback WHERE ${within(sql, organizationId)} AND chat_id = ${id}
            )
            DELETE FROM castellan.chats WHERE ${within(sql, organizationId)} AND id = ${id} RETURNING document`)
          yield* forget(organizationId, left)
        }).pipe(transaction.run),

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

      run: runOf,

      runs: (organizationId, chatId) =>
        Query.all(
          runDocument,
          sql`SELECT document FROM castellan.runs
            WHERE ${within(sql, organizationId)} AND chat_id = ${chatId} ORDER BY place`
        ),

      // The lease is held until the run is written: who takes it up next finds what was written.
      saveRun: (run) =>
        Effect.map(
          Query.row(sql`
            WITH lease AS (SELECT run_id FROM castellan.run_leases WHERE ${held(run)} FOR UPDATE)
            UPDATE castellan.runs AS run SET document = ${runDocument.encode(run)} FROM lease
            WHERE ${within(sql, run.organizationId, "run")} AND run.id = lease.run_id
            RETURNING run.id`),
          Option.isSome
        ),

      endRun: (run, at) =>
        Effect.map(
          Query.row(sql`
            WITH lease AS (UPDATE castellan.run_leases SET is_ended = true WHERE ${held(run)} RETURNING run_id),
            chat AS (
              UPDATE castellan.chats SET running_run_id = NULL, updated_at = ${DateTime.toDateUtc(at)}
              WHERE ${within(sql, run.organizationId)} AND id = ${run.chatId}
                AND running_run_id = (SELECT run_id FROM lease)
            )
            UPDATE castellan.runs AS run SET document = ${runDocument.encode(run)} FROM lease
            WHERE ${within(sql, run.organizationId, "run")} AND run.id = lease.run_id
            RETURNING run.id`),
          Option.isSome
        ),

      take: Effect.fnUntraced(function* ({ id, organizationId }, { now, runnerId, until }) {
        const own = yield* Query.row(sql<LeaseRow>`
          UPDATE castellan.run_leases
          SET runner_id = ${runnerId}, epoch = epoch + 1, until = ${DateTime.toDateUtc(until)}
          WHERE ${within(sql, organizationId)} AND run_id = ${id}
            AND (runner_id IS NULL OR until <= ${DateTime.toDateUtc(now)})
          RETURNING epoch, is_cancelled AS "isCancelled", input_tokens AS "inputTokens",
            output_tokens AS "outputTokens", tool_calls AS "toolCalls"`)
        if (Option.isNone(own)) return Option.none()
        // Read now that nobody else can write it: in the statement before, it would be as it was when that one began.
        return Option.map(yield* runOf(organizationId, id), (run) => taken(run, own.value))
      }),

      renew: (carried, until) =>
        Query.rows(sql<RenewedRun>`
          UPDATE castellan.run_leases AS lease
          SET until = CASE WHEN lease.runner_id IS NULL THEN lease.until
              ELSE greatest(lease.until, ${DateTime.toDateUtc(until)}::timestamptz) END,
            input_tokens = greatest(lease.input_tokens, carried.input_tokens),
            output_tokens = greatest(lease.output_tokens, carried.output_tokens),
            tool_calls = greatest(lease.tool_calls, carried.tool_calls)
          FROM unnest(
            ${uuidArray(carried.map(({ organizationId }) => organizationId))}::uuid[],
            ${uuidArray(carried.map(({ id }) => id))}::uuid[],
            ${intArray(carried.map(({ epoch }) => epoch))}::int[],
            ${intArray(carried.map(({ usage }) => usage.inputTokens))}::int[],
            ${intArray(carried.map(({ usage }) => usage.outputTokens))}::int[],
            ${intArray(carried.map(({ usage }) => usage.toolCalls))}::int[]
          ) AS carried (organization_id, run_id, epoch, input_tokens, output_tokens, tool_calls)
          WHERE ${acrossOrganizations(sql)} AND lease.organization_id = carried.organization_id
            AND lease.run_id = carried.run_id AND lease.epoch = carried.epoch
          RETURNING lease.run_id AS id, lease.is_cancelled AS "isCancelled"`),

      handOver: (run, now) =>
        Query.run(sql`
          UPDATE castellan.run_leases SET runner_id = NULL, until = ${DateTime.toDateUtc(now)} WHERE ${held(run)}`),

      release: (run) => Query.run(sql`DELETE FROM castellan.run_leases WHERE ${held(run)}`),

      requestCancel: ({ id, organizationId }) =>
        Effect.map(
          Query.row(sql`
            WITH lease AS (
              UPDATE castellan.run_leases SET is_cancelled = true
              WHERE ${within(sql, organizationId)} AND run_id = ${id} AND NOT is_ended RETURNING run_id
            )
            SELECT pg_notify(${RunNotifications.channel}, ${RunNotifications.cancelOf(organizationId, id)}) FROM lease`),
          Option.isSome
        ),

      cancellations: Stream.filterMap(notifications.all, (told) =>
        told._tag === "Cancelled" ? Result.succeed(told.runId) : Result.fail(told)
      ),

      abandoned: (now, limit) =>
        Query.all(
          runDocument,
          sql`SELECT run.document FROM castellan.run_leases AS lease
            JOIN castellan.runs AS run ON run.organization_id = lease.organization_id AND run.id = lease.run_id
            WHERE ${acrossOrganizations(sql)} AND lease.until <= ${DateTime.toDateUtc(now)}
            ORDER BY lease.until LIMIT ${limit}`
        )
    })
  })
).pipe(Layer.provide(PostgresTransaction.layer))

const array = (elements: ReadonlyArray<unknown>, type: number) => Result.getOrThrow(PgTypes.array(elements, type))
const intArray = (numbers: ReadonlyArray<number>) => array(numbers, PgTypes.OID.int4)
