/**
 * A trigger: the name by which an external system starts an agent. It is no credential: whoever uses it proves
 * themselves as everywhere else.
 *
 * Source: api-v2.md "Agent webhook" (`triggerId`); decisions.md §9.
 */
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"
import { MemberId } from "../member/Member.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { AgentId } from "./Agent.ts"

/** A trigger's id. */
export const TriggerId = Uuid.pipe(Schema.brand("TriggerId"))
export type TriggerId = typeof TriggerId.Type

/** A trigger of an agent. */
export class Trigger extends Schema.Class<Trigger>("@castellan/core/agent/Trigger")({
  id: TriggerId,
  organizationId: OrganizationId,
  agentId: AgentId,
  createdBy: MemberId,
  createdAt: Schema.DateTimeUtc
}) {}
