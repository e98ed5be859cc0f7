/**
 * DuckDB inside its own process: opened to exactly the files of one folder, then locked.
 *
 * The lock: no file but the data files and the private cache can be opened, no extension can be loaded, and no
 * setting can be changed any more. Every statement runs in a read-only transaction of its own connection.
 */
import * as ColumnNames from "@castellan/core/connector/ColumnNames"
import { type DuckDBConnection, DuckDBInstance, type DuckDBPreparedStatement, StatementType } from "@duckdb/node-api"
import { columnType, sourceType } from "./CellValue.ts"
import { convert } from "./Conversion.ts"
import { EngineFailure } from "./EngineFailure.ts"
import * as Examination from "./Examination.ts"
import type { Catalog } from "./Gate.ts"
import { make as makeResult } from "./ResultWriter.ts"
import type { Load, Open, Response, Run, TableFiles } from "./Message.ts"
import { identifier, literal } from "./SqlText.ts"

/** What the engine answers to a request. */
export interface Answer {
  readonly response: Response
  /** The payload, in parts. */
  readonly payload?: ReadonlyArray<Uint8Array>
}

/** An open, locked engine. It answers one request at a time. */
export interface Engine {
  readonly load: (request: Load) => Promise<Answer>
  readonly run: (request: Run) => Promise<Answer>
  /** Stops what is in flight, as far as it has come. It may have to be called again. */
  readonly interrupt: () => void
}

/** What the engine itself may use of the memory of its process: the rest is for what it does not account for. */
const share = 0.6

/** What an engine is opened to. */
export interface Opening extends Omit<Open, "_tag" | "id"> {
  /** Bytes that may be spilled: four times the memory by default. */
  readonly spill?: number
}

/** Bytes that an engine may spill. */
export const spillOf = ({ memory, spill }: Pick<Opening, "memory" | "spill">): number => spill ?? memory * 4

/** An instance of DuckDB that can reach the files of its tables and the cache, and nothing else. */
export const locked = async (opening: Opening): Promise<DuckDBInstance> => {
  const instance = await DuckDBInstance.create(":memory:", {
    threads: String(opening.threads),
    memory_limit: `${Math.floor(opening.memory * share)}B`,
    temp_directory: opening.temporaryDirectory,
    max_temp_directory_size: `${spillOf(opening)}B`,
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    allow_community_extensions: "false",
    allow_persistent_secrets: "false"
  })
  const connection = await instance.connect()
  const files = opening.tables.flatMap((table) => table.files)
  // The order matters: what may be reached, then that nothing else may, then that this stays so.
  await connection.run(`SET allowed_paths = ${list(files)}`)
  await connection.run(`SET allowed_directories = [${literal(`${opening.cacheDirectory}/`)}]`)
  await connection.run("SET GLOBAL TimeZone = 'UTC'")
  await connection.run("SET enable_external_access = false")
  await connection.run("SET lock_configuration = true")
  connection.closeSync()
  return instance
}

/** Opens an engine. */
export const open = async (opening: Opening): Promise<Engine> => {
  const instance = await locked(opening)
  const control = await instance.connect()
  return make(instance, control, await Examination.make(control), opening.tables)
}

