/**
 * What random questions are about: a small organization, drawn as plain facts, and told twice, in our types and in
 * Cedar's. Names stand for ids, so that a disagreement can be read.
 */
import type { ClientMetadata } from "@castellan/core/access/ClientMetadata"
import { type Credential, Principal } from "@castellan/core/access/Principal"
import { ApiKeyId } from "@castellan/core/apikey/ApiKey"
import { MemberId } from "@castellan/core/member/Member"
import { OrganizationId } from "@castellan/core/organization/Organization"
import * as Permission from "@castellan/core/role/Permission"
import { Role, RoleId } from "@castellan/core/role/Role"
import { SessionId } from "@castellan/core/session/SessionId"
import * as DateTime from "effect/DateTime"
import { type CedarValueJson, entity, type EntityJson, name, reference, references } from "./Cedar.ts"
import type { Draw } from "./Draw.ts"

/** The members, the keys of each, and the roles; `gone` is a role that was deleted. */
export const members = ["ann", "bob", "cleo", "dan"] as const
export type MemberName = (typeof members)[number]
export const keyNames = (member: MemberName): readonly [string, string, string] => [
  `${member} first`,
  `${member} second`,
  `${member} third`
]
export const roles = ["admin", "red", "green", "blue"] as const
export type RoleName = (typeof roles)[number] | "gone"

/** Client metadata by name; two of them are the same, written in another order. */
export const clients: Readonly<Record<string, ClientMetadata>> = {
  nothing: { text: "{}", attributes: {} },
  acme: { text: '{"tenant":"acme","site":1}', attributes: { tenant: "acme", site: 1 } },
  "acme again": { text: '{"site":1,"tenant":"acme"}', attributes: { site: 1, tenant: "acme" } },
  zeta: { text: '{"tenant":"zeta"}', attributes: { tenant: "zeta" } }
}
const clientNames = ["", "", "nothing", "acme", "acme again", "zeta"] as const
export type ClientName = (typeof clientNames)[number]

/** A name of client metadata; the empty one is none. */
export const drawClient = (draw: Draw): ClientName => draw.pick(clientNames)

