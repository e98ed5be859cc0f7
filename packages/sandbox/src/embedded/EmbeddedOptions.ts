/**
 * What a host can choose of the embedded tier.
 */
import type * as Duration from "effect/Duration"

/** Wheels for Pyodide in a folder of the host, as `castellan-sandbox-prefetch` fills one. */
export interface PackageFolder {
  /** The folder. Each wheel is verified by the lock before any session may read it. */
  readonly folder: string
  /** The packages that sessions can import, with all that they need; absent: every package whose wheel is there. */
  readonly names?: ReadonlyArray<string>
  /** The path of the lock with the wheels' hashes; absent: that of the installed Pyodide. */
  readonly lock?: string
}

/** Options of the embedded tier; whatever is absent has the value that is told. */
export interface EmbeddedOptions {
  /** Where the memory that interpreters start with is kept: one file of 30 MB. Absent: a private temporary folder. */
  readonly cache?: string
  /** Wheels that sessions can import from. Absent: Python's standard library alone. */
  readonly packages?: PackageFolder
  /** Bytes of Python's own memory in a session. Absent: 512 MiB. */
  readonly memoryBytes?: number
  /** Bytes of a session's files. Absent: 128 MiB. */
  readonly fileBytes?: number
  /** Files and folders of a session. Absent: 20,000. */
  readonly fileCount?: number
  /** Bytes of the files of all sessions together: they are kept in the host's memory. Absent: 1 GiB. */
  readonly allFileBytes?: number
  /** How long a shell that has nothing to do is kept. Absent: 30 seconds. */
  readonly shellIdle?: Duration.Input
}

const mebibyte = 1024 * 1024

/** The numbers of a session's bounds. */
export interface EmbeddedBounds {
  readonly memoryBytes: number
  readonly fileBytes: number
  readonly fileCount: number
  readonly allFileBytes: number
}

/** The bounds that options ask for. */
export const boundsOf = ({
  allFileBytes = 1024 * mebibyte,
  fileBytes = 128 * mebibyte,
  fileCount = 20_000,
  memoryBytes = 512 * mebibyte
}: EmbeddedOptions): EmbeddedBounds => ({ allFileBytes, fileBytes, fileCount, memoryBytes })
