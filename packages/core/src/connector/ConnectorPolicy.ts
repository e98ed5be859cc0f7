/**
 * Who may list, use, make, change and remove connectors.
 *
 * Source: decisions.md §3 ("Objects that carry access"), §5.
 */
import type * as DateTime from "effect/DateTime"
import type { AccessType } from "../access/Access.ts"
import { decide as decideAccess, readable } from "../access/AccessPolicy.ts"
import type { Decision } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import type { Permission } from "../role/Permission.ts"
import type { StoredConnector } from "./ConnectorStore.ts"

/** What can be done with a connector that is there. */
export type ConnectorAction = "read" | "query" | "update" | "delete"

const needed: {
  readonly [Action in ConnectorAction]: {
    readonly permission: Permission
    readonly access: AccessType
    readonly object: "connector"
  }
} = {
  read: { permission: "connector:read", access: "viewer", object: "connector" },
  query: { permission: "connector:query", access: "viewer", object: "connector" },
  update: { permission: "connector:write", access: "editor", object: "connector" },
  delete: { permission: "connector:write", access: "owner", object: "connector" }
}

/** Whether a principal may make connectors, and test what it would make. */
export const create = (principal: Principal): Decision => requires(principal, "connector:write")

/** Whether a connector is on a principal's list. */
export const listed = (principal: Principal, { access }: Pick<StoredConnector, "access">, now: DateTime.Utc): boolean =>
  readable(principal, access, now)

/** Whether a principal may do something with a connector of its organization. */
export const decide = (
  principal: Principal,
  { access }: Pick<StoredConnector, "access">,
  action: ConnectorAction,
  now: DateTime.Utc
): Decision => decideAccess(principal, access, needed[action], now)
