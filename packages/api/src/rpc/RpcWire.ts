/**
 * Requests and answers of the operations that speak the Connect protocol. Their names are in `camelCase`.
 *
 * Source: api-v2.md "Agent webhook", "RPC surface"; decisions.md §9.
 */
import { isTooDeep, maximumBytes, maximumDepth, textOf } from "@castellan/core/agent/AgentPayload"
import { type AgentRun, AgentRunId } from "@castellan/core/agent/AgentRun"
import { TriggerId } from "@castellan/core/agent/Trigger"
import { type App, AppId } from "@castellan/core/app/App"
import * as Schema from "effect/Schema"
import { count, text, timestamp, uuid } from "../wire/WireValue.ts"

const payloadRule = "must be a JSON object"
const payloadDepthRule = `must not be nested more than ${maximumDepth} deep`
const payloadSizeRule = `must be at most ${maximumBytes.toLocaleString("en-US")} bytes as JSON`

/** Which agent to start, and with what. */
export const TriggerAgentRequest = Schema.Struct({
  triggerId: uuid(TriggerId, "The trigger's id"),
  payload: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Json)
      .annotate({ message: payloadRule, description: "Context for the run, at most 16,384 bytes as JSON" })
      .check(
        // First, and the last where it fails: what comes after it goes through the payload by recursion.
        Schema.makeFilter((payload) => !isTooDeep(payload), { message: payloadDepthRule }).abort(),
        Schema.makeFilter((payload) => new TextEncoder().encode(textOf(payload)).byteLength <= maximumBytes, {
          message: payloadSizeRule
        })
      )
  )
}).annotate({
  identifier: "TriggerAgentRequest",
  description: "Which agent to start, and with what",
  message: "must be a JSON object"
})
export type TriggerAgentRequest = typeof TriggerAgentRequest.Type

/** A run was queued. */
export const TriggerAgentResponse = Schema.Struct({
  status: Schema.Literal("queued").annotate({ description: "Always `queued`" }),
  runId: uuid(AgentRunId, "The run that was queued")
}).annotate({ identifier: "TriggerAgentResponse", description: "A run of the agent was queued" })
export type TriggerAgentResponse = typeof TriggerAgentResponse.Type

/** Which app to get. */
export const GetAppRequest = Schema.Struct({ appId: uuid(AppId, "The app's id") }).annotate({
  identifier: "GetAppRequest",
  description: "Which app to get",
  message: "must be a JSON object"
})
export type GetAppRequest = typeof GetAppRequest.Type

/** An app as the RPC surface shows it. */
export const RpcApp = Schema.Struct({
  appId: uuid(AppId, "The app's id"),
  name: text("The app's name"),
  description: text("What the app shows; may be empty"),
  createdAt: timestamp("When the app was made"),
  updatedAt: timestamp("When the app was last changed"),
  url: Schema.optionalKey(text("Where people see the app"))
}).annotate({ identifier: "RpcApp", description: "A published dashboard" })
export type RpcApp = typeof RpcApp.Type

/** The app that was asked for. */
export const GetAppResponse = Schema.Struct({ app: RpcApp }).annotate({
  identifier: "GetAppResponse",
  description: "The app that was asked for"
})
export type GetAppResponse = typeof GetAppResponse.Type

/** Nothing to say. A structure without fields would take whatever is not null. */
export const MigrateScimGroupMappingsRequest = Schema.Record(Schema.String, Schema.Json).annotate({
  identifier: "MigrateScimGroupMappingsRequest",
  description: "An empty object",
  message: "must be a JSON object"
})
export type MigrateScimGroupMappingsRequest = typeof MigrateScimGroupMappingsRequest.Type

/** How many mappings were moved. */
export const MigrateScimGroupMappingsResponse = Schema.Struct({
  migratedMappingCount: count("How many mappings were moved; 0 when all had been before")
}).annotate({ identifier: "MigrateScimGroupMappingsResponse", description: "How many mappings were moved" })
export type MigrateScimGroupMappingsResponse = typeof MigrateScimGroupMappingsResponse.Type

/** A run that was queued, as the webhook answers. */
export const ofQueued = (run: AgentRun): TriggerAgentResponse => ({ status: "queued", runId: run.id })

/** An app as the RPC surface shows it, with its address where the deployment has one for people. */
export const ofRpcApp = (app: App, url?: string): GetAppResponse => ({
  app: {
    appId: app.id,
    name: app.name,
    description: app.description,
    createdAt: app.createdAt,
    updatedAt: app.updatedAt,
    ...(url === undefined ? {} : { url })
  }
})
