/**
 * The kinds of connectors, described so that a form can be made of them: what each asks for, and which secret.
 *
 * Source: decisions.md §5 (`GET /v2/connectors/types`).
 */
import type { ConnectorType } from "./Connector.ts"

/** One thing that a kind of source asks for. */
export interface ConnectorSetting {
  /** The field of the source. */
  readonly name: string
  readonly label: string
  readonly type: "text" | "integer" | "boolean"
  readonly required: boolean
  /** What holds where it is left out. */
  readonly preset?: string
}

/** The secret of a kind of source. */
export interface ConnectorSecret {
  readonly label: string
  readonly required: boolean
}

/** A kind of connector. */
export interface ConnectorKind {
  readonly type: ConnectorType
  readonly name: string
  readonly description: string
  readonly settings: ReadonlyArray<ConnectorSetting>
  readonly secret?: ConnectorSecret
}

const text = (name: string, label: string): ConnectorSetting => ({ name, label, type: "text", required: true })
const optional = (name: string, label: string): ConnectorSetting => ({ name, label, type: "text", required: false })

const port = (preset: number): ConnectorSetting => ({
  name: "port",
  label: "Port",
  type: "integer",
  required: false,
  preset: String(preset)
})

const tls: ConnectorSetting = {
  name: "tls",
  label: "Encrypted connection",
  type: "boolean",
  required: false,
  preset: "true"
}

const server = (defaultPort: number): ReadonlyArray<ConnectorSetting> => [
  text("host", "Host"),
  port(defaultPort),
  text("database", "Database"),
  text("user", "User"),
  tls
]

const password: ConnectorSecret = { label: "Password", required: true }

/** Every kind, in the order in which they are shown. A deployment offers those that its driver serves. */
export const all: ReadonlyArray<ConnectorKind> = [
  {
    type: "files",
    name: "Files",
    description: "A folder of CSV, JSON, NDJSON and Parquet files on the machine of the server",
    settings: [text("folder", "Folder")]
  },
  {
    type: "postgres",
    name: "PostgreSQL",
    description: "A PostgreSQL server",
    settings: server(5432),
    secret: password
  },
  { type: "mysql", name: "MySQL", description: "A MySQL or MariaDB server", settings: server(3306), secret: password },
  {
    type: "clickhouse",
    name: "ClickHouse",
    description: "A ClickHouse server",
    settings: server(8443),
    secret: password
  },
  {
    type: "snowflake",
    name: "Snowflake",
    description: "A Snowflake account",
    settings: [
      text("account", "Account"),
      text("user", "User"),
      text("warehouse", "Warehouse"),
      text("database", "Database"),
      optional("schema", "Schema"),
      optional("role", "Role")
    ],
    secret: { label: "Private key or access token", required: true }
  },
  {
    type: "bigquery",
    name: "BigQuery",
    description: "A Google BigQuery project",
    settings: [text("project", "Project"), optional("dataset", "Dataset"), optional("location", "Location")],
    secret: { label: "Key of a service account, as JSON", required: true }
  },
  {
    type: "trino",
    name: "Trino",
    description: "A Trino cluster",
    settings: [
      text("host", "Host"),
      port(8443),
      text("catalog", "Catalog"),
      optional("schema", "Schema"),
      text("user", "User"),
      tls
    ],
    secret: { label: "Password", required: false }
  }
]

/** The kind of a type. */
export const ofType = (type: ConnectorType): ConnectorKind | undefined => all.find((kind) => kind.type === type)
