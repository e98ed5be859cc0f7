/**
 * A child process of the embedded tier ended, or had to be ended, before it answered.
 */
import * as Data from "effect/Data"

/** Why a child ended. */
export type ChildEnd =
  /** It used more memory than it may, and was killed. */
  | "memory"
  /** It said something that it cannot have to say, and was killed. */
  | "breach"
  /** It was killed because it did not stop, or because its session is over. */
  | "killed"
  /** It could not be started, or ended by itself. */
  | "ended"

/** The end of a child. Never leaves this package. */
export class ChildEnded extends Data.TaggedError("ChildEnded")<{
  readonly reason: ChildEnd
  readonly exitCode: number
  /** For the log and the operator: what it said last on its standard error; may hold paths of the host. */
  readonly detail: string
}> {}
