/**
 * What the server and a DuckDB process say to each other: one request, one response with the same id, each in a
 * frame of its own (`Frame.ts`). The process may run hostile statements in native code, so every response is
 * decoded with these schemas before anything is believed; requests come from us and are only typed.
 *
 * The process imports nothing of this module but its types: it starts without Effect.
 */
import { Column } from "@castellan/core/connector/ResultTable"
import { TableColumn } from "@castellan/core/connector/TableSchema"
import * as Schema from "effect/Schema"

/** How the files of a table are written. */
export type FileFormat = "csv" | "tsv" | "json" | "ndjson" | "parquet"

/** A table of a folder as a process needs it. */
export interface TableFiles {
  /** The name that SQL and models use. */
  readonly name: string
  /** Other names that mean the same table: the file's stem and its path, exactly as they are written. */
  readonly aliases: ReadonlyArray<string>
  readonly format: FileFormat
  /** Absolute paths; more than one only for Parquet parts. */
  readonly files: ReadonlyArray<string>
  /** Whether folders named `key=value` above the files are columns. */
  readonly partitioned: boolean
}

/** Starts the engine, opens it to exactly these files, and locks it. The first request of every process. */
export interface Open {
  readonly _tag: "Open"
  readonly id: number
  /** Absolute path of the connector's folder; it never appears in a message that leaves the process. */
  readonly folder: string
  /** Where converted tables are kept; private to the server. */
  readonly cacheDirectory: string
  /** Where this process alone may spill. */
  readonly temporaryDirectory: string
  readonly tables: ReadonlyArray<TableFiles>
  /** Resident memory that the process may use, in bytes. */
  readonly memory: number
  readonly threads: number
}

/** Makes a table ready: converts a text file into a read-only database, or only looks at Parquet files in place. */
export interface Load {
  readonly _tag: "Load"
  readonly id: number
  readonly table: string
  /** The database file to write, for a format that is converted. */
  readonly target: string | undefined
}

/** Runs, or only describes, one statement. */
export interface Run {
  readonly _tag: "Run"
  readonly id: number
  readonly statement: string
  readonly mode: "query" | "describe"
  readonly maxRows: number
  readonly maxBytes: number
  /** Tables that are ready, with the database file of each converted one. */
  readonly ready: ReadonlyArray<{ readonly table: string; readonly database: string | undefined }>
}

/** A table that comes with a request: an Arrow IPC stream, or a file of a known kind. */
export interface SuppliedTable {
  /** The name that the statement uses. */
  readonly name: string
  readonly format: "arrow" | FileFormat
  /** Bytes of it, in the payload. */
  readonly bytes: number
}

/**
 * Runs one statement over tables that are the payload, one after another in this order. It needs no `Open`: nothing
 * stays in the process.
 */
export interface Select {
  readonly _tag: "Select"
  readonly id: number
  readonly statement: string
  readonly tables: ReadonlyArray<SuppliedTable>
  /** Bytes of the cells of the result, at most. */
  readonly maxBytes: number
  /** A private directory, empty before and after. */
  readonly directory: string
  /** Resident memory that the process may use, in bytes. */
  readonly memory: number
  /** Bytes that the engine may spill to the directory. */
  readonly spill: number
  readonly threads: number
}

/** Stops the request in flight. It has no response of its own: the request it stops answers. */
export interface Cancel {
  readonly _tag: "Cancel"
  readonly id: number
}

export type Request = Open | Load | Run | Select | Cancel

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const id = Count

/** Why a request failed. */
export const FailureKind = Schema.Literals([
  /** The statement is not one read-only SELECT over the connector's tables. */
  "refused",
  /** The engine, or a lookup of a name in the statement, reports an error. */
  "failed",
  /** A file cannot be read as a table. */
  "unreadable",
  /** The result is larger than was asked for. */
  "oversized",
  /** The engine ran out of the memory it may use. */
  "memory",
  /** The request was cancelled. */
  "cancelled"
])
export type FailureKind = typeof FailureKind.Type

/** The answer of a process to one request. `Rows` and `Selected` are followed by the Arrow IPC stream of the cells. */
export const Response = Schema.TaggedUnion({
  /** `readable` tells whether every file can be read: in a namespace, one of another owner may not be. */
  Opened: { id, readable: Schema.Boolean },
  Loaded: { id, columns: Schema.Array(TableColumn), rowCount: Count },
  /** The statement is allowed and needs these tables, which are not ready. */
  Needs: { id, tables: Schema.NonEmptyArray(Schema.String) },
  Described: { id, columns: Schema.Array(TableColumn) },
  Rows: { id, columns: Schema.Array(Column), rowCount: Count, truncated: Schema.Boolean },
  Selected: { id, rowCount: Count },
  Failed: { id, kind: FailureKind, message: Schema.String }
})
export type Response = typeof Response.Type

/** Decodes the header of a response frame. */
export const decodeResponse = Schema.decodeUnknownExit(Schema.fromJsonString(Response))
