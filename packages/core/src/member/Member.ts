/**
 * A member of an organization: a person, or a service account.
 *
 * Source: decisions.md §3.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { RoleId } from "../role/Role.ts"

/** A member's id. */
export const MemberId = Uuid.pipe(Schema.brand("MemberId"))
export type MemberId = typeof MemberId.Type

/** Whether a member may act. A deactivated one authenticates nothing (policy-cases K33). */
export const MemberStatus = Schema.TaggedUnion({
  Active: {},
  Deactivated: { at: Schema.DateTimeUtc }
})
export type MemberStatus = typeof MemberStatus.Type

/** How a member stands to the platform itself: most are ordinary; staff and superadmins run it. */
export const MemberStanding = Schema.Literals(["ordinary", "staff", "superadmin"])
export type MemberStanding = typeof MemberStanding.Type

/** A member of an organization. */
export class Member extends Schema.Class<Member>("@castellan/core/member/Member")({
  id: MemberId,
  organizationId: OrganizationId,
  email: Schema.NonEmptyString,
  name: Schema.optionalKey(Schema.String),
  /** The roles that the member holds now. */
  roles: Schema.Array(RoleId),
  isServiceAccount: Schema.Boolean,
  /** Whether the organization's identity provider keeps the member. */
  isScimManaged: Schema.Boolean.pipe(Schema.withConstructorDefault(Effect.succeed(false))),
  standing: MemberStanding.pipe(Schema.withConstructorDefault(Effect.succeed("ordinary" as const))),
  status: MemberStatus,
  createdAt: Schema.DateTimeUtc
}) {}