const make = (
  instance: DuckDBInstance,
  control: DuckDBConnection,
  examine: Examination.Examine,
  files: ReadonlyArray<TableFiles>
): Engine => {
  const tables = new Map(files.map((table) => [table.name, table]))
  const meaning = new Map(
    files.flatMap((table) =>
      [table.name, ...table.aliases].map((name): [string, string] => [name.toLowerCase(), table.name])
    )
  )
  const catalog: Catalog = {
    resolve: (name) => meaning.get(name.toLowerCase()),
    names: files.map((table) => table.name)
  }
  /** The names, in lower case, under which statements can read tables already. */
  const views = new Set<string>()
  const inFlight = new Set<DuckDBConnection>()

  const using = async <A>(body: (connection: DuckDBConnection) => Promise<A>): Promise<A> => {
    const connection = await instance.connect()
    inFlight.add(connection)
    try {
      return await body(connection)
    } finally {
      inFlight.delete(connection)
      connection.closeSync()
    }
  }

  const table = (name: string): TableFiles => {
    const found = tables.get(name)
    if (found === undefined) throw new EngineFailure("failed", `there is no table ${JSON.stringify(name)}`)
    return found
  }

  /** The SQL that makes the rows of a table readable, and the relation that then holds them. */
  const attachment = (
    name: string,
    database: string | undefined
  ): { readonly sql: string; readonly relation: string } => {
    if (database === undefined) return { sql: "", relation: parquet(table(name)) }
    const alias = `converted_${catalog.names.indexOf(name)}`
    return {
      sql: `ATTACH IF NOT EXISTS ${literal(database)} AS ${alias} (READ_ONLY);`,
      relation: `${alias}.main.data`
    }
  }

  /** Lets statements read tables under the names that they use for them. */
  const show = async (read: ReadonlyMap<string, string>, databases: ReadonlyMap<string, string | undefined>) => {
    const unseen = [...read].filter(([written]) => !views.has(written.toLowerCase()))
    if (unseen.length === 0) return
    const steps = unseen.map(([written, name]) => {
      const { relation, sql } = attachment(name, databases.get(name))
      return `${sql} CREATE VIEW IF NOT EXISTS ${identifier(written)} AS SELECT * FROM ${relation}`
    })
    await control.run(steps.join(";"))
    for (const [written] of unseen) views.add(written.toLowerCase())
  }

  const columnsOf = (prepared: DuckDBPreparedStatement) => {
    const columns = Array.from({ length: prepared.columnCount }, (_, index) => ({
      name: prepared.columnName(index),
      type: prepared.columnType(index)
    }))
    const names = ColumnNames.distinct(columns.map(({ name }) => name))
    return columns.map(({ type }, index) => ({
      name: names[index] ?? "",
      type: columnType(type),
      sourceType: sourceType(type)
    }))
  }

  const load = async ({ id, table: name, target }: Load): Promise<Answer> =>
    using(async (connection) => {
      const source = table(name)
      if (target !== undefined) await convert(connection, source, target)
      const { relation, sql } = attachment(name, target)
      if (sql !== "") await connection.run(sql)
      const columns = columnsOf(await connection.prepare(`SELECT * FROM ${relation}`))
      const counted = await connection.runAndReadAll(
        target === undefined
          ? `SELECT sum(num_rows)::BIGINT FROM parquet_file_metadata(${list(source.files)})`
          : `SELECT count(*) FROM ${relation}`
      )
      return { response: { _tag: "Loaded", id, columns, rowCount: Number(counted.getRowsJS()[0]?.[0] ?? 0) } }
    })

  const run = async ({ id, maxBytes, maxRows, mode, ready, statement }: Run): Promise<Answer> => {
    const read = await examine(statement, catalog)
    const databases = new Map(ready.map((entry) => [entry.table, entry.database]))
    const [first, ...others] = new Set([...read.values()].filter((name) => !databases.has(name)))
    if (first !== undefined) return { response: { _tag: "Needs", id, tables: [first, ...others] } }
    await show(read, databases)
    return using(async (connection) => {
      await connection.run("BEGIN TRANSACTION READ ONLY")
      const prepared = await connection.prepare(statement)
      if (prepared.statementType !== StatementType.SELECT) {
        throw new EngineFailure("refused", "only one read-only SELECT statement is allowed")
      }
      if (mode === "describe") return { response: { _tag: "Described", id, columns: columnsOf(prepared) } }
      const result = await prepared.stream()
      const writer = makeResult(result.columnNames(), result.columnTypes(), { maxBytes, maxRows })
      for await (const chunk of result) {
        if (!writer.add(chunk)) {
          connection.interrupt()
          break
        }
      }
      const { bytes, ...rest } = writer.finish()
      return { response: { _tag: "Rows", id, ...rest }, payload: [bytes] }
    })
  }

  return {
    load,
    run,
    interrupt: () => {
      control.interrupt()
      for (const connection of inFlight) connection.interrupt()
    }
  }
}

const list = (files: ReadonlyArray<string>): string => `[${files.map(literal).join(", ")}]`

const parquet = (table: TableFiles): string =>
  `read_parquet(${list(table.files)}, union_by_name = ${table.files.length > 1}, hive_partitioning = ${table.partitioned})`
