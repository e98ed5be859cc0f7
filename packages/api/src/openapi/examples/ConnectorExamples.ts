/**
 * The examples of connectors and of row policies.
 */
import type * as Schema from "effect/Schema"
import { roleId } from "./IdentityExamples.ts"

const made = "2026-03-01T08:00:00.000Z"
const password = "correct horse battery staple"

const Connector = {
  id: 1,
  name: "flights",
  type: "files",
  description: "Flights of the United States, with carriers and airports",
  created_at: made
}

const server = { host: "warehouse.example.com", database: "analytics", user: "castellan" }

const configs = {
  FilesConfig: { folder: "/data/flights" },
  PostgresConfig: { ...server, port: 5432 },
  MysqlConfig: server,
  ClickhouseConfig: { ...server, port: 8443, tls: true },
  SnowflakeConfig: {
    account: "ab12345",
    user: "castellan",
    warehouse: "queries",
    database: "analytics",
    role: "reader"
  },
  BigqueryConfig: { project: "acme-analytics", dataset: "flights", location: "EU" },
  TrinoConfig: { host: "trino.example.com", catalog: "hive", schema: "flights", user: "castellan" }
}

const PostgresSource = { type: "postgres", config: configs.PostgresConfig, secret: password }
const PostgresConnector = { name: "warehouse", description: "Orders and invoices", ...PostgresSource }
const FilesSource = { type: "files", config: configs.FilesConfig }

const ConnectorField = {
  name: "folder",
  type: "string",
  required: true,
  description: "The absolute path of a folder of CSV, JSON and Parquet files on the server's machine"
}
const ConnectorType = { type: "files", name: "Files", fields: [ConnectorField] }

const RowOperand = { attribute: "region" }
const ComparePredicate = { type: "compare", column: "region", comparison: "=", with: RowOperand }
const IsNullPredicate = { type: "is_null", column: "deleted_at" }
const OneOfPredicate = { type: "one_of", column: "status", values: [{ value: "open" }, { value: "paid" }] }
const AllPredicate = { type: "all", predicates: [ComparePredicate, IsNullPredicate] }

const RowPolicyRequest = {
  table: "public.orders",
  attributes: { region: "text" },
  predicate: AllPredicate,
  exempt_role_ids: [roleId]
}
const RowPolicy = {
  id: "01980c60-1a00-7c41-9a55-3d7f2f6a9c01",
  ...RowPolicyRequest,
  created_at: made,
  updated_at: made
}

/** An example of each schema of connectors. */
export const connectorExamples: Readonly<Record<string, Schema.Json>> = {
  ...configs,
  AllPredicate,
  AnyPredicate: { type: "any", predicates: [ComparePredicate, OneOfPredicate] },
  BigqueryConnector: {
    name: "lake",
    type: "bigquery",
    config: configs.BigqueryConfig,
    secret: '{"type":"service_account"}'
  },
  BigquerySource: { type: "bigquery", config: configs.BigqueryConfig, secret: '{"type":"service_account"}' },
  ClickhouseConnector: { name: "events", type: "clickhouse", config: configs.ClickhouseConfig, secret: password },
  ClickhouseSource: { type: "clickhouse", config: configs.ClickhouseConfig, secret: password },
  ComparePredicate,
  Connector,
  ConnectorDeletion: { id: 1, success: true },
  ConnectorField,
  ConnectorList: [Connector],
  ConnectorTest: { success: false, error: "the server cannot be reached" },
  ConnectorType,
  ConnectorTypeList: { types: [ConnectorType] },
  CreateConnectorRequest: PostgresConnector,
  FilesConnector: { name: "flights", ...FilesSource },
  FilesSource,
  IsNullPredicate,
  MysqlConnector: { name: "shop", type: "mysql", config: configs.MysqlConfig, secret: password },
  MysqlSource: { type: "mysql", config: configs.MysqlConfig, secret: password },
  NotPredicate: { type: "not", predicate: IsNullPredicate },
  OneOfPredicate,
  PostgresConnector,
  PostgresSource,
  ReplaceRowPoliciesRequest: { row_policies: [RowPolicyRequest] },
  RowOperand,
  RowPolicy,
  RowPolicyList: { row_policies: [RowPolicy] },
  RowPolicyRequest,
  RowPredicate: AllPredicate,
  SnowflakeConnector: { name: "vault", type: "snowflake", config: configs.SnowflakeConfig, secret: password },
  SnowflakeSource: { type: "snowflake", config: configs.SnowflakeConfig, secret: password },
  TestConnectorRequest: PostgresSource,
  TrinoConnector: { name: "cluster", type: "trino", config: configs.TrinoConfig },
  TrinoSource: { type: "trino", config: configs.TrinoConfig },
  UpdateConnectorRequest: { description: "Orders, invoices and returns" }
}
