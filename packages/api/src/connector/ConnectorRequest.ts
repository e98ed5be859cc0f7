/**
 * A connector of a request: what it is called, where its data are, and by which secret they are reached.
 *
 * Source: decisions.md §5 ("`POST /v2/connectors`, `PATCH|DELETE /v2/connectors/{id}`, `POST /v2/connectors/test`").
 */
import { ConnectorName, ConnectorSource, ConnectorType } from "@castellan/core/connector/Connector"
import * as Schema from "effect/Schema"
import { boundedText, flag, integerBetween } from "../wire/WireValue.ts"

const nameRule = "must be a letter or an underscore, and up to 62 letters, digits and underscores"

const name = Schema.String.annotate({ message: nameRule })
  .check(
    Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/u, {
      message: nameRule,
      description: "The name by which the analyst and the ontology know the connector"
    })
  )
  .pipe(Schema.decodeTo(ConnectorName))

const description = boundedText({ minimum: 0, maximum: 2_000 }, "What the data are about; the analyst reads it")

const secret = boundedText(
  { minimum: 1, maximum: 65_536 },
  "The password, key or token by which the source is reached. It is kept encrypted, and no answer ever holds it"
)

const part = (words: string) => boundedText({ minimum: 1, maximum: 255 }, words)
const optionalPart = (words: string) => Schema.optionalKey(part(words))
const port = Schema.optionalKey(integerBetween(1, 65_535, "The port; absent, the usual one"))
const tls = Schema.optionalKey(flag("Whether the connection is encrypted; absent, it is"))

const hostRule = "must be a host's name or address, without a scheme, a path or a port"
const host = Schema.String.annotate({ message: hostRule }).check(
  Schema.isPattern(/^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})?|\[[0-9A-Fa-f:.]+\])$/u, {
    message: hostRule,
    description: "The server's name or address"
  })
)

const config = <Fields extends Schema.Struct.Fields>(identifier: string, words: string, fields: Fields) =>
  Schema.Struct(fields).annotate({ identifier, description: words, message: "must be a JSON object" })

const server = { host, port, database: part("The database"), user: part("The user to connect as"), tls }

const configs = {
  files: config("FilesConfig", "A folder of files on the server's machine", {
    folder: boundedText({ minimum: 1, maximum: 4_096 }, "The absolute path of the folder")
  }),
  postgres: config("PostgresConfig", "A PostgreSQL server", server),
  mysql: config("MysqlConfig", "A MySQL or MariaDB server", server),
  clickhouse: config("ClickhouseConfig", "A ClickHouse server", server),
  snowflake: config("SnowflakeConfig", "A Snowflake account", {
    account: part("The account"),
    user: part("The user to connect as"),
    warehouse: part("The warehouse that runs the queries"),
    database: part("The database"),
    schema: optionalPart("The schema that names stand in"),
    role: optionalPart("The role to take")
  }),
  bigquery: config("BigqueryConfig", "A BigQuery project", {
    project: part("The project"),
    dataset: optionalPart("The dataset that names stand in"),
    location: optionalPart("Where the queries run")
  }),
  trino: config("TrinoConfig", "A Trino cluster", {
    host,
    port,
    catalog: part("The catalog"),
    schema: optionalPart("The schema that names stand in"),
    user: part("The user to connect as"),
    tls
  })
} as const satisfies { readonly [Type in ConnectorType]: Schema.Top }

const typeRule = `must have a type, one of ${ConnectorType.literals.join(", ")}`

/** Where the data of a connector are, by kind of source. */
const source = <const Type extends ConnectorType, Config extends Schema.Top>(
  type: Type,
  configuration: Config,
  title: string
) =>
  Schema.Struct({
    type: Schema.Literal(type).annotate({ message: `must be ${type}`, description: "The kind of source" }),
    config: configuration,
    secret: Schema.optionalKey(secret)
  }).annotate({ identifier: `${title}Source`, description: `A source of the kind \`${type}\`` })

const sources = [
  source("files", configs.files, "Files"),
  source("postgres", configs.postgres, "Postgres"),
  source("mysql", configs.mysql, "Mysql"),
  source("clickhouse", configs.clickhouse, "Clickhouse"),
  source("snowflake", configs.snowflake, "Snowflake"),
  source("bigquery", configs.bigquery, "Bigquery"),
  source("trino", configs.trino, "Trino")
] as const

/** A source to be tried: its kind, where it is, and its secret. */
export const TestConnectorRequest = Schema.Union(sources).annotate({
  identifier: "TestConnectorRequest",
  description: "A source to be tried: its kind, where it is, and its secret",
  message: typeRule
})
export type TestConnectorRequest = typeof TestConnectorRequest.Type

const named = <Fields extends Schema.Struct.Fields>(self: Schema.Struct<Fields>, title: string) =>
  Schema.Struct({ name, description: Schema.optionalKey(description), ...self.fields }).annotate({
    identifier: `${title}Connector`,
    description: `A connector of the kind \`${title.toLowerCase()}\``
  })

/** A connector to be made. */
export const CreateConnectorRequest = Schema.Union([
  named(sources[0], "Files"),
  named(sources[1], "Postgres"),
  named(sources[2], "Mysql"),
  named(sources[3], "Clickhouse"),
  named(sources[4], "Snowflake"),
  named(sources[5], "Bigquery"),
  named(sources[6], "Trino")
]).annotate({
  identifier: "CreateConnectorRequest",
  description: "A connector to be made",
  message: typeRule
})
export type CreateConnectorRequest = typeof CreateConnectorRequest.Type

/**
 * What to change of a connector; what is absent stays. The kind of source does not change, so that `config` is held to
 * the kind that the connector has.
 */
export const UpdateConnectorRequest = Schema.Struct({
  name: Schema.optionalKey(name),
  description: Schema.optionalKey(description),
  config: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Json).annotate({
      message: "must be a JSON object",
      description: "Where the data are: all fields of the connector's kind of source"
    })
  ),
  secret: Schema.optionalKey(secret)
}).annotate({
  identifier: "UpdateConnectorRequest",
  description: "What to change of a connector; what is absent stays",
  message: "must be a JSON object"
})
export type UpdateConnectorRequest = typeof UpdateConnectorRequest.Type

/** The configuration of one kind of source, as a connector that is changed has it. */
export const configOf: { readonly [Type in ConnectorType]: (typeof configs)[Type] } = configs

/** The source of a request, in the domain's terms. */
export const toSource = (request: TestConnectorRequest): ConnectorSource => {
  const { cases } = ConnectorSource
  switch (request.type) {
    case "files":
      return cases.Files.make(request.config)
    case "postgres":
      return cases.Postgres.make(request.config)
    case "mysql":
      return cases.Mysql.make(request.config)
    case "clickhouse":
      return cases.Clickhouse.make(request.config)
    case "snowflake":
      return cases.Snowflake.make(request.config)
    case "bigquery":
      return cases.Bigquery.make(request.config)
    case "trino":
      return cases.Trino.make(request.config)
  }
}

const decodeSource = Schema.decodeUnknownEffect(TestConnectorRequest, { reportInput: true })

/** The source of a connector whose configuration is changed: of the kind that it is. */
export const toSourceOf = (type: ConnectorType, sent: unknown) => decodeSource({ type, config: sent })
