/**
 * An agent: a saved prompt that an external system starts by a trigger, with a payload as its context.
 *
 * Source: api-v2.md "Agent webhook"; decisions.md §9.
 */
import * as Schema from "effect/Schema"
import { Access } from "../access/Access.ts"
import { ConnectorId } from "../connector/Connector.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { MemberId } from "../member/Member.ts"
import { ModelId } from "../model/Model.ts"
import { OrganizationId } from "../organization/Organization.ts"

/** An agent's id. */
export const AgentId = Uuid.pipe(Schema.brand("AgentId"))
export type AgentId = typeof AgentId.Type

/** An agent of an organization. */
export class Agent extends Schema.Class<Agent>("@castellan/core/agent/Agent")({
  id: AgentId,
  organizationId: OrganizationId,
  name: Schema.NonEmptyString,
  prompt: Schema.NonEmptyString,
  /** The connectors that it uses; none: every one that whoever it runs for may use. */
  connectorIds: Schema.Array(ConnectorId),
  /** The model of its runs; absent: the one that its caller's roles set. */
  model: Schema.optionalKey(ModelId),
  access: Access,
  createdBy: MemberId,
  createdAt: Schema.DateTimeUtc,
  updatedAt: Schema.DateTimeUtc
}) {}
