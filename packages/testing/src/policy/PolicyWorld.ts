/**
 * An organization for tests of a host's own policies: its roles, its members and its folder policies, by name, and the
 * questions that one asks of them.
 */
import type { Decision } from "@castellan/core/access/Decision"
import type { Principal } from "@castellan/core/access/Principal"
import * as ApprovalPolicy from "@castellan/core/change/ApprovalPolicy"
import * as AutoApprovalPolicy from "@castellan/core/change/AutoApprovalPolicy"
import * as ChangePolicy from "@castellan/core/change/ChangePolicy"
import * as OwnersPolicy from "@castellan/core/folderpolicy/OwnersPolicy"
import * as PolicyTree from "@castellan/core/folderpolicy/PolicyTree"
import * as Population from "@castellan/core/folderpolicy/Population"
import { MemberStatus } from "@castellan/core/member/Member"
import type * as Permission from "@castellan/core/role/Permission"
import * as Name from "./Name.ts"
import { principal as principalOf, role, since } from "./Principal.ts"

/** A member by the names of the roles that they hold, or more. */
export type MemberOptions =
  | ReadonlyArray<string>
  | {
      readonly roles?: ReadonlyArray<string>
      /** Whether the member is a service account, and who minted its keys. */
      readonly serviceAccountOf?: ReadonlyArray<string>
      /** A deactivated member is there, and owns and approves nothing. */
      readonly deactivated?: boolean
    }

/** What there is in the organization. */
export interface PolicyWorldOptions {
  /** The organization's own roles with their permissions. The roles `admin` and `member` are there anyway. */
  readonly roles?: { readonly [name: string]: ReadonlyArray<Permission.Permission> }
  readonly members?: { readonly [name: string]: MemberOptions }
  readonly policies?: ReadonlyArray<PolicyTree.KeptTerms>
}

/** How a member acts, where it is not with all that they hold. */
export interface ActingOptions {
  /** The roles of the key that they act through, as far as they hold them. */
  readonly throughKeyWith?: ReadonlyArray<string>
}

/** An organization, and what can be asked about it. */
export interface PolicyWorld {
  readonly situation: ApprovalPolicy.Situation
  /** A member as somebody who acts. */
  readonly principal: (name: string, acting?: ActingOptions) => Principal
  /** Whether somebody owns every one of the paths. */
  readonly own: (name: string | Principal, ...paths: ReadonlyArray<string>) => Decision
  /** Whether somebody may approve a change. */
  readonly approve: (name: string | Principal, change: ApprovalPolicy.Reviewed) => Decision
  /** Whether somebody may deny a change. */
  readonly deny: (name: string | Principal, change: ApprovalPolicy.Reviewed) => Decision
  /** Whether somebody may restore a change. */
  readonly restore: (name: string | Principal, change: ApprovalPolicy.Reviewed) => Decision
  /** Whether somebody may revise a change. */
  readonly revise: (name: string | Principal, change: ApprovalPolicy.Reviewed) => Decision
  /** Whether somebody may see a change. */
  readonly see: (name: string | Principal, change: ApprovalPolicy.Reviewed) => Decision
  /** Whether a change has the approvals that it needs. */
  readonly merge: (change: ApprovalPolicy.Reviewed) => Decision
  /** Whether a change is approved by the folders' own exceptions, pushed by somebody. */
  readonly autoApprove: (name: string | Principal, change: ApprovalPolicy.Reviewed) => Decision
  /** How far a change is: what people are shown. */
  readonly standing: (change: ApprovalPolicy.Reviewed) => ApprovalPolicy.Standing
}

const rolesOf = (options: MemberOptions): ReadonlyArray<string> =>
  "roles" in options ? (options.roles ?? []) : Symbol.iterator in options ? options : []

/** The organization of these roles, members and policies. */
export const policyWorld = (options: PolicyWorldOptions = {}): PolicyWorld => {
  const roles = [
    role("admin"),
    role("member"),
    ...Object.entries(options.roles ?? {}).map(([name, permissions]) => role(name, permissions))
  ]
  const byName = new Map(roles.map((one) => [one.name, one]))
  const members = new Map(Object.entries(options.members ?? {}))
  const minters = new Map(
    [...members].map(([name, of]) => [
      Name.memberId(name),
      "serviceAccountOf" in of ? (of.serviceAccountOf ?? []).map(Name.memberId) : []
    ])
  )
  const population = Population.make(
    [...members].map(([name, of]) => ({
      id: Name.memberId(name),
      roles: rolesOf(of).map(Name.roleId),
      isServiceAccount: "serviceAccountOf" in of && of.serviceAccountOf !== undefined,
      status:
        "deactivated" in of && of.deactivated === true
          ? MemberStatus.cases.Deactivated.make({ at: since })
          : MemberStatus.cases.Active.make({})
    })),
    roles,
    minters
  )
  const tree = PolicyTree.make(options.policies ?? [])
  const situation: ApprovalPolicy.Situation = { tree, population }

  const principal = (name: string, acting: ActingOptions = {}): Principal => {
    const held = rolesOf(members.get(name) ?? [])
    const effective = acting.throughKeyWith?.filter((one) => held.includes(one)) ?? held
    return principalOf(
      name,
      effective.flatMap((one) => byName.get(one) ?? [])
    )
  }
  const acting = (who: string | Principal): Principal => (typeof who === "string" ? principal(who) : who)

  return {
    situation,
    principal,
    own: (who, ...paths) => OwnersPolicy.decideAll(tree, OwnersPolicy.holderOf(acting(who)), paths),
    approve: (who, change) => ChangePolicy.decideApprove(situation, acting(who), change),
    deny: (who, change) => ChangePolicy.decideDeny(tree, acting(who), change),
    restore: (who, change) => ChangePolicy.decideRestore(tree, acting(who), change),
    revise: (who, change) => ChangePolicy.decideRevise(tree, acting(who), change),
    see: (who, change) => ChangePolicy.decideRead(tree, acting(who), change),
    merge: (change) => ApprovalPolicy.decideStanding(ApprovalPolicy.standing(change, situation)),
    autoApprove: (who, change) =>
      AutoApprovalPolicy.decideAutoApproval(change, situation, OwnersPolicy.holderOf(acting(who))),
    standing: (change) => ApprovalPolicy.standing(change, situation)
  }
}
