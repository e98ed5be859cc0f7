/**
 * Connectors on the wire.
 *
 * Source: decisions.md §5 (`GET /v2/connectors`).
 */
import { type Connector, ConnectorId, connectorType } from "@castellan/core/connector/Connector"
import * as Schema from "effect/Schema"
import { text, timestamp } from "../wire/WireValue.ts"

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

/** A connector as the wire shows it: never where its data are, or by which secret they are reached. */
export const ofConnector = (connector: Connector): ConnectorWire => ({
  id: connector.id,
  name: connector.name,
  type: connectorType(connector.source),
  ...(connector.description === undefined ? {} : { description: connector.description }),
  created_at: connector.createdAt
})
