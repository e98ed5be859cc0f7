/**
 * An organization: the tenant that owns everything else. Nothing crosses from one to another.
 */
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"
import { ModelNumber } from "../model/Model.ts"

/** An organization's id. */
export const OrganizationId = Uuid.pipe(Schema.brand("OrganizationId"))
export type OrganizationId = typeof OrganizationId.Type

/** A tenant. */
export class Organization extends Schema.Class<Organization>("@castellan/core/organization/Organization")({
  id: OrganizationId,
  name: Schema.NonEmptyString,
  /** The model of a chat whose caller names none and whose roles set none. */
  defaultModel: Schema.optionalKey(ModelNumber),
  createdAt: Schema.DateTimeUtc
}) {}
