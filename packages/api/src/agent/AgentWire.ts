/**
 * Agents on the wire.
 *
 * Source: decisions.md §9 (`/v2/agents`).
 */
import { type Agent, AgentId } from "@castellan/core/agent/Agent"
import { type AgentPatch, maximumConnectors, maximumName, maximumPrompt } from "@castellan/core/agent/AgentPatch"
import { type AgentRun, AgentRunId } from "@castellan/core/agent/AgentRun"
import { type Trigger, TriggerId } from "@castellan/core/agent/Trigger"
import { ChatId } from "@castellan/core/chat/Chat"
import { ConnectorId } from "@castellan/core/connector/Connector"
import { ModelId } from "@castellan/core/model/Model"
import type { Counted } from "@castellan/core/page/Page"
import * as Schema from "effect/Schema"
import { offsetFields } from "../wire/PageWire.ts"
import { boundedText, connectorId, count, flag, listOf, modelId, text, timestamp, uuid } from "../wire/WireValue.ts"

/** An agent. */
export const AgentWire = Schema.Struct({
  id: uuid(AgentId, "The agent's id"),
  name: text("The agent's name"),
  prompt: text("What a run is asked"),
  connector_ids: Schema.Array(ConnectorId).annotate({
    description: "The connectors that it uses; none, every one that whoever it runs for may use"
  }),
  model: Schema.optionalKey(ModelId.annotate({ description: "The model that answers; absent, the caller's default" })),
  created_at: timestamp("When the agent was made"),
  updated_at: timestamp("When the agent was last changed")
}).annotate({ identifier: "Agent", description: "A saved prompt that an external system starts" })
export type AgentWire = typeof AgentWire.Type

/** A page of agents. */
export const AgentListWire = Schema.Struct({
  agents: Schema.Array(AgentWire).annotate({ description: "The agents of this page, in the order of their names" }),
  total_count: count("How many agents there are on all pages")
}).annotate({ identifier: "AgentList", description: "A page of agents" })
export type AgentListWire = typeof AgentListWire.Type

/** An agent was deleted. */
export const AgentDeletionWire = Schema.Struct({
  id: uuid(AgentId, "The agent that was deleted"),
  success: flag("Always true")
}).annotate({ identifier: "AgentDeletion", description: "An agent was deleted" })
export type AgentDeletionWire = typeof AgentDeletionWire.Type

/** A trigger of an agent. */
export const TriggerWire = Schema.Struct({
  trigger_id: uuid(TriggerId, "The trigger's id, which the webhook takes as `triggerId`"),
  created_at: timestamp("When the trigger was made")
}).annotate({ identifier: "Trigger", description: "The name by which an external system starts an agent" })
export type TriggerWire = typeof TriggerWire.Type

/** The triggers of an agent. */
export const TriggerListWire = Schema.Struct({
  triggers: Schema.Array(TriggerWire).annotate({ description: "The triggers, oldest first" })
}).annotate({ identifier: "TriggerList", description: "The triggers of an agent" })
export type TriggerListWire = typeof TriggerListWire.Type

/** A trigger was deleted. */
export const TriggerDeletionWire = Schema.Struct({
  trigger_id: uuid(TriggerId, "The trigger that was deleted"),
  success: flag("Always true")
}).annotate({ identifier: "TriggerDeletion", description: "A trigger was deleted" })
export type TriggerDeletionWire = typeof TriggerDeletionWire.Type

/** A run of an agent. */
export const AgentRunWire = Schema.Struct({
  id: uuid(AgentRunId, "The run's id"),
  trigger_id: uuid(TriggerId, "The trigger that started it"),
  status: Schema.Literals(["queued", "running", "completed", "failed", "cancelled"]).annotate({
    description: "How far it has come"
  }),
  payload: Schema.Record(Schema.String, Schema.Json).annotate({ description: "What was sent along, as its context" }),
  chat_id: Schema.optionalKey(uuid(ChatId, "The chat that it was asked in")),
  error_code: Schema.optionalKey(text("Why it failed, for programs: a code of the error envelope")),
  error: Schema.optionalKey(text("Why it failed, for people")),
  created_at: timestamp("When it was queued"),
  started_at: Schema.optionalKey(timestamp("When it began")),
  ended_at: Schema.optionalKey(timestamp("When it ended"))
}).annotate({ identifier: "AgentRun", description: "A run of an agent" })
export type AgentRunWire = typeof AgentRunWire.Type

/** A page of an agent's runs. */
export const AgentRunListWire = Schema.Struct({
  runs: Schema.Array(AgentRunWire).annotate({ description: "The runs of this page, newest first" }),
  total_count: count("How many runs there are on all pages")
}).annotate({ identifier: "AgentRunList", description: "A page of an agent's runs" })
export type AgentRunListWire = typeof AgentRunListWire.Type

