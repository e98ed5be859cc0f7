/**
 * A folder policy as it was kept, in a row or in a host's own file, read so that nothing in it can widen access: a part
 * that cannot be read stands at its strictest. Owners that cannot be read are nobody but administrators, and none is
 * inherited; a number that is none is one; a rule whose scope cannot be read governs everybody; an exception that
 * cannot be read is none.
 *
 * Source: policy-cases O10, O13, A21, law L12.
 */
import type * as DateTime from "effect/DateTime"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { OrganizationId } from "../organization/Organization.ts"
import { RoleId } from "../role/Role.ts"
import type { FolderPath } from "./FolderPath.ts"
import { AutoApproval, FolderPolicy, Owner, RequiredApprovals } from "./FolderPolicy.ts"

/** Ids are the same in upper and lower case (O13). */
const lowered = (value: unknown): unknown => {
  if (typeof value === "string") return value.toLowerCase()
  if (Array.isArray(value)) return value.map(lowered)
  return Predicate.isObject(value) && "id" in value ? { ...value, id: lowered(value["id"]) } : value
}

/**
 * Reads a policy of a folder from a document with the fields of `FolderPolicyTerms`. Whatever it holds, there is a
 * policy; `malformations` names the fields that could not be read.
 */
export const restore = (
  organizationId: OrganizationId,
  path: FolderPath,
  document: unknown,
  updatedAt: DateTime.Utc
): FolderPolicy => {
  const malformations: Array<string> = []
  const fields: { readonly [field: string]: unknown } = Predicate.isObject(document) ? document : {}
  const read = <A>(field: string, is: (value: unknown) => value is A, strictest: A, value = fields[field]): A => {
    if (is(value)) return value
    malformations.push(field)
    return strictest
  }
  const owners = read("owners", Schema.is(Schema.Array(Owner)), [], lowered(fields["owners"]))
  const areOwnersRead = malformations.length === 0
  const inheritOwners = read("inheritOwners", Predicate.isBoolean, false)
  return new FolderPolicy({
    organizationId,
    path,
    owners,
    inheritOwners: areOwnersRead && inheritOwners,
    requiredApprovals: read("requiredApprovals", Schema.is(RequiredApprovals), 1),
    distinctApprovers: read("distinctApprovers", Predicate.isBoolean, true),
    authorRoles: read("authorRoles", Schema.is(Schema.Array(RoleId)), [], lowered(fields["authorRoles"])),
    autoApprove: read("autoApprove", Schema.is(Schema.Array(AutoApproval)), []),
    malformations,
    updatedAt
  })
}
