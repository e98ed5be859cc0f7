/**
 * Somebody who acts, by name and by the roles that they act with.
 */
import { Credential, Principal } from "@castellan/core/access/Principal"
import * as Permission from "@castellan/core/role/Permission"
import { Role, RoleOrigin } from "@castellan/core/role/Role"
import * as DateTime from "effect/DateTime"
import * as Name from "./Name.ts"

/** When everything in a test of policies was made. */
export const since: DateTime.Utc = DateTime.makeUnsafe("2030-01-01T00:00:00.000Z")

/** A role by its name; `admin` and `member` are the built-in ones. */
export const role = (name: string, permissions: ReadonlyArray<Permission.Permission> = []): Role =>
  new Role({
    id: Name.roleId(name),
    organizationId: Name.organizationId,
    name,
    description: "",
    origin:
      name === "admin" || name === "member" ? RoleOrigin.cases.System.make({ name }) : RoleOrigin.cases.Custom.make({}),
    permissions: name === "admin" ? Permission.all : name === "member" ? Permission.member : permissions,
    models: { allowModelChoice: true },
    createdAt: since,
    updatedAt: since
  })

/** Somebody who acts through a key with these roles; with that of a `member` unless said otherwise. */
export const principal = (name: string, roles: ReadonlyArray<Role> = [role("member")]): Principal =>
  new Principal({
    organizationId: Name.organizationId,
    memberId: Name.memberId(name),
    roles,
    restricted: false,
    credential: Credential.cases.ApiKey.make({ id: Name.apiKeyId(name), rotatedFrom: [] })
  })
