/**
 * Words for tests of keys: members with roles, what they do with keys, and what a key then does.
 */
import { Authentication } from "@castellan/core/access/Authentication"
import { Principal } from "@castellan/core/access/Principal"
import { type ApiKeyId, AssumedRoles } from "@castellan/core/apikey/ApiKey"
import { ApiKeys } from "@castellan/core/apikey/ApiKeys"
import type { ApiKeySecret } from "@castellan/core/apikey/ApiKeySecret"
import type { KeyRequest } from "@castellan/core/apikey/KeyRequest"
import { Member } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import type { Permission } from "@castellan/core/role/Permission"
import type { Role } from "@castellan/core/role/Role"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import type * as Sample from "@castellan/testing/fixture/Sample"
import { Effect, type Redacted } from "effect"

/** Makes a key. */
export const mint = (request: KeyRequest) => ApiKeys.use((keys) => keys.mint(request))

/** Ends a key. */
export const revoke = (id: ApiKeyId) => ApiKeys.use((keys) => keys.revoke(id))

/** Puts another key in the place of one, which lives on for a while. */
export const rotate = (id: ApiKeyId, graceSeconds?: number) =>
  ApiKeys.use((keys) => keys.rotate(id, graceSeconds === undefined ? {} : { graceSeconds }))

/** Keeps a member as it is now. */
export const saveMember = (member: Member) => MemberStore.use((store) => store.save(member))

/** A member with these roles instead of its own. */
export const withRoles = (member: Member, ...roles: ReadonlyArray<Role>): Member =>
  new Member({ ...member, roles: roles.map((role) => role.id) })

/** Roles of a key that were given to it by name. */
export const snapshot = (...roles: ReadonlyArray<Pick<Role, "id">>) =>
  AssumedRoles.cases.Snapshot.make({ roles: roles.map((role) => role.id) })

/** A request for all roles that the caller has. */
export const inherit = { inheritAllRoles: true } as const

/** Who acts by a key. */
export const authenticate = (bearer: Redacted.Redacted<string>) =>
  Authentication.use((authentication) => authentication.authenticate(bearer))

/** The names of the roles that a key has now; `401` and why when it does not work. */
export const rolesOf = (secret: ApiKeySecret) =>
  Effect.match(authenticate(secret), {
    onFailure: (error) => `401 ${error.message}`,
    onSuccess: (principal) =>
      principal.roles
        .map((role) => role.name)
        .toSorted()
        .join(",")
  })

/** What is said of a key that works no longer. */
export const gone = "401 invalid API key: API key not found"

/** What is said of a key that is not there. */
export const notFound = "NotFound: API key not found"

/** What is said where a permission is lacking. */
export const lacks = (permission: Permission) => `PermissionDenied: permission denied: ${permission} is required`

/** An organization with roles A, B and C without permissions, and a member with A and B. */
export const scene = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const { organizationId } = tenant
  const a = yield* Fixture.role(organizationId, { name: "A" })
  const b = yield* Fixture.role(organizationId, { name: "B" })
  const c = yield* Fixture.role(organizationId, { name: "C" })
  const writer = yield* Fixture.role(organizationId, { name: "writer", permissions: ["organization:write"] })
  const reader = yield* Fixture.role(organizationId, { name: "reader", permissions: ["organization:read"] })
  const owner = yield* Fixture.member(organizationId, { roles: [a, b] })
  const key = (member: Member, options?: Sample.KeyOptions) => Fixture.key(member, options)
  return { tenant, organizationId, a, b, c, writer, reader, owner, key }
})

/** A member as a browser's token would have it act: by no key, with all that it holds. */
export const person = (member: Member, roles: ReadonlyArray<Role>, isSuperadmin = false) =>
  new Principal({
    organizationId: member.organizationId,
    memberId: member.id,
    roles: roles.filter((role) => member.roles.includes(role.id)),
    restricted: false,
    isSuperadmin,
    credential: { _tag: "Token" }
  })
