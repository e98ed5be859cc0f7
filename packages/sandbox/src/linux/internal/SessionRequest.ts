/**
 * What the host and the fork-server (`python/castellan_zygote.py`) say to each other: the line that opens a session, the
 * line that answers it, and the lines on the fork-server's standard streams. The fork-server is ours and runs nothing
 * that a user wrote; its lines are decoded all the same.
 */
import * as Schema from "effect/Schema"
import * as Duration from "effect/Duration"
import type { LinuxLimits } from "../LinuxLimits.ts"

/** What a session is to run: the supervisor, or the self-test's attempts. */
export type Program =
  | { readonly program: "serve"; readonly nonce: string }
  | { readonly program: "probe"; readonly parameters: ProbeParameters | HoldParameters }

/** What the attempts on a session's walls are told, so that they know what must not be had. */
export interface ProbeParameters {
  /** Names of the environment variables that there are. */
  readonly environment: ReadonlyArray<string>
  /** Paths of the host that must not be seen. */
  readonly hidden: ReadonlyArray<string>
  /** A port at which a listener of the host must not be reached. */
  readonly port: number
  readonly address_space: number
  readonly file_size: number
  /** The quota of each writable mount. */
  readonly disk: Readonly<Record<string, number>>
  readonly entries: number
  readonly open_files: number
  readonly processes: number
}

/** Memory to hold in each of some processes, until the session is ended for it. */
export interface HoldParameters {
  readonly hold: number
  readonly processes: number
}

/** What opens a session. */
export interface SessionRequest {
  /** Names the session between the host and the fork-server. */
  readonly token: string
  readonly limits: LinuxLimits
  /** The session's control group below the delegated one; absent: the fork-server watches its memory. */
  readonly controlGroup: string | undefined
  readonly work: Program
}

/** The user and the group that a session's processes see themselves as. */
export const insideUser = 1000

/** The line that opens a session. */
export const encodeRequest = ({ controlGroup, limits, token, work }: SessionRequest): string =>
  JSON.stringify({
    token,
    user: insideUser,
    group: insideUser,
    control_group: controlGroup ?? null,
    memory: controlGroup === undefined ? limits.memory : null,
    limits: {
      address_space: limits.addressSpace,
      file_size: limits.fileSize,
      open_files: limits.openFiles,
      cpu_seconds: Math.ceil(Duration.toSeconds(limits.cpu)),
      processes: limits.processes,
      files: limits.disk.files,
      temporary: limits.disk.temporary,
      shared: limits.disk.shared,
      entries: limits.disk.entries
    },
    ...work
  }) + "\n"

/** The line that answers: whether the walls are up, or at which step they failed and why. */
export const Walls = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ walls: Schema.Literal(true) }),
    Schema.Struct({ walls: Schema.Literal(false), step: Schema.String, reason: Schema.String })
  ])
)

/** What the attempts on the walls found. */
export const Breaches = Schema.fromJsonString(
  Schema.Struct({ breaches: Schema.Array(Schema.Struct({ promise: Schema.String, detail: Schema.String })) })
)

/** A line on the fork-server's standard output. */
export const Notice = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ ready: Schema.Literal(true), packages: Schema.Array(Schema.String), python: Schema.String }),
    Schema.Struct({ memory: Schema.String, bytes: Schema.NullOr(Schema.Int) }),
    Schema.Struct({ killed: Schema.String, reason: Schema.Literal("memory") }),
    Schema.Struct({ ended: Schema.String })
  ])
)
export type Notice = typeof Notice.Type
