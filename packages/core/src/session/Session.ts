/**
 * A session: what a browser acts by for a quarter of an hour. It is kept nowhere; its token says all of it.
 *
 * Source: decisions.md §3 (`POST /v2/sessions`); policy-cases K40.
 */
import * as Schema from "effect/Schema"
import { ClientMetadata } from "../access/ClientMetadata.ts"
import { KeyLineage } from "../access/Principal.ts"
import { MemberId } from "../member/Member.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { RoleId } from "../role/Role.ts"
import { SessionId } from "./SessionId.ts"

/** What a session's token says. */
export class Session extends Schema.Class<Session>("@castellan/core/session/Session")({
  id: SessionId,
  organizationId: OrganizationId,
  /** The member that it acts as. */
  memberId: MemberId,
  /** The effective roles of whoever minted it, as they were then. A change of them reaches the next session alone. */
  roles: Schema.Array(RoleId),
  /** What a session that is minted by this one cannot exceed; absent: what the member holds then. */
  ceiling: Schema.optionalKey(Schema.Array(RoleId)),
  clientMetadata: Schema.optionalKey(ClientMetadata),
  /** Whether a restricted key minted it: then it is as restricted. */
  restricted: Schema.Boolean,
  /** The key that minted it, where one did; it works only while that key does. */
  key: Schema.optionalKey(KeyLineage),
  /**
   * When the person came by a token of their own, without a key behind it: from then on the age of the sessions that
   * come of it counts, however often they are renewed.
   */
  authenticatedAt: Schema.optionalKey(Schema.DateTimeUtc),
  issuedAt: Schema.DateTimeUtc,
  expiresAt: Schema.DateTimeUtc
}) {}
