/**
 * The connector port over a folder of CSV, TSV, JSON, NDJSON and Parquet files: DuckDB in processes of its own,
 * read-only, locked to the files of the folder, and bounded in memory, time, rows and bytes.
 *
 * What the tables are called is said in `TableNames.ts`; what becomes of values in `CellValue.ts`; what statements
 * may do in `Gate.ts`. New, changed and removed files are seen by the next statement.
 *
 * Source: decisions.md §5.
 */
import type { Connector, ConnectorSource } from "@castellan/core/connector/Connector"
import {
  ConnectorDriver,
  ConnectorError,
  type QueryLimits,
  SourceUnavailable,
  StatementTimedOut
} from "@castellan/core/connector/ConnectorDriver"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import type { Reply } from "../duckdb/internal/ChildHandle.ts"
import { type DuckProcess, start } from "../duckdb/internal/DuckProcess.ts"
import { canSeal, type Enclosure, enclosure } from "../duckdb/internal/Enclosure.ts"
import { ProcessEnded } from "../duckdb/internal/ProcessEnded.ts"
import * as ProcessPool from "../duckdb/internal/ProcessPool.ts"
import * as ResultReader from "../duckdb/internal/ResultReader.ts"
import { ofEnd, ofReply, unavailable } from "../duckdb/internal/SourceFailure.ts"
import * as FolderSnapshot from "./internal/FolderSnapshot.ts"
import * as PrivateDirectory from "./internal/PrivateDirectory.ts"
import * as TableLibrary from "./internal/TableLibrary.ts"

/** How the driver may use the machine. Every value has a default. */
export interface Options {
  /** Resident memory of one process, in bytes: 1 GiB by default. A statement that needs more is stopped. */
  readonly memory?: number
  /** Threads of one process: by default as many as the machine has processors, at most 4. */
  readonly threads?: number
  /** Statements at the same time, each in a process of its own: 4 by default. Others wait. */
  readonly concurrency?: number
  /** How long a process without work is kept: 1 minute by default. */
  readonly idle?: Duration.Input
  /** How long a statement may take to stop before its process is killed: half a second by default. */
  readonly grace?: Duration.Input
}

/** What holds the processes over a folder on this machine: the operating system, or only this package. */
export const enclosureOf = (folder: string): Effect.Effect<Enclosure> =>
  Effect.map(
    Effect.promise(() => canSeal(folder)),
    enclosure
  )

/** The folder of a source; any other kind of source is not served here. */
const folderOf = (source: ConnectorSource): Effect.Effect<string, ConnectorError> =>
  source._tag === "Files"
    ? Effect.succeed(source.folder)
    : Effect.fail(
        new ConnectorError({ reason: new SourceUnavailable({ message: "only folders of files are served here" }) })
      )

interface Purpose extends ProcessPool.Purpose {
  readonly snapshot: FolderSnapshot.FolderSnapshot
}

const megabyte = 1024 * 1024

