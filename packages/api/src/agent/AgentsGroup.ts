/**
 * The operations of agents. What starts one is the webhook: see `WebhookGroup`.
 *
 * Source: decisions.md §9 (`/v2/agents`).
 */
import { AgentId } from "@castellan/core/agent/Agent"
import { TriggerId } from "@castellan/core/agent/Trigger"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { actErrors, createErrors, listErrors, readErrors, writeErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, reportingInput } from "../wire/Operation.ts"
import { uuid } from "../wire/WireValue.ts"
import {
  AgentDeletionWire,
  AgentListWire,
  AgentRunListWire,
  AgentWire,
  CreateAgentRequest,
  ListAgentRunsQuery,
  ListAgentsQuery,
  TriggerDeletionWire,
  TriggerListWire,
  TriggerWire,
  UpdateAgentRequest
} from "./AgentWire.ts"

const params = { id: uuid(AgentId, "The agent's id") }

const create = HttpApiEndpoint.post("create", "/", {
  payload: CreateAgentRequest,
  success: AgentWire.pipe(HttpApiSchema.status(201)),
  error: createErrors
}).annotateMerge(operation("createAgent", "Create an agent", "Makes an agent. It needs `agent:write`."))

const list = HttpApiEndpoint.get("list", "/", {
  query: ListAgentsQuery,
  success: AgentListWire,
  error: listErrors
}).annotateMerge(
  operation(
    "listAgents",
    "List agents",
    "The agents that the caller may read, in the order of their names. An agent is hidden from whoever lacks any connector that it uses."
  )
)

const get = HttpApiEndpoint.get("get", "/:id", { params, success: AgentWire, error: readErrors }).annotateMerge(
  operation("getAgent", "Get an agent", "An agent by its id.")
)

const update = HttpApiEndpoint.patch("update", "/:id", {
  params,
  payload: UpdateAgentRequest,
  success: AgentWire,
  error: writeErrors
}).annotateMerge(operation("updateAgent", "Update an agent", "Changes an agent; what is absent stays."))

const remove = HttpApiEndpoint.delete("delete", "/:id", {
  params,
  success: AgentDeletionWire,
  error: actErrors
}).annotateMerge(operation("deleteAgent", "Delete an agent", "Deletes an agent with its triggers."))

const listTriggers = HttpApiEndpoint.get("listTriggers", "/:id/triggers", {
  params,
  success: TriggerListWire,
  error: readErrors
}).annotateMerge(
  operation("listTriggers", "List the triggers of an agent", "The names by which external systems start the agent.")
)

const createTrigger = HttpApiEndpoint.post("createTrigger", "/:id/triggers", {
  params,
  success: TriggerWire.pipe(HttpApiSchema.status(201)),
  error: actErrors
}).annotateMerge(
  operation(
    "createTrigger",
    "Create a trigger of an agent",
    "Makes a name by which an external system starts the agent. It is no credential: the webhook asks for one."
  )
)

const deleteTrigger = HttpApiEndpoint.delete("deleteTrigger", "/:id/triggers/:trigger_id", {
  params: { ...params, trigger_id: uuid(TriggerId, "The trigger's id") },
  success: TriggerDeletionWire,
  error: actErrors
}).annotateMerge(
  operation("deleteTrigger", "Delete a trigger of an agent", "Deletes a trigger: the webhook knows it no longer.")
)

const listRuns = HttpApiEndpoint.get("listRuns", "/:id/runs", {
  params,
  query: ListAgentRunsQuery,
  success: AgentRunListWire,
  error: readErrors
}).annotateMerge(operation("listAgentRuns", "List the runs of an agent", "The runs of the agent, newest first."))

/** The operations of agents. */
export class AgentsGroup extends HttpApiGroup.make("agents")
  .add(create, list, get, update, remove, listTriggers, createTrigger, deleteTrigger, listRuns)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/agents")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(OpenApi.annotations({ title: "Agents", description: "Saved prompts that external systems start" })) {}
