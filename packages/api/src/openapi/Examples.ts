/**
 * The examples of the OpenAPI document, as JSON: one story, the same in every place. A test holds each against its
 * schema.
 */
import type * as Schema from "effect/Schema"
import { agentId, appId, automationExamples, playbookId, triggerId } from "./examples/AutomationExamples.ts"
import { assetId, chatExamples, chatId, model, queryCellId } from "./examples/ChatExamples.ts"
import { connectorExamples } from "./examples/ConnectorExamples.ts"
import { identityExamples, memberId, roleId } from "./examples/IdentityExamples.ts"
import { changeId, libraryExamples, sandcastleId } from "./examples/LibraryExamples.ts"

/** An example of each schema, by its name in the document. */
export const componentExamples: Readonly<Record<string, Schema.Json>> = {
  ...chatExamples,
  ...connectorExamples,
  ...identityExamples,
  ...automationExamples,
  ...libraryExamples
}

/** Examples of parameters, by their names. */
const byName: Readonly<Record<string, Schema.Json>> = {
  action: "update",
  agent_id: agentId,
  cell_id: queryCellId,
  "connect-protocol-version": "1",
  "connect-timeout-ms": "10000",
  cursor: "bmV4dA",
  expires: 1_772_444_700,
  format: "png",
  from: "2026-03-01T00:00:00Z",
  group_by: ["day", "model"],
  hard_delete: false,
  include_auto_approved: true,
  include_revoked: true,
  "last-event-id": "17",
  limit: 20,
  member_id: memberId,
  model,
  offset: 0,
  outcome: "refused",
  page_size: 50,
  page_token: "bmV4dA",
  path: "uploads/carriers.csv",
  revision: 1,
  role_id: roleId,
  roleId,
  scope: "personal",
  search_term: "carriers",
  signature: "q8rJ1vY6pH2dX0sB9uZkT3fWmNc5LeA7",
  sort_by: "updated_at",
  sort_direction: "desc",
  status: "running",
  status_filter: "deployed",
  target_id: roleId,
  target_type: "role",
  trigger_id: triggerId,
  until: "2026-04-01T00:00:00Z"
}

/** The id in the paths of each kind of thing. */
const ids: Readonly<Record<string, Schema.Json>> = {
  agents: agentId,
  "api-keys": "01980c50-2b00-7a10-8c00-1f2e3d4c5b20",
  apps: appId,
  assets: assetId,
  changes: changeId,
  chats: chatId,
  connectors: "1",
  members: memberId,
  playbooks: playbookId,
  roles: roleId,
  sandcastles: sandcastleId
}

/** Examples of parameters whose meaning depends on the path. */
const byPath: Readonly<Record<string, Schema.Json>> = {
  "/v2/changes status": ["open", "reserved"],
  "/v2/folder-policies path": "docs",
  "/v2/playbooks search_term": "week",
  "/v2/sandcastles/{id}/files path": "uploads"
}

/** An example of a parameter, by its name and by the path of its operation; nothing where there is none. */
export const parameterExample = (name: string, path: string): Schema.Json | undefined =>
  name === "id" ? ids[path.split("/")[2] ?? ""] : (byPath[`${path} ${name}`] ?? byName[name])
