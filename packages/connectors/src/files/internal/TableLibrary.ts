/**
 * Which tables are ready to be read: text files that were converted into databases of their own, and Parquet files
 * that were looked at. What was converted once serves every process, until its file changes.
 */
import type { ConnectorError } from "@castellan/core/connector/ConnectorDriver"
import type { TableSchema } from "@castellan/core/connector/TableSchema"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import type { DuckProcess } from "../../duckdb/internal/DuckProcess.ts"
import { failed, ofReply } from "../../duckdb/internal/SourceFailure.ts"
import type { ProcessEnded } from "../../duckdb/internal/ProcessEnded.ts"
import type { SnapshotTable } from "./FolderSnapshot.ts"

/** A table that can be read. */
export interface ReadyTable {
  readonly schema: TableSchema
  /** The database it was converted into; undefined for Parquet, which is read in place. */
  readonly database: string | undefined
}

/** The tables that are ready. */
export interface TableLibrary {
  /** A table that is ready already. */
  readonly find: (table: SnapshotTable) => ReadyTable | undefined
  /** Makes a table ready with the help of a process; waits where another process is at it. */
  readonly prepare: (
    process: DuckProcess,
    table: SnapshotTable
  ) => Effect.Effect<ReadyTable, ConnectorError | ProcessEnded>
  /** Forgets the tables of a group that are neither among those of its newest version nor of the one before. */
  readonly retain: (group: string, tables: ReadonlyArray<SnapshotTable>) => Effect.Effect<void>
}

/** The versions of tables that a group has, and those that it had before, which a statement may still be about to read. */
interface Generations {
  readonly now: ReadonlySet<string>
  readonly before: ReadonlySet<string>
}

/** A library that keeps its databases in a folder. */
export const make = (directory: string): TableLibrary => {
  const ready = new Map<string, ReadyTable>()
  /** Files that cannot be read stay so until they change: they are not parsed again for every statement. */
  const unreadable = new Map<string, string>()
  const turns = new Map<string, Semaphore.Semaphore>()
  const groups = new Map<string, Generations>()

  const turn = (version: string): Semaphore.Semaphore => {
    const known = turns.get(version)
    if (known !== undefined) return known
    const made = Semaphore.makeUnsafe(1)
    turns.set(version, made)
    return made
  }

  const load = Effect.fnUntraced(function* (process: DuckProcess, table: SnapshotTable) {
    const known = ready.get(table.version)
    if (known !== undefined) return known
    const reason = unreadable.get(table.version) ?? (isEmpty(table) ? `${fileOf(table)} is empty` : undefined)
    if (reason !== undefined) return yield* failed(reason)
    const parquet = table.files.every((file) => file.format === "parquet")
    const database = parquet ? undefined : join(directory, `${table.version}.duckdb`)
    const { response } = yield* process.ask({ _tag: "Load", table: table.name, target: database })
    if (response._tag === "Failed" && (response.kind === "failed" || response.kind === "unreadable")) {
      const message = `${fileOf(table)} cannot be read: ${response.message}`
      if (response.kind === "unreadable") unreadable.set(table.version, message)
      return yield* failed(message)
    }
    if (response._tag !== "Loaded") return yield* ofReply(response)
    const made: ReadyTable = {
      schema: { name: table.name, columns: response.columns, rowCount: response.rowCount },
      database
    }
    ready.set(table.version, made)
    return made
  })

  return {
    find: (table) => ready.get(table.version),
    prepare: (process, table) => turn(table.version).withPermit(load(process, table)),
    retain: Effect.fnUntraced(function* (group, tables) {
      const next = new Set(tables.map((table) => table.version))
      const { before, now } = groups.get(group) ?? { before: new Set(), now: new Set() }
      if (now.size === next.size && [...next].every((version) => now.has(version))) return
      groups.set(group, { before: now, now: next })
      for (const version of before) {
        if (now.has(version) || next.has(version)) continue
        const database = ready.get(version)?.database
        ready.delete(version)
        unreadable.delete(version)
        turns.delete(version)
        // A process that still reads it has it open; only the name goes.
        if (database !== undefined) yield* Effect.promise(() => rm(database, { force: true }).catch(() => undefined))
      }
    })
  }
}

const isEmpty = (table: SnapshotTable): boolean => table.files.every((file) => file.size === 0)

const fileOf = (table: SnapshotTable): string => {
  const [first] = table.files
  return table.files.length === 1 && first !== undefined ? `the file ${first.path}` : `the table ${table.name}`
}
