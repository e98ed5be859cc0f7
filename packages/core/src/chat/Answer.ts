/**
 * The answer of a run that somebody waited for.
 *
 * Source: decisions.md §4 (`POST /v2/chats`).
 */
import type * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import type { Asset } from "../asset/Asset.ts"
import { Cancelled, ExecutionFailed, TimedOut } from "../error/Failure.ts"
import type { ModelId } from "../model/Model.ts"
import type { Run } from "../run/Run.ts"
import type { RunLogEntry } from "../run/RunEvent.ts"
import type { CellId } from "./Cell.ts"
import type { ChatId } from "./Chat.ts"
import * as Transcript from "./Transcript.ts"

/** What a completed run answered. */
export interface Answer {
  /** The id of the assistant message. */
  readonly id: CellId
  readonly createdAt: DateTime.Utc
  readonly model: ModelId
  /** Markdown. */
  readonly response: string
  readonly chatId: ChatId
  readonly assets: ReadonlyArray<Asset>
}

/** The answer of an ended run, read from its log; or how it failed. */
export const ofRun = (
  run: Run,
  entries: ReadonlyArray<RunLogEntry>
): Result.Result<Answer, ExecutionFailed | Cancelled | TimedOut> => {
  if (run.status._tag === "Cancelled") return Result.fail(new Cancelled({ message: "the run was cancelled" }))
  if (run.status._tag === "Failed") {
    const message = run.status.error
    return Result.fail(run.status.failure === "timeout" ? new TimedOut({ message }) : new ExecutionFailed({ message }))
  }
  const { assets, messages } = Transcript.ofEntries(entries)
  const message = messages.find((candidate) => candidate.role === "assistant")
  if (message === undefined) return Result.fail(new ExecutionFailed({ message: "the run ended without an answer" }))
  return Result.succeed({
    id: message.cellId,
    createdAt: message.createdAt,
    model: run.model,
    response: message.content,
    chatId: run.chatId,
    assets
  })
}
