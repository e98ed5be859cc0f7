/** What the contract asks of whoever calls an operation: which permissions, and what the operation is about. */
import type * as Permission from "@castellan/core/role/Permission"

/** A refusal, as an envelope says it. */
export interface Refusal {
  readonly code: "unauthenticated" | "permission_denied" | "not_found" | "invalid_request"
  readonly message: string | RegExp
}

/** Something that a caller must hold: one of these, whichever; `admin` is the system role. */
export interface Need {
  readonly anyOf: ReadonlyArray<Permission.Permission | "admin">
  /** What is said to whoever has none of them. */
  readonly otherwise: Refusal
}

/** What an operation is about. */
export type Subject =
  /** Nothing that is there: a list, or something that will be. */
  | { readonly _tag: "Nothing" }
  /** What every member may know of: a role, a member, a key. Another organization's is not there. */
  | { readonly _tag: "Administered"; readonly thing: string }
  /** An object that carries access, and how far one must reach into it. */
  | { readonly _tag: "Carrier"; readonly thing: Carrier; readonly reach: Reach; readonly hiddenAs: string }
  /** A sandcastle: its maker's alone. */
  | { readonly _tag: "Sandcastle" }
  /** A change: its author's, the owners' of its paths, and the administrators'. */
  | { readonly _tag: "Change" }

/** What carries access. */
export type Carrier = "chat" | "playbook" | "agent" | "connector" | "app"
/** How far one must reach into it. */
export type Reach = "viewer" | "editor" | "owner"

/** Who calls, where a rule differs from its class. */
export type Exception = "restricted" | "stranger" | "administrator" | "foreign" | "powerless"

/** What the contract asks of the callers of an operation. */
export interface Rule {
  readonly about: Subject
  /** In the order in which they are asked for. */
  readonly needs: ReadonlyArray<Need>
  /** What differs from what the class says, with the reason; `served` where the caller is not refused. */
  readonly except: { readonly [Caller in Exception]?: Refusal | "served" }
  /**
   * Whether holding exactly what it needs is not enough to be served: it hands on roles or permissions, which must be
   * held as well. The proper caller then is an administrator, or holds everything.
   */
  readonly proper: "exact" | "everything" | "admin"
  /** Whether it hands authority on, so that it rests on what the member holds now, not on an old session. */
  readonly handsOn: boolean
}

/** Refuses for want of a permission. */
export const denied = (message: string | RegExp): Refusal => ({ code: "permission_denied", message })

/** Says that there is no such thing. */
export const notFound = (thing: string): Refusal => ({ code: "not_found", message: `${thing} not found` })
