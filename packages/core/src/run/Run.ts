/**
 * A run: the unit of durable work. It is started by a row, not by a socket, and goes on when the client leaves.
 *
 * Source: architecture.md §3; decisions.md §4.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { KeptPrincipal } from "../access/Principal.ts"
import { CellId } from "../chat/Cell.ts"
import { ChatId, ToolConfiguration } from "../chat/Chat.ts"
import { QuestionFile } from "../chat/Upload.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { ModelId } from "../model/Model.ts"
import { OrganizationId } from "../organization/Organization.ts"

/** A run's id. */
export const RunId = Uuid.pipe(Schema.brand("RunId"))
export type RunId = typeof RunId.Type

/** What a run used up. */
export const RunUsage = Schema.Struct({
  inputTokens: Schema.Int,
  outputTokens: Schema.Int,
  toolCalls: Schema.Int
})
export type RunUsage = typeof RunUsage.Type

/** Nothing used yet. */
export const noUsage: RunUsage = { inputTokens: 0, outputTokens: 0, toolCalls: 0 }

/** The two together. */
export const addUsage = (a: RunUsage, b: RunUsage): RunUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  toolCalls: a.toolCalls + b.toolCalls
})

/** The greater of each: of two sums of one run, told in whichever order, what it had used up by the later of them. */
export const greaterUsage = (a: RunUsage, b: RunUsage): RunUsage => ({
  inputTokens: Math.max(a.inputTokens, b.inputTokens),
  outputTokens: Math.max(a.outputTokens, b.outputTokens),
  toolCalls: Math.max(a.toolCalls, b.toolCalls)
})

/** Why a run failed: it went past its time limit, or could not go on. */
export const RunFailure = Schema.Literals(["timeout", "execution_failed"])
export type RunFailure = typeof RunFailure.Type

/** How far a run has come. */
export const RunStatus = Schema.TaggedUnion({
  Queued: {},
  Running: { startedAt: Schema.DateTimeUtc },
  Completed: { startedAt: Schema.DateTimeUtc, endedAt: Schema.DateTimeUtc },
  Failed: { endedAt: Schema.DateTimeUtc, failure: RunFailure, error: Schema.String },
  Cancelled: { endedAt: Schema.DateTimeUtc }
})
export type RunStatus = typeof RunStatus.Type

/** One question on its way to an answer. */
export class Run extends Schema.Class<Run>("@castellan/core/run/Run")({
  id: RunId,
  organizationId: OrganizationId,
  chatId: ChatId,
  /** On whose behalf it runs, with the authority that they had when they asked. */
  principal: KeptPrincipal,
  model: ModelId,
  question: Schema.String,
  /** The files that came with it. */
  files: Schema.Array(QuestionFile).pipe(
    Schema.withDecodingDefaultTypeKey(Effect.succeed([])),
    Schema.withConstructorDefault(Effect.succeed([]))
  ),
  /** The cell of the question. */
  questionCellId: CellId,
  /** The cell of the answer: the id of the assistant's message. */
  messageCellId: CellId,
  tools: ToolConfiguration,
  /** Whether the chat had a question before this one. */
  isContinuation: Schema.Boolean,
  status: RunStatus,
  usage: RunUsage,
  /**
   * How often it had been taken up when this was read or written: what a runner that has lost the run to another still
   * writes names an epoch that is over, and is refused (`RunLease`).
   */
  epoch: Schema.Int.pipe(
    Schema.withDecodingDefaultTypeKey(Effect.succeed(0)),
    Schema.withConstructorDefault(Effect.succeed(0))
  ),
  createdAt: Schema.DateTimeUtc
}) {}

/** Whether a run has ended, one way or another. */
export const isEnded = (run: Run): boolean => run.status._tag !== "Queued" && run.status._tag !== "Running"
