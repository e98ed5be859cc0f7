/**
 * Every permission, in one table; whatever no role grants is denied.
 *
 * Source: decisions.md §3 ("Permissions are `resource:verb` strings: one table in code and docs, default deny").
 */
import * as Schema from "effect/Schema"

/** What each permission lets its holder do. */
export const permissions = {
  "chat:read": "Read chats that are visible to the caller",
  "chat:write": "Ask questions, rename, cancel and delete chats",
  "connector:read": "List the connectors that the caller may use",
  "connector:query": "Run queries on the connectors that the caller may use",
  "connector:write": "Create, change and delete connectors",
  "playbook:read": "Read playbooks that are visible to the caller",
  "playbook:write": "Create, change, deploy and delete playbooks",
  "playbook:run": "Run playbooks",
  "sandcastle:read": "Read sandcastles and their executions",
  "sandcastle:execute": "Start sandcastles and execute code in them",
  "library:read": "Read the library and the ontology",
  "library:propose": "Propose changes of the library and the ontology",
  "library:approve": "Approve and deny changes on paths that the caller owns",
  "agent:read": "Read agents that are visible to the caller",
  "agent:write": "Create, change and delete agents",
  "agent:trigger": "Trigger runs of agents",
  "app:read": "Read apps that are visible to the caller",
  "app:write": "Create, change and delete apps",
  "role:write": "Create, change, delete and assign roles",
  "member:write": "Invite, deactivate and remove members",
  "organization:read": "Read settings, keys and usage of the whole organization",
  "organization:write": "Change settings, keys and budgets of the whole organization",
  "audit:read": "Read the audit log"
} as const

/** A permission's name, `resource:verb`. */
export type Permission = keyof typeof permissions

const isPermission = (name: string): name is Permission => Object.hasOwn(permissions, name)

/** Every permission, in the table's order. The system role `admin` holds them all. */
export const all: ReadonlyArray<Permission> = Object.keys(permissions).filter(isPermission)

/** A permission's name; anything that is not in the table is refused. */
export const Permission = Schema.Literals(all)

/** What the system role `member` holds: use of chats, playbooks, sandcastles, agents, apps and the library. */
export const member: ReadonlyArray<Permission> = [
  "chat:read",
  "chat:write",
  "connector:read",
  "connector:query",
  "playbook:read",
  "playbook:write",
  "playbook:run",
  "sandcastle:read",
  "sandcastle:execute",
  "library:read",
  "library:propose",
  "library:approve",
  "agent:read",
  "agent:trigger",
  "app:read",
  "app:write"
]