/** The driver; its processes and temporary files are gone when the scope closes. */
export const make = Effect.fnUntraced(function* (
  options: Options = {}
): Effect.fn.Return<ConnectorDriver["Service"], never, Scope.Scope> {
  const memory = options.memory ?? 1024 * megabyte
  const threads = options.threads ?? Math.min(availableParallelism(), 4)
  const grace = Duration.fromInputUnsafe(options.grace ?? "500 millis")

  const directory = yield* PrivateDirectory.acquire
  const tableDirectory = join(directory, "tables")
  yield* Effect.promise(() => mkdir(tableDirectory))
  const library = TableLibrary.make(tableDirectory)

  const spawn = Effect.fnUntraced(function* (
    snapshot: FolderSnapshot.FolderSnapshot,
    sealed: boolean
  ): Effect.fn.Return<{ readonly process: DuckProcess; readonly readable: boolean }, ProcessEnded, Scope.Scope> {
    const temporaryDirectory = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(directory, "spill-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
    )
    const { folder } = snapshot
    const process = yield* start({
      memory,
      grace,
      folder,
      sealed,
      directory: temporaryDirectory,
      codeDirectory: join(directory, "code")
    })
    const { response } = yield* process.ask({
      _tag: "Open",
      folder,
      cacheDirectory: tableDirectory,
      temporaryDirectory,
      tables: snapshot.tables.map((table) => ({
        name: table.name,
        aliases: table.aliases,
        format: table.files[0]?.format ?? "csv",
        files: table.files.map((file) => file.absolute),
        partitioned: table.partitioned
      })),
      memory,
      threads
    })
    if (response._tag !== "Opened") {
      return yield* new ProcessEnded({ reason: "ended", detail: `it did not open: ${JSON.stringify(response)}` })
    }
    return { process, readable: response.readable }
  })

  /** Folders of which it is known whether a process for them can be sealed. */
  const sealable = new Map<string, boolean>()

  const startProcess = Effect.fnUntraced(function* ({
    snapshot
  }: Purpose): Effect.fn.Return<DuckProcess, ProcessEnded, Scope.Scope> {
    const { folder } = snapshot
    const sealed = sealable.get(folder) ?? (yield* Effect.promise(() => canSeal(folder)))
    sealable.set(folder, sealed)
    const scope = yield* Scope.fork(yield* Effect.scope)
    const first = yield* Scope.provide(spawn(snapshot, sealed), scope)
    if (first.readable || !sealed) return first.process
    // In a namespace, files of another owner may be out of reach that are not outside.
    yield* Scope.close(scope, Exit.void)
    const second = yield* spawn(snapshot, false)
    if (second.readable) sealable.set(folder, false)
    return second.process
  })

  const pool = yield* ProcessPool.make(startProcess, {
    concurrency: options.concurrency ?? 4,
    idle: Duration.fromInputUnsafe(options.idle ?? "1 minute"),
    keepBelow: memory / 2
  })

  const snapshotOf = Effect.fnUntraced(function* (connector: Connector) {
    const folder = yield* folderOf(connector.source)
    const snapshot = yield* FolderSnapshot.take(folder).pipe(
      Effect.mapError((reason) => new ConnectorError({ reason }))
    )
    yield* library.retain(snapshot.folder, snapshot.tables)
    return snapshot
  })

  /** Does some work with a process that serves a folder as it was looked at. */
  const withProcess = <A>(
    snapshot: FolderSnapshot.FolderSnapshot,
    work: (process: DuckProcess) => Effect.Effect<A, ConnectorError | ProcessEnded>
  ): Effect.Effect<A, ConnectorError> =>
    pool.use({ group: snapshot.folder, version: snapshot.version, snapshot }, work).pipe(
      Effect.tapErrorTag("ProcessEnded", ({ detail, reason }) =>
        reason === "closed" ? Effect.void : Effect.logWarning("a DuckDB process did not answer", { reason, detail })
      ),
      Effect.catchTag("ProcessEnded", (end) => Effect.fail(ofEnd(end)))
    )

  /** Runs a statement, and makes the tables ready that it turns out to need. */
  const run = Effect.fnUntraced(function* (
    process: DuckProcess,
    snapshot: FolderSnapshot.FolderSnapshot,
    statement: string,
    mode: "query" | "describe",
    bounds: { readonly maxRows: number; readonly maxBytes: number }
  ): Effect.fn.Return<Reply, ConnectorError | ProcessEnded> {
    const ask = Effect.suspend(() =>
      process.ask(
        {
          _tag: "Run",
          statement,
          mode,
          ...bounds,
          ready: snapshot.tables.flatMap((table) => {
            const ready = library.find(table)
            return ready === undefined ? [] : [{ table: table.name, database: ready.database }]
          })
        },
        bounds.maxBytes
      )
    )
    const reply = yield* ask
    if (reply.response._tag !== "Needs") return reply
    const needed = new Set(reply.response.tables)
    for (const table of snapshot.tables) {
      if (needed.has(table.name)) yield* library.prepare(process, table)
    }
    return yield* ask
  })

  const query = Effect.fn("ConnectorDriver.query")(
    function* (connector: Connector, statement: string, limits: QueryLimits) {
      const snapshot = yield* snapshotOf(connector)
      const { payload, response } = yield* withProcess(snapshot, (process) =>
        run(process, snapshot, statement, "query", limits)
      )
      if (response._tag !== "Rows") return yield* ofReply(response)
      return yield* Effect.try({
        try: () => ResultReader.read(payload, response),
        catch: () => unavailable("the process of this source sent a result that cannot be read")
      })
    },
    (effect, _connector, _statement, limits) =>
      Effect.timeoutOrElse(effect, {
        duration: limits.timeout,
        orElse: () => {
          const message = `the statement did not finish within ${Duration.format(limits.timeout)}, and was stopped`
          return Effect.fail(new ConnectorError({ reason: new StatementTimedOut({ message }) }))
        }
      })
  )

  const describe = Effect.fn("ConnectorDriver.describe")(function* (connector: Connector, statement: string) {
    const snapshot = yield* snapshotOf(connector)
    const { response } = yield* withProcess(snapshot, (process) =>
      run(process, snapshot, statement, "describe", { maxRows: 0, maxBytes: 0 })
    )
    return response._tag === "Described" ? response.columns : yield* ofReply(response)
  })

  const tables = Effect.fn("ConnectorDriver.tables")(function* (connector: Connector) {
    const snapshot = yield* snapshotOf(connector)
    // Each with a turn of its own: a file that brings its process down is left out, and the others are not.
    const prepared = yield* Effect.forEach(snapshot.tables, (table) => {
      const known = library.find(table)
      if (known !== undefined) return Effect.succeed(Result.succeed(known))
      return Effect.result(withProcess(snapshot, (process) => library.prepare(process, table)))
    })
    const [found, failures] = [prepared.filter(Result.isSuccess), prepared.filter(Result.isFailure)]
    const down = failures.find(({ failure }) => failure.reason._tag === "SourceUnavailable")
    if (found.length === 0 && down !== undefined) return yield* down.failure
    for (const { failure } of failures) yield* Effect.logWarning("A table is left out", failure.message)
    return found.map(({ success }) => success.schema)
  })

  /** A folder that can be looked at is one that can be asked. */
  const probe = Effect.fn("FilesDriver.probe")(function* (source: ConnectorSource) {
    const folder = yield* folderOf(source)
    yield* Effect.mapError(FolderSnapshot.take(folder), (reason) => new ConnectorError({ reason }))
  })

  return ConnectorDriver.of({ types: ["files"], probe, query, tables, describe })
})

/** The connector port over folders of files. */
export const layer = (options: Options = {}): Layer.Layer<ConnectorDriver> =>
  Layer.effect(ConnectorDriver, make(options))
