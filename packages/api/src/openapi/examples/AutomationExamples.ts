/**
 * The examples of playbooks, agents, apps and the operations of the Connect protocol.
 */
import type * as Schema from "effect/Schema"
import { Asset, assetId, chatId, drawn, model } from "./ChatExamples.ts"

/** The playbook of the examples. */
export const playbookId = "01980c70-3c00-7b20-9d00-2a3b4c5d6e01"
const reportId = "01980c70-3c00-7b20-9d00-2a3b4c5d6e02"
/** The agent of the examples. */
export const agentId = "01980c70-3c00-7b20-9d00-2a3b4c5d6e10"
/** The trigger of the examples. */
export const triggerId = "01980c70-3c00-7b20-9d00-2a3b4c5d6e11"
const agentRunId = "01980c70-3c00-7b20-9d00-2a3b4c5d6e12"
/** The app of the examples. */
export const appId = "01980c70-3c00-7b20-9d00-2a3b4c5d6e20"
const made = "2026-03-01T08:00:00.000Z"
const due = "2026-03-02T06:00:00.000Z"
const ended = "2026-03-02T06:00:41.000Z"

const Playbook = {
  id: playbookId,
  name: "Flights of the week",
  prompt: "Which carriers flew the most flights last week?",
  status: "deployed",
  created_at: made,
  updated_at: made,
  connector_ids: [1],
  cron_string: "0 7 * * 1",
  timezone: "Europe/Paris",
  email_addresses: ["ada@example.com"],
  chat_channel_id: "C024BE91L"
}

const BlockColumn = { name: "flights", numeric: true }
const Block = { type: "text", heading: "The week", content: "Southwest flew the most: **1,706** flights." }

const Report = {
  id: reportId,
  subject: "Flights of the week",
  summary: "Southwest flew the most.",
  blocks: [
    { type: "hero", heading: "Flights of the week" },
    Block,
    { type: "chart", heading: "Flights by carrier", image_url: Asset.url, image_alt: "Flights by carrier" }
  ],
  html_preview: "<!doctype html><title>Flights of the week</title>",
  chat_id: chatId,
  created_at: ended
}

const Delivery = {
  id: "01980c70-3c00-7b20-9d00-2a3b4c5d6e05",
  type: "email",
  target: "ada@example.com",
  status: "delivered",
  attempts: 1,
  delivered_at: ended
}

const PlaybookRun = {
  id: "01980c70-3c00-7b20-9d00-2a3b4c5d6e04",
  trigger: "schedule",
  due_at: due,
  status: "completed",
  chat_id: chatId,
  report_id: reportId,
  created_at: due,
  started_at: due,
  ended_at: ended,
  deliveries: [Delivery]
}

const CreateAgentRequest = {
  name: "Incident analyst",
  prompt: "Find out what changed before the incident.",
  connector_ids: [1],
  model
}
const Agent = { id: agentId, ...CreateAgentRequest, created_at: made, updated_at: made }
const Trigger = { trigger_id: triggerId, created_at: made }
const payload = { incident: "INC-4711", severity: 2 }
const AgentRun = {
  id: agentRunId,
  trigger_id: triggerId,
  status: "failed",
  payload,
  chat_id: chatId,
  error_code: "timeout",
  error: "the run did not end in time",
  created_at: due,
  ended_at: ended
}

const App = {
  id: appId,
  name: "Carriers",
  description: "Flights by carrier",
  chat_id: chatId,
  assets: [Asset],
  created_at: drawn,
  updated_at: drawn
}
const RpcApp = {
  appId,
  name: App.name,
  description: App.description,
  createdAt: drawn,
  updatedAt: drawn,
  url: `https://castellan.example/apps/${appId}`
}

/** An example of each schema of playbooks, agents, apps and RPC. */
export const automationExamples: Readonly<Record<string, Schema.Json>> = {
  Agent,
  AgentDeletion: { id: agentId, success: true },
  AgentList: { agents: [Agent], total_count: 1 },
  AgentRun,
  AgentRunList: { runs: [AgentRun], total_count: 1 },
  App,
  AppDeletion: { id: appId, success: true },
  AppList: { apps: [App], total_count: 1 },
  Block,
  BlockColumn,
  ConnectErrorDetail: { type: "google.rpc.BadRequest", value: "CgASAA", debug: {} },
  CreateAgentRequest,
  CreateAppRequest: { name: "Carriers", description: "Flights by carrier", chat_id: chatId, asset_ids: [assetId] },
  Delivery,
  GetAppRequest: { appId },
  GetAppResponse: { app: RpcApp },
  MigrateScimGroupMappingsRequest: {},
  MigrateScimGroupMappingsResponse: { migratedMappingCount: 3 },
  Playbook,
  PlaybookDeletion: { playbook_id: playbookId, deleted_at: ended },
  PlaybookDeployment: { playbook_id: playbookId, deployed_at: made },
  PlaybookList: { playbooks: [Playbook], total_count: 1 },
  PlaybookResult: { chat_id: chatId, report: Report, assets: [Asset] },
  PlaybookRun,
  PlaybookRunList: { runs: [PlaybookRun], total_count: 1 },
  PlaybookUndeployment: { playbook_id: playbookId, undeployed_at: ended },
  PlaybookValidation: { valid: true },
  PlaybookView: { playbook: Playbook, reports: [Report], total_reports_count: 1 },
  Report,
  RpcApp,
  RunPlaybookRequest: { dry_run: false },
  Trigger,
  TriggerAgentRequest: { triggerId, payload },
  TriggerAgentResponse: { status: "queued", runId: agentRunId },
  TriggerDeletion: { trigger_id: triggerId, success: true },
  TriggerList: { triggers: [Trigger] },
  UpdateAgentRequest: { prompt: "Find out what changed before the incident, and who changed it." },
  UpdateAppRequest: { name: "Carriers of the week" },
  UpdatePlaybookRequest: {
    name: "Flights of the week",
    prompt: "Which carriers flew the most flights last week?",
    cron_string: "0 7 * * 1",
    timezone: "Europe/Paris",
    email_addresses: ["ada@example.com"]
  }
}