/** Client metadata as Cedar compares it: its fields in order, and nothing where there is none. */
export const canonical = (client: ClientName): string => {
  const attributes = Object.entries(clients[client]?.attributes ?? {})
  return attributes.length === 0 ? "" : JSON.stringify(attributes.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Which of our fields a name of client metadata stands for. */
export const clientField = (client: ClientName): { readonly clientMetadata?: ClientMetadata } => {
  const found = clients[client]
  return found === undefined ? {} : { clientMetadata: found }
}

const numbers = new Map<string, number>()

/** The same UUID for the same name, every time. */
export const uuid = (text: string): string => {
  const number = numbers.get(text) ?? numbers.size + 1
  numbers.set(text, number)
  return `01890000-0000-7000-8000-${String(number).padStart(12, "0")}`
}

export const memberId = (member: string): MemberId => MemberId.make(uuid(`member ${member}`))
export const roleId = (role: string): RoleId => RoleId.make(uuid(`role ${role}`))
export const keyId = (key: string): ApiKeyId => ApiKeyId.make(uuid(`key ${key}`))
export const organizationId = (organization: string): OrganizationId =>
  OrganizationId.make(uuid(`organization ${organization}`))

/** The moment of every question, in milliseconds, and others around it. */
export const now = Date.UTC(2030, 4, 5, 12)
export const moments = [now - 60_000, now - 1, now, now + 1, now + 60_000] as const
export const moment = (milliseconds: number): DateTime.Utc => DateTime.makeUnsafe(milliseconds)

/** Which permissions each role grants, in this drawing. */
export type Grants = Readonly<Record<string, ReadonlyArray<Permission.Permission>>>

/** The admin role grants all; each other one grants each of the permissions that matter, or not. */
export const drawGrants = (draw: Draw, matter: ReadonlyArray<Permission.Permission>): Grants =>
  Object.fromEntries(roles.map((role) => [role, role === "admin" ? Permission.all : draw.some(matter, 55)]))

/** The roles that grant a permission, for Cedar. */
export const granting = (grants: Grants, permission: Permission.Permission): CedarValueJson =>
  references(
    "Role",
    roles.filter((role) => grants[role]?.includes(permission))
  )

const epoch = moment(0)

/** A role in our types. */
export const roleOf = (role: string, grants: Grants): Role =>
  new Role(
    {
      id: roleId(role),
      organizationId: organizationId("here"),
      name: role,
      description: "",
      origin: role === "admin" ? { _tag: "System", name: "admin" } : { _tag: "Custom" },
      permissions: grants[role] ?? [],
      models: { allowModelChoice: true },
      createdAt: epoch,
      updatedAt: epoch
    },
    { disableChecks: true }
  )

/** Some roles; the admin role seldom, or nothing would be denied. */
export const drawRoles = (draw: Draw, percent = 40): ReadonlyArray<RoleName> => [
  ...(draw.chance(20) ? ["admin" as const] : []),
  ...draw.some(["red", "green", "blue"] as const, percent)
]

/** Who asks, as facts. */
export interface Caller {
  readonly member: MemberName
  readonly roles: ReadonlyArray<RoleName>
  readonly by: "key" | "session" | "session of a key" | "token"
  /** The key, with those that it replaced; empty without one. */
  readonly keys: ReadonlyArray<string>
  readonly restricted: boolean
  /** Whether the session or token names the roles that it cannot exceed. */
  readonly ceiling: boolean
  readonly client: ClientName
  readonly superadmin: boolean
}

/** A caller: by a key mostly, restricted or not; only a key can restrict, or speak for an end user. */
export const drawCaller = (draw: Draw): Caller => {
  const member = draw.pick(members)
  const by = draw.pick(["key", "key", "session", "session of a key", "token"] as const)
  const hasKey = by === "key" || by === "session of a key"
  const [first, second, third] = keyNames(member)
  return {
    member,
    roles: drawRoles(draw),
    by,
    keys: hasKey ? draw.pick([[first], [second, first], [third]] as const) : [],
    restricted: hasKey && draw.chance(50),
    ceiling: !hasKey && draw.chance(40),
    client: hasKey ? drawClient(draw) : "",
    superadmin: draw.chance(20)
  }
}

const credentialOf = (caller: Caller): Credential => {
  const [id, ...rotatedFrom] = caller.keys.map(keyId)
  const session = SessionId.make(uuid("session"))
  const ceiling = caller.ceiling ? { ceiling: caller.roles.map(roleId) } : {}
  if (id === undefined) {
    return caller.by === "token" ? { _tag: "Token", ...ceiling } : { _tag: "Session", id: session, ...ceiling }
  }
  return caller.by === "key"
    ? { _tag: "ApiKey", id, rotatedFrom }
    : { _tag: "Session", id: session, key: { id, rotatedFrom } }
}

/** The caller in our types. */
export const principalOf = (caller: Caller, grants: Grants): Principal =>
  new Principal({
    organizationId: organizationId("here"),
    memberId: memberId(caller.member),
    roles: caller.roles.map((role) => roleOf(role, grants)),
    ...clientField(caller.client),
    restricted: caller.restricted,
    isSuperadmin: caller.superadmin,
    credential: credentialOf(caller)
  })

/** The caller in Cedar's. */
export const callerEntity = (caller: Caller): EntityJson =>
  entity(name("Caller", "caller"), {
    organization: reference("Organization", "here"),
    member: reference("Member", caller.member),
    roles: references("Role", caller.roles),
    keys: references("Key", caller.keys),
    restricted: caller.restricted,
    client: canonical(caller.client),
    superadmin: caller.superadmin
  })

/** The organization as a thing to ask about. */
export const here: EntityJson = entity(name("Organization", "here"), {})
