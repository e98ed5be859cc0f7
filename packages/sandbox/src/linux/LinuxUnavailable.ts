/**
 * Why the Linux tier does not start: which promise it could not keep, in words, and what mends it.
 */
import * as Schema from "effect/Schema"

/** What a host or its operating system lacks, or which promise to a session was seen broken. */
export const LinuxPromise = Schema.Literals([
  /** It is no Linux of the kind that is needed. */
  "platform",
  /** There is no bubblewrap. */
  "bubblewrap",
  /** Unprivileged processes get no namespaces, or none of which they can use. */
  "namespaces",
  /** A namespace of processes gets no `/proc` of its own. */
  "procfs",
  /** The user of the sandbox does not get to a folder that it needs. */
  "folder",
  /** There is no Python, or none that is fit. */
  "python",
  /** It would have to run as root. */
  "user",
  /** The control groups that were given cannot be used. */
  "control_groups",
  /** A promise that the self-test broke. */
  "cpu",
  "descriptors",
  "disk",
  "environment",
  "file_size",
  "files",
  "interrupt",
  "memory",
  "network",
  "privileges",
  "processes",
  "sockets",
  "supervisor",
  "system_calls"
])
export type LinuxPromise = typeof LinuxPromise.Type

/** The Linux tier does not start here, and nothing weaker starts in its place. */
export class LinuxUnavailable extends Schema.TaggedError<LinuxUnavailable>()("LinuxUnavailable", {
  promise: LinuxPromise,
  /** What was seen, for whoever runs the host. */
  message: Schema.String,
  /** The command, setting or profile that mends it; empty where there is none. */
  remedy: Schema.String
}) {}
