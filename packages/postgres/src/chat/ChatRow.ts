/**
 * A chat as a row. Whether it is running, and when it was updated, changes with its runs, and stands in columns alone.
 */
import { Chat } from "@castellan/core/chat/Chat"
import type { Effect } from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import * as Document from "../database/Document.ts"

/** How a chat is kept. */
export const document = Document.make(Chat)

/** The columns that a chat is made of. */
export interface ChatRow {
  readonly document: object
  /** The run that is in progress. */
  readonly runId: string | null
  readonly updatedAt: Date
}

/** These columns of `chat`. */
export const columns = (sql: SqlClient): Fragment =>
  sql.literal(`chat.document, chat.running_run_id AS "runId", chat.updated_at AS "updatedAt"`)

/** The chat of a row. */
export const chatOf = ({ document: kept, runId, updatedAt }: ChatRow): Effect<Chat> =>
  document.decode({
    ...kept,
    activity: runId === null ? { _tag: "Idle" } : { _tag: "Running", runId },
    updatedAt: updatedAt.toISOString()
  })
