/**
 * Runs one statement over tables that come with it, inside the process: the tables are loaded into an engine that is
 * opened for this statement, locked, and gone after it, so that nothing of one statement is there for the next.
 */
import { type DuckDBConnection, type DuckDBInstance, StatementType } from "@duckdb/node-api"
import { readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as ArrowResult from "./ArrowResult.ts"
import * as ArrowTable from "./ArrowTable.ts"
import { fill } from "./Conversion.ts"
import { type Answer, locked } from "./Engine.ts"
import { EngineFailure } from "./EngineFailure.ts"
import * as Examination from "./Examination.ts"
import type { Catalog } from "./Gate.ts"
import type { FileFormat, Select } from "./Message.ts"
import { identifier, literal } from "./SqlText.ts"

/** A statement that is being answered. */
export interface Selection {
  readonly answer: Promise<Answer>
  /** Stops what is in flight, as far as it has come. It may have to be called again. */
  readonly interrupt: () => void
}

interface Supplied {
  readonly name: string
  readonly format: "arrow" | FileFormat
  readonly content: Uint8Array
}

/** Cuts the payload into the tables that the request tells. */
const suppliedBy = ({ tables }: Select, payload: Uint8Array): ReadonlyArray<Supplied> => {
  let start = 0
  return tables.map(({ bytes, format, name }) => {
    const content = payload.subarray(start, (start += bytes))
    if (content.length !== bytes) throw new EngineFailure("failed", "the tables are shorter than they are said to be")
    return { name, format, content }
  })
}

/** Lays a file down, and makes its rows readable under its name. */
const readFile = async (
  connection: DuckDBConnection,
  { content, format, name }: Supplied & { readonly format: FileFormat },
  directory: string,
  index: number
): Promise<void> => {
  // Text that is packed is known by the end of its name.
  const path = join(directory, `supplied_${index}.${format}${name.toLowerCase().endsWith(".gz") ? ".gz" : ""}`)
  writeFileSync(path, content)
  if (format === "parquet") {
    await connection.run(`CREATE VIEW ${identifier(name)} AS SELECT * FROM read_parquet(${literal(path)})`)
    return
  }
  // In memory, which is bounded with what it spills: a file that is packed may be a thousand times as large as it looks.
  await fill(connection, { name, aliases: [], format, files: [path], partitioned: false }, identifier(name))
  rmSync(path)
}

const isFile = (table: Supplied): table is Supplied & { readonly format: FileFormat } => table.format !== "arrow"

/** Makes the tables that a statement reads, one after the other: what is not read is not even looked at. */
const supply = (
  connection: DuckDBConnection,
  tables: ReadonlyArray<Supplied>,
  directory: string,
  stopped: () => boolean
): Promise<void> =>
  tables.reduce(
    (before, table, index) =>
      before.then(() =>
        isFile(table)
          ? readFile(connection, table, directory, index)
          : ArrowTable.load(connection, table.name, table.content, stopped)
      ),
    Promise.resolve()
  )

const clear = (directory: string): void => {
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true, force: true })
}

/** Begins to answer a request. */
export const select = (request: Select, payload: Uint8Array): Selection => {
  let stopped = false
  let instance: DuckDBInstance | undefined
  const connections: Array<DuckDBConnection> = []

  const connect = async (opened: DuckDBInstance): Promise<DuckDBConnection> => {
    const connection = await opened.connect()
    connections.push(connection)
    return connection
  }

  const run = async (): Promise<Answer> => {
    const { directory, id, maxBytes, memory, spill, statement, threads } = request
    const tables = suppliedBy(request, payload)
    const byName = new Map(tables.map(({ name }) => [name.toLowerCase(), name]))
    if (byName.size < tables.length) throw new EngineFailure("failed", "two tables have the same name")
    const catalog: Catalog = {
      resolve: (name) => byName.get(name.toLowerCase()),
      names: tables.map(({ name }) => name),
      withoutNames:
        "what can be queried are the dataframes among the program's variables, by their names, and files, by their paths in quotes"
    }
    instance = await locked({
      folder: directory,
      cacheDirectory: directory,
      temporaryDirectory: directory,
      tables: [],
      memory,
      spill,
      threads
    })
    const control = await connect(instance)
    const examine = await Examination.make(control)
    const read = new Set((await examine(statement, catalog)).values())
    await supply(
      control,
      tables.filter(({ name }) => read.has(name)),
      directory,
      () => stopped
    )
    const connection = await connect(instance)
    await connection.run("BEGIN TRANSACTION READ ONLY")
    const prepared = await connection.prepare(statement)
    if (prepared.statementType !== StatementType.SELECT) {
      throw new EngineFailure("refused", "only one read-only SELECT statement is allowed")
    }
    if (stopped) throw new EngineFailure("cancelled", "the statement was stopped")
    const result = await prepared.stream()
    const collected = ArrowResult.make(result.columnNames(), result.columnTypes(), maxBytes)
    for await (const chunk of result) {
      if (collected.add(chunk)) continue
      connection.interrupt()
      throw new EngineFailure("oversized", `the result has more than ${maxBytes} bytes: aggregate it, or LIMIT it`)
    }
    const { parts, rowCount } = collected.finish()
    return { response: { _tag: "Selected", id, rowCount }, payload: parts }
  }

  const answer = run().finally(() => {
    for (const connection of connections) connection.closeSync()
    instance?.closeSync()
    clear(request.directory)
  })

  return {
    answer,
    interrupt: () => {
      stopped = true
      for (const connection of connections) connection.interrupt()
    }
  }
}
