/**
 * The life of a member: active, deactivated, invited again; and the roles that it holds meanwhile. Every pair of state
 * and event has an answer; an illegal one is a refusal that says the state.
 *
 * Source: decisions.md §3 ("Role and member administration", "Removing the last admin is 409").
 */
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { RoleId } from "../role/Role.ts"
import { Member, MemberStatus } from "./Member.ts"

/** What can happen to a member. */
export const MemberEvent = Schema.TaggedUnion({
  /** The member comes back with these roles alone: what it held before is not given again unseen. */
  Reinvite: { roles: Schema.Array(RoleId) },
  /** The member can do nothing any more, and is kept. */
  Deactivate: {},
  /** The member is removed for good. */
  Delete: {},
  Assign: { role: RoleId },
  Unassign: { role: RoleId }
})
export type MemberEvent = typeof MemberEvent.Type

/** The facts beside the member: which role is `admin`, and how many other active members hold it. */
export interface MemberFacts {
  readonly adminRole: RoleId | undefined
  readonly otherAdmins: number
}

/** The member's state does not allow this. */
export class MemberRefusal extends Schema.TaggedError<MemberRefusal>()("MemberRefusal", {
  state: Schema.Literals(["Active", "Deactivated"]),
  event: Schema.Literals(["Reinvite", "Deactivate", "Delete", "Assign", "Unassign"]),
  reason: Schema.Literals(["state", "last_admin", "not_held"])
}) {
  override get message(): string {
    switch (this.reason) {
      case "last_admin":
        return "the member is the last admin of the organization"
      case "not_held":
        return "the member does not hold the role"
      case "state":
        return `the member is ${this.state.toLowerCase()}${this.event === "Deactivate" || this.event === "Reinvite" ? " already" : ""}`
    }
  }
}

/** Whether a member is an administrator who can act. */
export const isActiveAdmin = (member: Member, adminRole: RoleId | undefined): boolean =>
  member.status._tag === "Active" && adminRole !== undefined && member.roles.includes(adminRole)

/** The member after an event at a moment; none when it is gone; the same one when it is so already. */
export const transition = (
  member: Member,
  event: MemberEvent,
  facts: MemberFacts,
  at: DateTime.Utc
): Result.Result<Option.Option<Member>, MemberRefusal> => {
  const state = member.status._tag
  const refuse = (reason: MemberRefusal["reason"]): Result.Result<Option.Option<Member>, MemberRefusal> =>
    Result.fail(new MemberRefusal({ state, event: event._tag, reason }))
  const next = (change: Partial<Pick<Member, "roles" | "status">>): Result.Result<Option.Option<Member>> =>
    Result.succeed(Option.some(new Member({ ...member, ...change })))
  const isLastAdmin = isActiveAdmin(member, facts.adminRole) && facts.otherAdmins === 0

  return MemberEvent.match(event, {
    Reinvite: ({ roles }) =>
      state === "Active"
        ? refuse("state")
        : next({ roles: [...new Set(roles)], status: MemberStatus.cases.Active.make({}) }),
    Deactivate: () => {
      if (state === "Deactivated") return refuse("state")
      return isLastAdmin ? refuse("last_admin") : next({ status: MemberStatus.cases.Deactivated.make({ at }) })
    },
    Delete: () => (isLastAdmin ? refuse("last_admin") : Result.succeed(Option.none())),
    Assign: ({ role }) => {
      if (state === "Deactivated") return refuse("state")
      return member.roles.includes(role)
        ? Result.succeed(Option.some(member))
        : next({ roles: [...member.roles, role] })
    },
    Unassign: ({ role }) => {
      if (!member.roles.includes(role)) return refuse("not_held")
      if (role === facts.adminRole && isLastAdmin) return refuse("last_admin")
      return next({ roles: member.roles.filter((held) => held !== role) })
    }
  })
}
