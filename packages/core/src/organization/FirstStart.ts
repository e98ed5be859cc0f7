/**
 * The first organization of a deployment: its system roles, its first administrator and their key.
 *
 * Source: decisions.md §3 ("System roles").
 */
import type * as Digest from "effect/crypto/Digest"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { hashOf } from "../access/Authentication.ts"
import { ApiKey, ApiKeyId, ApiKeyStatus, AssumedRoles } from "../apikey/ApiKey.ts"
import type { ApiKeySecret } from "../apikey/ApiKeySecret.ts"
import { ApiKeyStore } from "../apikey/ApiKeyStore.ts"
import * as Uuid from "../identifier/Uuid.ts"
import { Member, MemberId, MemberStatus } from "../member/Member.ts"
import { MemberStore } from "../member/MemberStore.ts"
import * as Permission from "../role/Permission.ts"
import { Role, RoleId, RoleOrigin } from "../role/Role.ts"
import { RoleStore } from "../role/RoleStore.ts"
import { Organization, OrganizationId } from "./Organization.ts"
import { OrganizationStore } from "./OrganizationStore.ts"

/** The ids of a first organization. They are made once and kept, so that a later start finds the same. */
export const FirstIdentity = Schema.Struct({
  organizationId: OrganizationId,
  adminRoleId: RoleId,
  memberRoleId: RoleId,
  adminId: MemberId,
  adminKeyId: ApiKeyId,
  createdAt: Schema.DateTimeUtcFromString
})
export type FirstIdentity = typeof FirstIdentity.Type

/** New ids for a first organization. */
export const newIdentity: Effect.Effect<FirstIdentity, never, SecureRandom.SecureRandom> = Effect.gen(function* () {
  return {
    organizationId: OrganizationId.make(yield* Uuid.next),
    adminRoleId: RoleId.make(yield* Uuid.next),
    memberRoleId: RoleId.make(yield* Uuid.next),
    adminId: MemberId.make(yield* Uuid.next),
    adminKeyId: ApiKeyId.make(yield* Uuid.next),
    createdAt: yield* DateTime.now
  }
})

/** The built-in roles of an organization. */
export const systemRoles = (identity: FirstIdentity): { readonly admin: Role; readonly member: Role } => {
  const common = {
    organizationId: identity.organizationId,
    models: { allowModelChoice: true },
    createdAt: identity.createdAt,
    updatedAt: identity.createdAt
  }
  return {
    admin: new Role({
      ...common,
      id: identity.adminRoleId,
      name: "admin",
      description: "Every permission",
      origin: RoleOrigin.cases.System.make({ name: "admin" }),
      permissions: Permission.all
    }),
    member: new Role({
      ...common,
      id: identity.memberRoleId,
      name: "member",
      description: "Use of chats, playbooks, sandcastles, agents and the library",
      origin: RoleOrigin.cases.System.make({ name: "member" }),
      permissions: Permission.member
    })
  }
}

/** What a first organization is called, and who administers it. */
export interface FirstNames {
  readonly organization: string
  readonly adminEmail: string
}

/**
 * Puts a first organization in place: the organization, its system roles, its administrator, and the administrator's
 * key, which has full member access, whatever roles the administrator holds, and no expiry. Once the organization is there, doing it again changes nothing:
 * a key that was revoked since, or a member that was deactivated, stays so.
 */
export const establish: (
  identity: FirstIdentity,
  names: FirstNames,
  adminKey: ApiKeySecret
) => Effect.Effect<void, never, OrganizationStore | RoleStore | MemberStore | ApiKeyStore | Digest.Digest> =
  Effect.fnUntraced(function* (identity, names, adminKey) {
    const { createdAt, organizationId } = identity
    const established = yield* OrganizationStore.use((store) => store.get(organizationId))
    if (Option.isSome(established)) return
    const roles = systemRoles(identity)
    const hash = yield* hashOf(adminKey)
    yield* RoleStore.use((store) => Effect.andThen(store.save(roles.admin), store.save(roles.member)))
    yield* MemberStore.use((store) =>
      store.save(
        new Member({
          id: identity.adminId,
          organizationId,
          email: names.adminEmail,
          roles: [roles.admin.id, roles.member.id],
          isServiceAccount: false,
          status: MemberStatus.cases.Active.make({}),
          createdAt
        })
      )
    )
    yield* ApiKeyStore.use((store) =>
      store.save(
        new ApiKey({
          id: identity.adminKeyId,
          organizationId,
          owner: identity.adminId,
          name: "admin key of the first start",
          // A key mints none with a role that it has not: one that stayed with the first two roles could hand on no other.
          assumedRoles: AssumedRoles.cases.Live.make({}),
          fullMemberAccess: true,
          hash,
          status: ApiKeyStatus.cases.Active.make({}),
          rotatedFrom: [],
          createdAt
        })
      )
    )
    // Last: a start that broke off is done again from its beginning.
    yield* OrganizationStore.use((store) =>
      store.save(new Organization({ id: organizationId, name: names.organization, createdAt }))
    )
  })
