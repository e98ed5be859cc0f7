/**
 * Who may do what to a playbook.
 *
 * Source: decisions.md §3 ("Objects that carry access").
 */
import type * as DateTime from "effect/DateTime"
import type { AccessType } from "../access/Access.ts"
import { decide } from "../access/AccessPolicy.ts"
import { type Decision, deny } from "../access/Decision.ts"
import type { Principal } from "../access/Principal.ts"
import type { Permission } from "../role/Permission.ts"
import type { Playbook } from "./Playbook.ts"

/** What somebody wants to do to a playbook. */
export type PlaybookAction = "read" | "run" | "configure" | "deploy" | "undeploy" | "delete"

const needs: {
  readonly [Action in PlaybookAction]: { readonly permission: Permission; readonly access: AccessType }
} = {
  read: { permission: "playbook:read", access: "viewer" },
  // The permission is what keeps it from readers: a run changes nothing of the playbook.
  run: { permission: "playbook:run", access: "viewer" },
  configure: { permission: "playbook:write", access: "editor" },
  deploy: { permission: "playbook:write", access: "editor" },
  undeploy: { permission: "playbook:write", access: "editor" },
  delete: { permission: "playbook:write", access: "owner" }
}

/** Whether a principal may do something to a playbook now. A deleted one is hidden from everybody. */
export const may = (
  principal: Principal,
  action: PlaybookAction,
  playbook: Pick<Playbook, "access" | "status">,
  now: DateTime.Utc
): Decision =>
  playbook.status._tag === "Deleted"
    ? deny("hidden", "playbook not found", { state: "deleted" })
    : decide(principal, playbook.access, { ...needs[action], object: "playbook" }, now)
