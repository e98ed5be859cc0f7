/**
 * Who may do what to an app. What it shows was asked on somebody's behalf: it is hidden from readers who may not be
 * shown those rows.
 *
 * Source: decisions.md §3 ("Objects that carry access"), §5 (row policies), §9.
 */
import type * as DateTime from "effect/DateTime"
import type { AccessType } from "../access/Access.ts"
import { decide } from "../access/AccessPolicy.ts"
import { type Decision, deny } from "../access/Decision.ts"
import type { Principal } from "../access/Principal.ts"
import type { Permission } from "../role/Permission.ts"
import { shownTo } from "../rowpolicy/RowVisibility.ts"
import type { App } from "./App.ts"

/** What somebody wants to do to an app. */
export type AppAction = "read" | "update" | "delete"

const needs: { readonly [Action in AppAction]: { readonly permission: Permission; readonly access: AccessType } } = {
  read: { permission: "app:read", access: "viewer" },
  update: { permission: "app:write", access: "editor" },
  delete: { permission: "app:write", access: "owner" }
}

/** Whether a principal may do something to an app now. */
export const may = (
  principal: Principal,
  action: AppAction,
  app: Pick<App, "access" | "chatCreator">,
  now: DateTime.Utc
): Decision =>
  shownTo(principal, app.chatCreator)
    ? decide(principal, app.access, { ...needs[action], object: "app" }, now)
    : deny("hidden", "app not found", { rows: "of another end user" })
