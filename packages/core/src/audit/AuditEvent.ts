/**
 * An entry of the audit log: who did what to which thing, and how it ended. Entries are only ever added.
 *
 * Source: decisions.md §3 ("Audit log").
 */
import * as Schema from "effect/Schema"
import { ClientMetadata } from "../access/ClientMetadata.ts"
import { Credential, type Principal } from "../access/Principal.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { MemberId } from "../member/Member.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { RoleId } from "../role/Role.ts"

/** An audit event's id. */
export const AuditEventId = Uuid.pipe(Schema.brand("AuditEventId"))
export type AuditEventId = typeof AuditEventId.Type

/** The kinds of thing that something can be done to. */
export const AuditTargetType = Schema.Literals([
  "organization",
  "member",
  "role",
  "api_key",
  "session",
  "scim_group_mapping",
  "budget",
  "connector",
  "row_policy",
  "model",
  "chat",
  "run",
  "playbook",
  "report",
  "sandcastle",
  "execution",
  "folder_policy",
  "change",
  "library",
  "agent",
  "trigger",
  "app",
  "audit_log"
])
export type AuditTargetType = typeof AuditTargetType.Type

/** What was done. */
export const AuditAction = Schema.Literals([
  "create",
  "read",
  "list",
  "update",
  "delete",
  "deploy",
  "undeploy",
  "run",
  "cancel",
  "execute",
  "interrupt",
  "stop",
  "approve",
  "deny",
  "restore",
  "submit",
  "revise",
  "merge",
  "mint",
  "rotate",
  "revoke",
  "grant",
  "assign",
  "unassign",
  "invite",
  "deactivate",
  "login",
  "trigger",
  "migrate",
  "feedback",
  "deliver",
  "test"
])
export type AuditAction = typeof AuditAction.Type

/** The thing that something was done to; without an id where there is none yet, or where it is all of them. */
export const AuditTarget = Schema.Struct({ type: AuditTargetType, id: Schema.optionalKey(Schema.String) })
export type AuditTarget = typeof AuditTarget.Type

/** What one entry says beside who, when and how it ended. `before` and `after` never hold a secret or a hash. */
export const AuditEntry = Schema.Struct({
  action: AuditAction,
  target: AuditTarget,
  before: Schema.optionalKey(Schema.Json),
  after: Schema.optionalKey(Schema.Json)
})
export type AuditEntry = typeof AuditEntry.Type

/** How it ended. */
export const AuditOutcome = Schema.TaggedUnion({
  Succeeded: {},
  /** The caller may not; nothing was changed. */
  Refused: { message: Schema.String }
})
export type AuditOutcome = typeof AuditOutcome.Type

/** Who did it, as it was at that moment. */
export const AuditActor = Schema.Struct({
  credential: Credential,
  /** The member that the credential acts as. */
  memberId: MemberId,
  /** The effective roles. */
  roles: Schema.Array(RoleId),
  clientMetadata: Schema.optionalKey(ClientMetadata)
})
export type AuditActor = typeof AuditActor.Type

/** One entry of an organization's audit log. */
export class AuditEvent extends Schema.Class<AuditEvent>("@castellan/core/audit/AuditEvent")({
  id: AuditEventId,
  organizationId: OrganizationId,
  at: Schema.DateTimeUtc,
  actor: AuditActor,
  ...AuditEntry.fields,
  outcome: AuditOutcome,
  /** The `X-Request-Id` of the request, where there was one. */
  requestId: Schema.optionalKey(Schema.String),
  /** The client's address, where there was one. */
  address: Schema.optionalKey(Schema.String)
}) {}

/** A principal as the actor of an entry. */
export const actorOf = (principal: Principal): AuditActor => ({
  credential: principal.credential,
  memberId: principal.memberId,
  roles: principal.roles.map((role) => role.id),
  ...(principal.clientMetadata === undefined ? {} : { clientMetadata: principal.clientMetadata })
})
