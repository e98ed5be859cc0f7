/**
 * Ids from names, so that tests of policies speak of people and roles by name: the same name has the same id, always.
 */
import { ApiKeyId } from "@castellan/core/apikey/ApiKey"
import { CommitId } from "@castellan/core/library/ObjectId"
import { MemberId } from "@castellan/core/member/Member"
import { OrganizationId } from "@castellan/core/organization/Organization"
import { RoleId } from "@castellan/core/role/Role"

/** 32 bits of a text (FNV-1a), as eight hexadecimal digits: enough to tell the names of a test apart. */
const bits = (text: string): string => {
  let hash = 0x811c9dc5
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return hash.toString(16).padStart(8, "0")
}

const digits = (kind: string, name: string): string =>
  [0, 1, 2, 3, 4].map((part) => bits(`${kind}/${part}/${name}`)).join("")

const uuid = (kind: string, name: string): string => {
  const hex = digits(kind, name)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The one organization of a test of policies. */
export const organizationId: OrganizationId = OrganizationId.make(uuid("organization", "acme"))

/** The id of the member of a name. */
export const memberId = (name: string): MemberId => MemberId.make(uuid("member", name))

/** The id of the role of a name. */
export const roleId = (name: string): RoleId => RoleId.make(uuid("role", name))

/** The id of the key of a name. */
export const apiKeyId = (name: string): ApiKeyId => ApiKeyId.make(uuid("key", name))

/** The git commit of a name: `v1`, `v2`. */
export const gitRef = (name: string): CommitId => CommitId.make(digits("commit", name))
