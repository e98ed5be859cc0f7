/**
 * Who may do what to an agent. An agent is hidden from a caller who lacks any connector that it uses.
 *
 * Source: api-v2.md "Authentication" (troubleshooting); decisions.md §9.
 */
import type * as DateTime from "effect/DateTime"
import type { AccessType } from "../access/Access.ts"
import { decide } from "../access/AccessPolicy.ts"
import { type Decision, deny } from "../access/Decision.ts"
import type { Principal } from "../access/Principal.ts"
import type { ConnectorId } from "../connector/Connector.ts"
import type { Permission } from "../role/Permission.ts"
import type { Agent } from "./Agent.ts"

/** What somebody wants to do to an agent, its triggers or its runs. */
export type AgentAction = "read" | "update" | "delete" | "trigger"

const needs: { readonly [Action in AgentAction]: { readonly permission: Permission; readonly access: AccessType } } = {
  read: { permission: "agent:read", access: "viewer" },
  update: { permission: "agent:write", access: "editor" },
  delete: { permission: "agent:write", access: "owner" },
  trigger: { permission: "agent:trigger", access: "viewer" }
}

/**
 * Whether a principal may do something to an agent now; `usable` are the connectors that they may use, and those that
 * were removed: else nobody could mend or delete what used them.
 */
export const may = (
  principal: Principal,
  action: AgentAction,
  agent: Pick<Agent, "access" | "connectorIds">,
  usable: ReadonlyArray<ConnectorId>,
  now: DateTime.Utc
): Decision => {
  const lacking = agent.connectorIds.filter((id) => !usable.includes(id))
  return lacking.length > 0
    ? deny("hidden", "agent not found", { lackingConnectors: lacking.map(String) })
    : decide(principal, agent.access, { ...needs[action], object: "agent" }, now)
}