const name = boundedText({ minimum: 1, maximum: maximumName }, "The agent's name")
const prompt = boundedText({ minimum: 1, maximum: maximumPrompt }, "What a run is asked")
const connectorIds = listOf(
  connectorId,
  { maximum: maximumConnectors },
  "connector ids",
  "The connectors that it uses; none, every one that whoever it runs for may use"
)

/** An agent to be made. */
export const CreateAgentRequest = Schema.Struct({
  name,
  prompt,
  connector_ids: Schema.optionalKey(connectorIds),
  model: Schema.optionalKey(modelId("The model that answers, from `GET /v2/models`; absent, the caller's default"))
}).annotate({ identifier: "CreateAgentRequest", description: "An agent to be made", message: "must be a JSON object" })
export type CreateAgentRequest = typeof CreateAgentRequest.Type

/** What to change of an agent; what is absent stays. */
export const UpdateAgentRequest = Schema.Struct({
  name: Schema.optionalKey(name),
  prompt: Schema.optionalKey(prompt),
  connector_ids: Schema.optionalKey(connectorIds),
  model: Schema.optionalKey(
    boundedText(
      { minimum: 0, maximum: 200 },
      "The model that answers, from `GET /v2/models`; empty, the caller's default"
    )
  )
}).annotate({
  identifier: "UpdateAgentRequest",
  description: "What to change of an agent; what is absent stays",
  message: "must be a JSON object"
})
export type UpdateAgentRequest = typeof UpdateAgentRequest.Type

/** Which agents to list. */
export const ListAgentsQuery = Schema.Struct(offsetFields("agents"))
export type ListAgentsQuery = typeof ListAgentsQuery.Type

/** Which runs of an agent to list. */
export const ListAgentRunsQuery = Schema.Struct(offsetFields("runs"))
export type ListAgentRunsQuery = typeof ListAgentRunsQuery.Type

/** What of an agent a request decides, in the domain's terms. */
export const toAgentPatch = (request: CreateAgentRequest | UpdateAgentRequest): AgentPatch => ({
  ...(request.name === undefined ? {} : { name: request.name }),
  ...(request.prompt === undefined ? {} : { prompt: request.prompt }),
  ...(request.connector_ids === undefined ? {} : { connectorIds: request.connector_ids }),
  ...(request.model === undefined ? {} : { model: request.model })
})

/** An agent as the wire shows it. */
export const ofAgent = (agent: Agent): AgentWire => ({
  id: agent.id,
  name: agent.name,
  prompt: agent.prompt,
  connector_ids: agent.connectorIds,
  ...(agent.model === undefined ? {} : { model: agent.model }),
  created_at: agent.createdAt,
  updated_at: agent.updatedAt
})

/** A page of agents as the wire shows it. */
export const ofAgents = (page: Counted<Agent>): AgentListWire => ({
  agents: page.items.map(ofAgent),
  total_count: page.totalCount
})

/** A trigger as the wire shows it. */
export const ofTrigger = (trigger: Trigger): TriggerWire => ({ trigger_id: trigger.id, created_at: trigger.createdAt })

/** The triggers of an agent as the wire shows them. */
export const ofTriggers = (triggers: ReadonlyArray<Trigger>): TriggerListWire => ({
  triggers: triggers.map(ofTrigger)
})

const stateOf = (
  status: AgentRun["status"]
): Pick<AgentRunWire, "status" | "chat_id" | "error_code" | "error" | "started_at" | "ended_at"> => {
  switch (status._tag) {
    case "Queued":
      return { status: "queued" }
    case "Running":
      return { status: "running", chat_id: status.chatId, started_at: status.startedAt }
    case "Completed":
      return {
        status: "completed",
        chat_id: status.chatId,
        started_at: status.startedAt,
        ended_at: status.endedAt
      }
    case "Failed":
      return {
        status: "failed",
        ...(status.asked === undefined ? {} : { chat_id: status.asked.chatId }),
        error_code: status.failure,
        error: status.error,
        ended_at: status.endedAt
      }
    case "Cancelled":
      return {
        status: "cancelled",
        ...(status.asked === undefined ? {} : { chat_id: status.asked.chatId }),
        ended_at: status.endedAt
      }
  }
}

/** A run of an agent as the wire shows it. */
export const ofAgentRun = (run: AgentRun): AgentRunWire => ({
  id: run.id,
  trigger_id: run.triggerId,
  payload: run.payload,
  ...stateOf(run.status),
  created_at: run.createdAt
})

/** A page of an agent's runs as the wire shows it. */
export const ofAgentRuns = (page: Counted<AgentRun>): AgentRunListWire => ({
  runs: page.items.map(ofAgentRun),
  total_count: page.totalCount
})
