/**
 * A connector: one data source of an organization that the analyst may ask.
 *
 * Source: api-v2.md "Connectors and models"; decisions.md §5.
 */
import * as Schema from "effect/Schema"
import { OrganizationId } from "../organization/Organization.ts"

/** A connector's id: a small integer, unique in its organization. */
export const ConnectorId = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 })).pipe(
  Schema.brand("ConnectorId")
)
export type ConnectorId = typeof ConnectorId.Type

/**
 * The name by which ontology files and the analyst refer to a connector: an identifier, so that it can stand
 * unquoted in front of `.table(…)` in a model file.
 */
export const ConnectorName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, { title: "a connector name" })
).pipe(Schema.brand("ConnectorName"))
export type ConnectorName = typeof ConnectorName.Type

/**
 * Where a connector's data are, by kind of source. Each adapter serves the kinds it knows.
 */
export const ConnectorSource = Schema.TaggedUnion({
  /** A folder of CSV, JSON, NDJSON and Parquet files, read in place and never written. */
  Files: {
    /** Absolute path of the folder on the machine of the server. */
    folder: Schema.NonEmptyString
  }
})
export type ConnectorSource = typeof ConnectorSource.Type

/** The kind of source as the wire names it (field `type`). */
export const ConnectorType = Schema.Literals(["files"])
export type ConnectorType = typeof ConnectorType.Type

/** The wire's name of a source's kind. */
export const connectorType = (source: ConnectorSource): ConnectorType =>
  ConnectorSource.match(source, { Files: () => "files" as const })

/** A data source of an organization. */
export class Connector extends Schema.Class<Connector>("@castellan/core/connector/Connector")({
  id: ConnectorId,
  organizationId: OrganizationId,
  name: ConnectorName,
  description: Schema.optionalKey(Schema.String),
  source: ConnectorSource,
  createdAt: Schema.DateTimeUtc
}) {}
