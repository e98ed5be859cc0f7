/**
 * The bounds that the engine of sessions keeps for every tier.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"

/** Bounds of a session. */
export interface SessionLimits {
  /** Time that a session has to be ready. */
  readonly start: Duration.Duration
  /** Time that an execution has to end by itself once it was interrupted; then it is killed. */
  readonly grace: Duration.Duration
  /** Time that a supervisor has to do what takes no time: to kill, to start an interpreter. Then it is replaced. */
  readonly patience: Duration.Duration
  /** Time that a file, a listing or a dataframe may take; to compare a library may take twice as long. */
  readonly command: Duration.Duration
  /** Bytes of standard output and standard error of one execution that are passed on; the rest is counted.
   * As many letters of exceptions are, and the first one in any case. */
  readonly outputBytes: number
  /** Displayed values and exceptions of one execution that are passed on. */
  readonly events: number
  /** Bytes of displayed values of one execution. */
  readonly richBytes: number
  /** Bytes of the tables that come with one statement of SQL. */
  readonly tableBytes: number
  /** Bytes of a file that is read. */
  readonly fileBytes: number
  /** Entries of the library that are looked at for its edits. */
  readonly libraryEntries: number
  /** Bytes of one file that was added to the library or modified in it. */
  readonly editBytes: number
  /** Bytes of all of them. */
  readonly editsBytes: number
}

const mebibyte = 1024 * 1024

/** The bounds in force; a host replaces them by providing its own value. */
export const SessionLimits = Context.Reference<SessionLimits>("@castellan/sandbox/session/SessionLimits", {
  defaultValue: () => ({
    start: Duration.seconds(30),
    grace: Duration.seconds(1),
    patience: Duration.seconds(5),
    command: Duration.minutes(2),
    outputBytes: mebibyte,
    events: 10_000,
    richBytes: 64 * mebibyte,
    tableBytes: 256 * mebibyte,
    fileBytes: 256 * mebibyte,
    libraryEntries: 20_000,
    editBytes: 25 * mebibyte,
    editsBytes: 100 * mebibyte
  })
})
