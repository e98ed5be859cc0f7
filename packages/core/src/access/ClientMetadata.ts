/**
 * Client metadata: what a key says of the end user behind it, for row-level security.
 *
 * Source: api-v2.md (`clientId`); decisions.md §3 and §5.
 */
import * as Equal from "effect/Equal"
import * as Schema from "effect/Schema"

/** A value of a metadata field. */
const Attribute = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null])

/** The metadata: the string as it was stored, and the fields that row policies read. */
export const ClientMetadata = Schema.Struct({
  /** The JSON text as the minter sent it. */
  text: Schema.String,
  attributes: Schema.Record(Schema.String, Attribute)
})
export type ClientMetadata = typeof ClientMetadata.Type

/** Whether two principals speak for the same end user: equal, non-empty metadata. The order of fields is no matter. */
export const sameClient = (a: ClientMetadata | undefined, b: ClientMetadata | undefined): boolean =>
  a !== undefined && b !== undefined && Object.keys(a.attributes).length > 0 && Equal.equals(a.attributes, b.attributes)
