/**
 * Malloy's view of a connector: the schemas of its tables and of SQL blocks, by way of the connector port. Malloy asks
 * for schemas only; what it compiles is run by whoever asked for it.
 */
import {
  type FetchSchemaOptions,
  type InfoConnection,
  type LookupConnection,
  type SQLSourceDef,
  type SQLSourceRequest,
  sqlKey,
  type TableSourceDef
} from "@malloydata/malloy"
import type { Connector } from "@castellan/core/connector/Connector"
import type { ConnectorDriver, ConnectorError } from "@castellan/core/connector/ConnectorDriver"
import type { TableColumn, TableSchema } from "@castellan/core/connector/TableSchema"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as SqlName from "../../internal/SqlName.ts"
import { dialect, fieldOf } from "./SourceDialect.ts"

/** Runs an effect of the connector port where Malloy waits for a promise. */
export type Run = <A>(effect: Effect.Effect<A>) => Promise<A>

type Answer<Definition> = Result.Result<Definition, string>

const sameName = (table: TableSchema, wanted: string) => SqlName.unquoted(table.name) === wanted

const sameNameIgnoringCase = (table: TableSchema, wanted: string) =>
  SqlName.unquoted(table.name).toLowerCase() === wanted.toLowerCase()

const listed = (names: ReadonlyArray<string>): string =>
  names.length > 20 ? `${names.slice(0, 20).join(", ")} and ${names.length - 20} more` : names.join(", ") || "none"

class DriverConnection implements InfoConnection {
  readonly dialectName = dialect.name
  readonly connector: Connector
  readonly driver: ConnectorDriver["Service"]
  readonly run: Run
  private introspection: Promise<Result.Result<ReadonlyArray<TableSchema>, ConnectorError>> | undefined
  private readonly statements = new Map<string, Promise<Answer<SQLSourceDef>>>()

  constructor(connector: Connector, driver: ConnectorDriver["Service"], run: Run) {
    this.connector = connector
    this.driver = driver
    this.run = run
  }

  get name(): string {
    return this.connector.name
  }

  getDigest(): string {
    return `${this.connector.organizationId}/${this.connector.id}`
  }

  async fetchSchemaForTables(requested: Record<string, string>, _options: FetchSchemaOptions) {
    const schemas: Record<string, TableSourceDef> = {}
    const errors: Record<string, string> = {}
    await Promise.all(
      Object.entries(requested).map(async ([key, tablePath]) => {
        const answer = await this.table(key, tablePath)
        if (Result.isSuccess(answer)) schemas[key] = answer.success
        else errors[key] = answer.failure
      })
    )
    return { schemas, errors }
  }

  async fetchSchemaForSQLStruct(request: SQLSourceRequest, _options: FetchSchemaOptions) {
    const key = sqlKey(request.connection, request.selectStr)
    const known = this.statements.get(key) ?? this.statement(key, request)
    this.statements.set(key, known)
    const answer = await known
    return Result.isSuccess(answer) ? { structDef: answer.success } : { error: answer.failure }
  }

  private async table(key: string, tablePath: string): Promise<Answer<TableSourceDef>> {
    this.introspection ??= this.run(Effect.result(this.driver.tables(this.connector)))
    const introspected = await this.introspection
    if (Result.isFailure(introspected)) return Result.fail(introspected.failure.message)
    const tables = introspected.success
    const wanted = SqlName.unquoted(tablePath)
    const table =
      tables.find((candidate) => sameName(candidate, wanted)) ??
      tables.find((candidate) => sameNameIgnoringCase(candidate, wanted))
    if (table === undefined) return this.unlisted(key, wanted, tables)
    return Result.succeed(this.definition(key, table.name, table.columns))
  }

  /** A source may know a table by more names than it lists, such as the name of its file. */
  private async unlisted(
    key: string,
    wanted: string,
    tables: ReadonlyArray<TableSchema>
  ): Promise<Answer<TableSourceDef>> {
    const statement = `SELECT * FROM ${SqlName.quoted(wanted)}`
    const columns = await this.run(Effect.result(this.driver.describe(this.connector, statement)))
    if (Result.isSuccess(columns)) return Result.succeed(this.definition(key, wanted, columns.success))
    const names = listed(tables.map((candidate) => candidate.name))
    return Result.fail(`connector ${this.name} has no table ${JSON.stringify(wanted)}; it has: ${names}`)
  }

  private definition(key: string, table: string, columns: ReadonlyArray<TableColumn>): TableSourceDef {
    return {
      type: "table",
      name: key,
      tablePath: SqlName.quoted(table),
      connection: this.name,
      dialect: this.dialectName,
      fields: fieldsOf(columns)
    }
  }

  private async statement(key: string, request: SQLSourceRequest): Promise<Answer<SQLSourceDef>> {
    const columns = await this.run(Effect.result(this.driver.describe(this.connector, request.selectStr)))
    return Result.map(
      Result.mapError(columns, (error) => error.message),
      (found): SQLSourceDef => ({
        type: "sql_select",
        name: key,
        selectStr: request.selectStr,
        connection: this.name,
        dialect: this.dialectName,
        fields: fieldsOf(found)
      })
    )
  }
}

const fieldsOf = (columns: ReadonlyArray<TableColumn>) => columns.map(fieldOf)

/** Stands for a connector that the model names and nobody knows, so that the model's problem says so at its place. */
const unknownConnection = (name: string, known: ReadonlyArray<string>): InfoConnection => {
  const error = `there is no connector ${JSON.stringify(name)}; the connectors are: ${listed(known)}`
  return {
    name,
    dialectName: dialect.name,
    getDigest: () => name,
    fetchSchemaForTables: (requested) =>
      Promise.resolve({
        schemas: {},
        errors: Object.fromEntries(Object.keys(requested).map((key) => [key, error]))
      }),
    fetchSchemaForSQLStruct: () => Promise.resolve({ error })
  }
}

/** The connectors of a model, by the names that its files use. Schemas are asked for once and kept. */
export const lookup = (
  connectors: ReadonlyArray<Connector>,
  driver: ConnectorDriver["Service"],
  run: Run
): LookupConnection<InfoConnection> => {
  const byName = new Map<string, InfoConnection>(
    connectors.map((connector) => [connector.name, new DriverConnection(connector, driver, run)])
  )
  return {
    lookupConnection: (name = "") =>
      Promise.resolve(byName.get(name) ?? unknownConnection(name, Array.from(byName.keys())))
  }
}
