/** The few classes of rules that the contract's operations fall into. */
import type * as Permission from "@castellan/core/role/Permission"
import { type Carrier, denied, type Need, notFound, type Reach, type Refusal, type Rule, type Subject } from "./Rule.ts"

/** A permission. */
export const needs = (permission: Permission.Permission): Need => ({
  anyOf: [permission],
  otherwise: denied(`permission denied: ${permission} is required`)
})

/** Refuses for want of the system role. */
export const adminRequired = denied("admin role required")

/** Administration, which only `admin` holds at first. */
export const administers = (permission: "role:write" | "member:write"): Need => ({
  anyOf: [permission],
  otherwise: adminRequired
})

/** Sight of roles and members: of those who administer them, or read all of the organization. */
export const oversees = (permission: "role:write" | "member:write"): Need => ({
  anyOf: ["organization:read", permission],
  otherwise: adminRequired
})

/** The system role. */
export const admin: Need = { anyOf: ["admin"], otherwise: adminRequired }

/** A connector that is named, and cannot be queried, is refused like an unknown one. */
export const noConnector = denied(/connector 4711 is not available to you/)
/** A connector that may be queried. */
export const queries: Need = { anyOf: ["connector:query"], otherwise: noConnector }

/** An agent is hidden from whoever lacks a connector that it uses. */
export const seesAgent: Need = { anyOf: ["connector:query"], otherwise: notFound("agent") }
/** A trigger is hidden with its agent. */
export const seesTrigger: Need = { anyOf: ["connector:query"], otherwise: notFound("trigger") }

interface More {
  readonly except?: Rule["except"]
  readonly proper?: Rule["proper"]
  readonly handsOn?: boolean
}

/** A rule about a subject. */
export const rule = (about: Subject, needed: ReadonlyArray<Need>, more: More): Rule => ({
  about,
  needs: needed,
  except: more.except ?? {},
  proper: more.proper ?? "exact",
  handsOn: more.handsOn ?? false
})

/** A rule about nothing that is there. */
export const nothing = (needed: ReadonlyArray<Need>, more: More = {}): Rule => rule({ _tag: "Nothing" }, needed, more)

/** A rule about what every member may know of. */
export const administered = (thing: string, needed: ReadonlyArray<Need>, more: More = {}): Rule =>
  rule({ _tag: "Administered", thing }, needed, more)

const carrier =
  (thing: Carrier, ...before: ReadonlyArray<Need>) =>
  (reach: Reach, permission: Permission.Permission, more: More = {}): Rule =>
    rule({ _tag: "Carrier", thing, reach, hiddenAs: thing }, [...before, needs(permission)], more)

/** A rule about a chat. */
export const chat = carrier("chat")
/** A rule about a playbook. */
export const playbook = carrier("playbook")
/** A rule about an agent. */
export const agent = carrier("agent", seesAgent)
/** A rule about a connector. */
export const connector = carrier("connector")
/** A rule about an app. */
export const app = carrier("app")

/** A rule about a sandcastle. */
export const sandcastle = (needed: ReadonlyArray<Need>, more: More = {}): Rule =>
  rule({ _tag: "Sandcastle" }, needed, more)
/** To do something in a sandcastle. */
export const inSandcastle = sandcastle([needs("sandcastle:execute")])
/** To look at a sandcastle. */
export const ofSandcastle = sandcastle([needs("sandcastle:read")])

/** A rule about a change. */
export const change = (permission: Permission.Permission, more: More = {}): Rule =>
  rule({ _tag: "Change" }, [needs(permission)], more)

/** To look at an app, however it is asked for. */
export const getApp = app("viewer", "app:read")

/** A connector that is named is the maker's: others, and the maker's restricted key, cannot query it. */
export const namesConnector: Rule["except"] = {
  restricted: noConnector,
  stranger: noConnector,
  administrator: noConnector,
  foreign: noConnector
}

/** To ask a question. */
export const asks = nothing([needs("chat:write"), queries], { except: namesConnector })

/** A role that is named and is another organization's is none. */
export const noSuchRole: Refusal = { code: "invalid_request", message: /there is no (?:such )?role/ }
