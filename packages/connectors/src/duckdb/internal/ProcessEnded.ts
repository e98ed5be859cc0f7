/**
 * A DuckDB process ended, or had to be ended, before it answered.
 */
import * as Data from "effect/Data"

/** Why a process ended. */
export type EndReason =
  /** It used more memory than it may. */
  | "memory"
  /** It sent something that is no answer, and was killed. */
  | "protocol"
  /** It did not stop when it was told to, and was killed. */
  | "unresponsive"
  /** It could not be started, crashed, or was killed by somebody else. */
  | "ended"
  /** It was closed by us. */
  | "closed"

/** The end of a process. Never leaves this package: the driver makes a `ConnectorError` of it. */
export class ProcessEnded extends Data.TaggedError("ProcessEnded")<{
  readonly reason: EndReason
  /** For the log; may hold paths of the host. */
  readonly detail: string
}> {}
