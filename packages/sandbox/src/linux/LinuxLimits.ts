/**
 * What a session of the Linux tier may use.
 *
 * Sizes are in bytes. A session's files, its `/tmp` and its shared memory are kept in memory of the machine, each up to
 * its quota, beside `memory`.
 */
import * as Duration from "effect/Duration"

/** The limits of a session. */
export interface LinuxLimits {
  /**
   * Memory of all of a session's processes together. Where there are no control groups, each of its sockets counts with
   * all that its buffers may hold, and what the kernel keeps for pipes is bounded by their number alone.
   */
  readonly memory: number
  /** Address space of one process: what a program that asks for more than it may have is refused at. */
  readonly addressSpace: number
  /** Processes and threads of a session. */
  readonly processes: number
  /** Open files of one process. */
  readonly openFiles: number
  /** Size of one file. */
  readonly fileSize: number
  /** Processor time of one process. The wall-clock limit of an execution is not this one's concern. */
  readonly cpu: Duration.Duration
  /** Processors that a session may use at once, in parts of one; held only where control groups are. */
  readonly cpus: number
  readonly disk: {
    /** All of `/sandbox/files`. */
    readonly files: number
    /** All of `/tmp`. */
    readonly temporary: number
    /** All of `/dev/shm`. */
    readonly shared: number
    /** Files and folders of each of them. */
    readonly entries: number
  }
}

const mebibyte = 1024 * 1024

/** The limits where none are given. */
export const defaultLimits: LinuxLimits = {
  memory: 1024 * mebibyte,
  addressSpace: 1536 * mebibyte,
  processes: 64,
  openFiles: 256,
  fileSize: 256 * mebibyte,
  cpu: Duration.hours(1),
  cpus: 1,
  disk: { files: 256 * mebibyte, temporary: 128 * mebibyte, shared: 64 * mebibyte, entries: 20_000 }
}
