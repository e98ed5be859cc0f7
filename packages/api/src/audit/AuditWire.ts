/**
 * The audit log on the wire.
 *
 * Source: decisions.md §3 ("Audit log").
 */
import type { Credential } from "@castellan/core/access/Principal"
import { ApiKeyId } from "@castellan/core/apikey/ApiKey"
import { AuditAction, type AuditEvent, AuditEventId, AuditTargetType } from "@castellan/core/audit/AuditEvent"
import type { AuditQuery } from "@castellan/core/audit/AuditStore"
import { MemberId } from "@castellan/core/member/Member"
import type { Position, Slice } from "@castellan/core/page/Page"
import { RoleId } from "@castellan/core/role/Role"
import { SessionId } from "@castellan/core/session/SessionId"
import * as Schema from "effect/Schema"
import { nextPageToken, pageFields, type SealPosition } from "../wire/PageWire.ts"
import { boundedText, moment, oneOf, text, timestamp, uuid } from "../wire/WireValue.ts"

/** Who did something, as it was at that moment. */
export const AuditActorWire = Schema.Struct({
  credential: Schema.Literals(["api_key", "session", "token", "system"]).annotate({
    description: "What the actor proved itself by; `system` is background work"
  }),
  member_id: uuid(MemberId, "The member that it acted as"),
  api_key_id: Schema.optionalKey(uuid(ApiKeyId, "The key, also where it stands behind a session")),
  session_id: Schema.optionalKey(uuid(SessionId, "The session")),
  system: Schema.optionalKey(text("The name of the background work")),
  role_ids: Schema.Array(uuid(RoleId, "A role's id")).annotate({ description: "The effective roles" }),
  client_id: Schema.optionalKey(text("The client metadata, as they were sent when the key was made"))
}).annotate({ identifier: "AuditActor", description: "Who did it, as it was at that moment" })
export type AuditActorWire = typeof AuditActorWire.Type

/** What something was done to. */
export const AuditTargetWire = Schema.Struct({
  type: AuditTargetType.annotate({ description: "What kind of thing" }),
  id: Schema.optionalKey(text("Its id; absent where there is none, or where it is all of them"))
}).annotate({ identifier: "AuditTarget", description: "What it was done to" })
export type AuditTargetWire = typeof AuditTargetWire.Type

/** An entry of the audit log. */
export const AuditEventWire = Schema.Struct({
  id: uuid(AuditEventId, "The event's id"),
  created_at: timestamp("When it was done"),
  action: AuditAction.annotate({ description: "What was done" }),
  target: AuditTargetWire,
  actor: AuditActorWire,
  outcome: Schema.Literals(["succeeded", "refused"]).annotate({
    description: "How it ended; what was refused changed nothing"
  }),
  message: Schema.optionalKey(text("Why it was refused")),
  before: Schema.optionalKey(Schema.Json.annotate({ description: "What was there before" })),
  after: Schema.optionalKey(Schema.Json.annotate({ description: "What was there afterwards" })),
  request_id: Schema.optionalKey(text("The `X-Request-Id` of the request")),
  ip_address: Schema.optionalKey(text("The client's address"))
}).annotate({ identifier: "AuditEvent", description: "Who did what to which thing, and how it ended" })
export type AuditEventWire = typeof AuditEventWire.Type

/** A page of the audit log. */
export const AuditEventListWire = Schema.Struct({
  audit_events: Schema.Array(AuditEventWire).annotate({ description: "The events of this page, newest first" }),
  next_page_token: nextPageToken
}).annotate({ identifier: "AuditEventList", description: "A page of the audit log" })
export type AuditEventListWire = typeof AuditEventListWire.Type

/** Which events to list; what is absent narrows nothing. */
export const ListAuditEventsQuery = Schema.Struct({
  ...pageFields("events"),
  action: Schema.optionalKey(oneOf(AuditAction.literals, "What was done")),
  target_type: Schema.optionalKey(oneOf(AuditTargetType.literals, "What kind of thing it was done to")),
  target_id: Schema.optionalKey(boundedText({ minimum: 1, maximum: 200 }, "The id of what it was done to")),
  member_id: Schema.optionalKey(uuid(MemberId, "The member that did it")),
  outcome: Schema.optionalKey(oneOf(["succeeded", "refused"], "How it ended")),
  from: Schema.optionalKey(moment("Events at this moment or later")),
  until: Schema.optionalKey(moment("Events before this moment"))
})
export type ListAuditEventsQuery = typeof ListAuditEventsQuery.Type

const outcomes = { succeeded: "Succeeded", refused: "Refused" } as const

/** The entries that a query asks for; where its page begins is the handler's to read from the token. */
export const toAuditQuery = (query: ListAuditEventsQuery, after: Position | undefined): AuditQuery => ({
  limit: query.page_size ?? 50,
  ...(after === undefined ? {} : { after }),
  ...(query.action === undefined ? {} : { action: query.action }),
  ...(query.target_type === undefined ? {} : { targetType: query.target_type }),
  ...(query.target_id === undefined ? {} : { targetId: query.target_id }),
  ...(query.member_id === undefined ? {} : { memberId: query.member_id }),
  ...(query.outcome === undefined ? {} : { outcome: outcomes[query.outcome] }),
  ...(query.from === undefined ? {} : { from: query.from }),
  ...(query.until === undefined ? {} : { until: query.until })
})

const credentialOf = (
  credential: Credential
): Pick<AuditActorWire, "credential" | "api_key_id" | "session_id" | "system"> => {
  switch (credential._tag) {
    case "ApiKey":
      return { credential: "api_key", api_key_id: credential.id }
    case "Session":
      return {
        credential: "session",
        session_id: credential.id,
        ...(credential.key === undefined ? {} : { api_key_id: credential.key.id })
      }
    case "Token":
      return { credential: "token" }
    case "System":
      return { credential: "system", system: credential.name }
  }
}

/** An entry of the audit log as the wire shows it. */
export const ofAuditEvent = ({
  action,
  actor,
  address,
  after,
  at,
  before,
  id,
  outcome,
  requestId,
  target
}: AuditEvent): AuditEventWire => ({
  id,
  created_at: at,
  action,
  target,
  actor: {
    ...credentialOf(actor.credential),
    member_id: actor.memberId,
    role_ids: actor.roles,
    ...(actor.clientMetadata === undefined ? {} : { client_id: actor.clientMetadata.text })
  },
  outcome: outcome._tag === "Succeeded" ? "succeeded" : "refused",
  ...(outcome._tag === "Refused" ? { message: outcome.message } : {}),
  ...(before === undefined ? {} : { before }),
  ...(after === undefined ? {} : { after }),
  ...(requestId === undefined ? {} : { request_id: requestId }),
  ...(address === undefined ? {} : { ip_address: address })
})

/** A page of the audit log as the wire shows it. */
export const ofAuditEvents = (slice: Slice<AuditEvent>, seal: SealPosition): AuditEventListWire => ({
  audit_events: slice.items.map(ofAuditEvent),
  ...(slice.next === undefined ? {} : { next_page_token: seal(slice.next) })
})
