/**
 * What each kind of source wants to be told, for programs that ask people for it.
 *
 * Source: decisions.md §5 (`GET /v2/connectors/types`).
 */
import type { ConnectorType } from "@castellan/core/connector/Connector"
import type { ConnectorFieldWire, ConnectorTypeListWire, ConnectorTypeWire } from "./ConnectorWire.ts"

const field = (
  name: string,
  description: string,
  type: ConnectorFieldWire["type"] = "string",
  required = true
): ConnectorFieldWire => ({ name, type, required, description })

const optional = (name: string, description: string, type: ConnectorFieldWire["type"] = "string") =>
  field(name, description, type, false)

/** A server that is reached by host and port. */
const server = (port: number): ReadonlyArray<ConnectorFieldWire> => [
  field("host", "The server's name or address"),
  optional("port", `The port; ${port} by default`, "integer"),
  field("database", "The database"),
  field("user", "The user to connect as"),
  optional("tls", "Whether the connection is encrypted; it is by default", "boolean")
]

const password = "The user's password"

const forms: { readonly [Type in ConnectorType]: Omit<ConnectorTypeWire, "type"> } = {
  files: {
    name: "Files",
    fields: [field("folder", "The absolute path of a folder of CSV, JSON and Parquet files on the server's machine")]
  },
  postgres: { name: "PostgreSQL", secret: password, fields: server(5432) },
  mysql: { name: "MySQL or MariaDB", secret: password, fields: server(3306) },
  clickhouse: { name: "ClickHouse", secret: password, fields: server(8443) },
  snowflake: {
    name: "Snowflake",
    secret: "The user's private key or token",
    fields: [
      field("account", "The account"),
      field("user", "The user to connect as"),
      field("warehouse", "The warehouse that runs the queries"),
      field("database", "The database"),
      optional("schema", "The schema that names stand in"),
      optional("role", "The role to take")
    ]
  },
  bigquery: {
    name: "BigQuery",
    secret: "A service account's key, as JSON",
    fields: [
      field("project", "The project"),
      optional("dataset", "The dataset that names stand in"),
      optional("location", "Where the queries run")
    ]
  },
  trino: {
    name: "Trino",
    secret: password,
    fields: [
      field("host", "The cluster's name or address"),
      optional("port", "The port; 8443 by default", "integer"),
      field("catalog", "The catalog"),
      optional("schema", "The schema that names stand in"),
      field("user", "The user to connect as"),
      optional("tls", "Whether the connection is encrypted; it is by default", "boolean")
    ]
  }
}

/** What the wire shows of kinds of source. */
export const ofConnectorTypes = (types: ReadonlyArray<ConnectorType>): ConnectorTypeListWire => ({
  types: types.map((type) => ({ type, ...forms[type] }))
})
