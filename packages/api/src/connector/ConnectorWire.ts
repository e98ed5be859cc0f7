/**
 * Connectors on the wire. Where the data are is told by nobody who may merely use them, and a secret goes in alone.
 *
 * Source: decisions.md §5 ("`GET /v2/connectors`", "Secrets are write-only").
 */
import { type Connector, ConnectorId, ConnectorType, connectorType } from "@castellan/core/connector/Connector"
import * as Schema from "effect/Schema"
import { flag, text, timestamp } from "../wire/WireValue.ts"

/** A data source that the caller may use. */
export const ConnectorWire = Schema.Struct({
  id: ConnectorId.annotate({ description: "The connector's id, for `connector_ids`" }),
  name: text("The name by which the analyst and the ontology know it"),
  type: text("The kind of source, such as `files`"),
  description: Schema.optionalKey(text("What the data are about")),
  created_at: Schema.optionalKey(timestamp("When the connector was made"))
}).annotate({ identifier: "Connector", description: "A data source that the caller may use" })
export type ConnectorWire = typeof ConnectorWire.Type

/** The bare array that the list of connectors is. */
export const ConnectorListWire = Schema.Array(ConnectorWire).annotate({
  identifier: "ConnectorList",
  description: "The connectors that the caller may use"
})

/** A field of a connector's configuration. */
export const ConnectorFieldWire = Schema.Struct({
  name: text("The field's name in `config`"),
  type: Schema.Literals(["string", "integer", "boolean"]).annotate({ description: "What the field holds" }),
  required: flag("Whether it must be there"),
  description: text("What it is")
}).annotate({ identifier: "ConnectorField", description: "A field of a connector's configuration" })
export type ConnectorFieldWire = typeof ConnectorFieldWire.Type

/** A kind of source. */
export const ConnectorTypeWire = Schema.Struct({
  type: ConnectorType.annotate({ description: "What `type` takes" }),
  name: text("The name to show"),
  secret: Schema.optionalKey(text("What `secret` is of this kind of source; absent where there is none")),
  fields: Schema.Array(ConnectorFieldWire).annotate({ description: "The fields of `config`" })
}).annotate({ identifier: "ConnectorType", description: "A kind of source" })
export type ConnectorTypeWire = typeof ConnectorTypeWire.Type

/** The kinds of source that connectors can be made for. */
export const ConnectorTypeListWire = Schema.Struct({
  types: Schema.Array(ConnectorTypeWire).annotate({ description: "The kinds of source" })
}).annotate({ identifier: "ConnectorTypeList", description: "The kinds of source that connectors can be made for" })
export type ConnectorTypeListWire = typeof ConnectorTypeListWire.Type

/** A connector was deleted. */
export const ConnectorDeletionWire = Schema.Struct({
  id: ConnectorId.annotate({ description: "The connector that was deleted" }),
  success: flag("Always true")
}).annotate({ identifier: "ConnectorDeletion", description: "A connector was deleted" })
export type ConnectorDeletionWire = typeof ConnectorDeletionWire.Type

/** Whether a source can be reached. */
export const ConnectorTestWire = Schema.Struct({
  success: flag("Whether the source can be reached as it is described"),
  error: Schema.optionalKey(text("Why it cannot"))
}).annotate({ identifier: "ConnectorTest", description: "Whether a source can be reached" })
export type ConnectorTestWire = typeof ConnectorTestWire.Type

/** A connector as the wire shows it: never where its data are, or by which secret they are reached. */
export const ofConnector = (connector: Connector): ConnectorWire => ({
  id: connector.id,
  name: connector.name,
  type: connectorType(connector.source),
  ...(connector.description === undefined ? {} : { description: connector.description }),
  created_at: connector.createdAt
})
