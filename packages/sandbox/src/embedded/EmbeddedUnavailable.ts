/**
 * Why the embedded tier does not start: which promise it could not keep, in words, and what mends it.
 */
import * as Schema from "effect/Schema"

/** What an installation lacks, or which promise to a session was seen broken. */
export const EmbeddedPromise = Schema.Literals([
  /** Deno has no program for this system, or it is not installed, or does not run. */
  "deno",
  /** Pyodide or the shell is not installed. */
  "pyodide",
  /** The memory that interpreters start with cannot be kept. */
  "snapshot",
  /** A wheel is not what the lock says, or is not there. */
  "packages",
  /** A child process could do what none may. */
  "permissions",
  /** A child process does not do its work. */
  "interpreter"
])
export type EmbeddedPromise = typeof EmbeddedPromise.Type

/** The embedded tier does not start here, and nothing weaker starts in its place. */
export class EmbeddedUnavailable extends Schema.TaggedError<EmbeddedUnavailable>()("EmbeddedUnavailable", {
  promise: EmbeddedPromise,
  /** What was seen, for whoever runs the host. */
  message: Schema.String,
  /** What mends it; empty where nothing is known to. */
  remedy: Schema.String
}) {}
