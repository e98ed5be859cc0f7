/**
 * A run of an agent: queued by a trigger, then asked in a chat of its own.
 *
 * Source: api-v2.md "Agent webhook" (`queued`); decisions.md §9 ("A queued run survives a crash").
 */
import * as Schema from "effect/Schema"
import { KeptPrincipal } from "../access/Principal.ts"
import { ChatId } from "../chat/Chat.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { RunId } from "../run/Run.ts"
import { AgentId } from "./Agent.ts"
import { AgentPayload } from "./AgentPayload.ts"
import { TriggerId } from "./Trigger.ts"

/** An agent run's id. */
export const AgentRunId = Uuid.pipe(Schema.brand("AgentRunId"))
export type AgentRunId = typeof AgentRunId.Type

/** Why a run failed: past its time limit, or for a reason that `error` tells. */
export const AgentRunFailure = Schema.Literals(["timeout", "execution_failed"])
export type AgentRunFailure = typeof AgentRunFailure.Type

/** The chat that a run was asked in, and the chat's run. */
const asked = { chatId: ChatId, runId: RunId }

/** How far a run has come. */
export const AgentRunStatus = Schema.TaggedUnion({
  /** Kept, and not asked yet. */
  Queued: {},
  /** Asked in a chat, whose run goes on. */
  Running: { ...asked, startedAt: Schema.DateTimeUtc },
  Completed: { ...asked, startedAt: Schema.DateTimeUtc, endedAt: Schema.DateTimeUtc },
  /** Without a chat where it could not even be asked. */
  Failed: {
    asked: Schema.optionalKey(Schema.Struct(asked)),
    endedAt: Schema.DateTimeUtc,
    failure: AgentRunFailure,
    error: Schema.String
  },
  Cancelled: { asked: Schema.optionalKey(Schema.Struct(asked)), endedAt: Schema.DateTimeUtc }
})
export type AgentRunStatus = typeof AgentRunStatus.Type

/** A run of an agent. */
export class AgentRun extends Schema.Class<AgentRun>("@castellan/core/agent/AgentRun")({
  id: AgentRunId,
  organizationId: OrganizationId,
  agentId: AgentId,
  triggerId: TriggerId,
  /** What the external system sent along. */
  payload: AgentPayload,
  /** On whose behalf it runs, with the authority that they had when they triggered it. */
  principal: KeptPrincipal,
  status: AgentRunStatus,
  createdAt: Schema.DateTimeUtc
}) {}

/** Whether a run has ended, one way or another. */
export const isEnded = (run: AgentRun): boolean => run.status._tag !== "Queued" && run.status._tag !== "Running"
