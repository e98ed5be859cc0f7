/**
 * A connector: one data source of an organization that the analyst may ask.
 *
 * Source: api-v2.md "Connectors and models"; decisions.md §5.
 */
import * as Schema from "effect/Schema"
import { OrganizationId } from "../organization/Organization.ts"
import { SecretId } from "../secret/Secrets.ts"

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

/** The host of a server: a name or an address, without a scheme, a path or a port. */
const Host = Schema.NonEmptyString.check(
  Schema.isPattern(/^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})?|\[[0-9A-Fa-f:.]+\])$/, { title: "a host name" })
)

const Port = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65_535 }))

/** The name of a database, a user, a schema and the like. */
const Identifier = Schema.NonEmptyString.check(Schema.isMaxLength(255))

const server = {
  host: Host,
  /** The port; absent: the usual one of its kind. */
  port: Schema.optionalKey(Port),
  database: Identifier,
  user: Identifier,
  /** Whether the connection is encrypted; a host that says nothing gets an encrypted one. */
  tls: Schema.optionalKey(Schema.Boolean)
}

/**
 * Where a connector's data are, by kind of source. Each adapter serves the kinds it knows. No secret is in it: that is
 * kept apart, under the connector's `secretId`.
 */
export const ConnectorSource = Schema.TaggedUnion({
  /** A folder of CSV, JSON, NDJSON and Parquet files, read in place and never written. */
  Files: {
    /** Absolute path of the folder on the machine of the server. */
    folder: Schema.NonEmptyString
  },
  /** A PostgreSQL server; the secret is the user's password. */
  Postgres: server,
  /** A MySQL or MariaDB server; the secret is the user's password. */
  Mysql: server,
  /** A ClickHouse server; the secret is the user's password. */
  Clickhouse: server,
  /** A Snowflake account; the secret is the user's private key or token. */
  Snowflake: {
    account: Identifier,
    user: Identifier,
    warehouse: Identifier,
    database: Identifier,
    schema: Schema.optionalKey(Identifier),
    role: Schema.optionalKey(Identifier)
  },
  /** A BigQuery project; the secret is a service account's key as JSON. */
  Bigquery: {
    project: Identifier,
    dataset: Schema.optionalKey(Identifier),
    location: Schema.optionalKey(Identifier)
  },
  /** A Trino cluster; the secret, where it asks for one, is the user's password. */
  Trino: {
    host: Host,
    port: Schema.optionalKey(Port),
    catalog: Identifier,
    schema: Schema.optionalKey(Identifier),
    user: Identifier,
    tls: Schema.optionalKey(Schema.Boolean)
  }
})
export type ConnectorSource = typeof ConnectorSource.Type

/** The kind of source as the wire names it (field `type`). */
export const ConnectorType = Schema.Literals([
  "files",
  "postgres",
  "mysql",
  "clickhouse",
  "snowflake",
  "bigquery",
  "trino"
])
export type ConnectorType = typeof ConnectorType.Type

const typeOf: { readonly [Tag in ConnectorSource["_tag"]]: ConnectorType } = {
  Files: "files",
  Postgres: "postgres",
  Mysql: "mysql",
  Clickhouse: "clickhouse",
  Snowflake: "snowflake",
  Bigquery: "bigquery",
  Trino: "trino"
}

/** The wire's name of a source's kind. */
export const connectorType = (source: ConnectorSource): ConnectorType => typeOf[source._tag]

/** Whether a kind of source is reached by a secret: it needs one, takes one where it is given, or knows none. */
export const secretOf: { readonly [Type in ConnectorType]: "required" | "optional" | "none" } = {
  files: "none",
  postgres: "required",
  mysql: "required",
  clickhouse: "required",
  snowflake: "required",
  bigquery: "required",
  trino: "optional"
}

/** A data source of an organization. */
export class Connector extends Schema.Class<Connector>("@castellan/core/connector/Connector")({
  id: ConnectorId,
  organizationId: OrganizationId,
  name: ConnectorName,
  description: Schema.optionalKey(Schema.String),
  source: ConnectorSource,
  /** Where its secret is kept; absent where it needs none. */
  secretId: Schema.optionalKey(SecretId),
  createdAt: Schema.DateTimeUtc
}) {}
