/**
 * The port to sandboxes: isolated sessions that run Python and shell commands over files of their own.
 *
 * Whatever comes out of a session was made by code that nobody vetted: adapters check every frame, bound every size
 * and never follow a link. A runtime that cannot keep what it declares refuses to open, and never opens a weaker
 * session in silence.
 *
 * Source: decisions.md §7; api-v2.md "Sandcastles".
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { ResultTable } from "../connector/ResultTable.ts"
import type { LibraryPath } from "../library/LibraryPath.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { SandcastleId } from "./Sandcastle.ts"
import type { SandboxPath } from "./SandboxPath.ts"

/** How strictly a runtime holds a limit: by the system, by watching and killing, or not at all. */
export const Enforcement = Schema.Literals(["hard", "watchdog", "none"])
export type Enforcement = typeof Enforcement.Type

/** What stands between a session and its host, weakest first. */
export const Isolation = Schema.Literals(["none", "wasm", "namespaces", "gvisor", "microvm"])
export type Isolation = typeof Isolation.Type

/** The bounds that a runtime can hold. */
export const LimitKind = Schema.Literals(["cpu", "memory", "processes", "disk", "network", "time"])
export type LimitKind = typeof LimitKind.Type

/** What a runtime can do. */
export const SandboxCapabilities = Schema.Struct({
  isolation: Isolation,
  /** Whether Python's variables live from one execution to the next. */
  statefulPython: Schema.Boolean,
  /** Whether `bash` is a real shell, and not one that imitates it. */
  realBash: Schema.Boolean,
  /** The Python packages that can be imported, beside the standard library. */
  packages: Schema.Array(Schema.String),
  /** Whether an interrupt leaves the session's variables as they are where the code can be interrupted at all. */
  gentleInterrupt: Schema.Boolean,
  /** Whether a session can be found again after the host's restart. */
  persistent: Schema.Boolean,
  limits: Schema.Record(LimitKind, Enforcement)
}).annotate({ identifier: "SandboxCapabilities" })
export type SandboxCapabilities = typeof SandboxCapabilities.Type

/** What whoever opens a session insists on. */
export interface SandboxRequirement {
  readonly isolation?: Isolation
  readonly limits?: Partial<Record<LimitKind, Enforcement>>
}

/** A file of the library as a session holds it. */
export interface LibraryFile {
  /** Path below `library/`. */
  readonly path: LibraryPath
  readonly content: Uint8Array
}

/** What a session is opened with. */
export interface SandboxSpec {
  /** The tag of the session: opening one that is still there takes it up again. */
  readonly id: SandcastleId
  readonly organizationId: OrganizationId
  /** What the session's library holds at first. */
  readonly library: ReadonlyArray<LibraryFile>
  /** Opening fails when the runtime offers less. */
  readonly require?: SandboxRequirement
  /** True where no session of this tag was ever opened before: there is none to be taken up again. */
  readonly isNew?: boolean
}

/** A program, a command or a statement. */
export interface ExecRequest {
  readonly language: "python" | "bash"
  readonly code: string
  /** `session`: in the session's Python, whose variables stay. `process`: in a fresh one, which ends with all that it started. */
  readonly within: "session" | "process"
  /** Environment variables of a fresh process, beside the session's own. */
  readonly environment?: Readonly<Record<string, string>>
  /** Wall-clock time after which it is stopped, killed if need be. */
  readonly timeout: Duration.Duration
}

/** A dataframe of a session. */
export const Dataframe = Schema.Struct({
  name: Schema.String,
  rows: Schema.Int,
  columns: Schema.Int,
  /** Bytes of memory that it takes, where the runtime can tell. */
  memoryBytes: Schema.optionalKey(Schema.Int)
}).annotate({ identifier: "Dataframe" })
export type Dataframe = typeof Dataframe.Type

/** One form of a displayed value: text, or bytes such as a PNG's. It is untrusted, HTML and SVG above all. */
export const RichBody = Schema.Struct({
  mediaType: Schema.NonEmptyString,
  body: Schema.Union([Schema.String, Schema.Uint8Array])
})
export type RichBody = typeof RichBody.Type

/** How an execution ended. */
export const ExecOutcome = Schema.Literals(["completed", "failed", "interrupted", "timed_out"])
export type ExecOutcome = typeof ExecOutcome.Type

/** What happens while something is executed: `Started` comes first, exactly one `Finished` last. */
export const ExecEvent = Schema.TaggedUnion({
  Started: {},
  Stdout: { text: Schema.String },
  Stderr: { text: Schema.String },
  /** A value that was displayed, in the forms that it has, the richest first. */
  Rich: { forms: Schema.Array(RichBody) },
  /** An exception that nothing caught. */
  Error: { name: Schema.String, message: Schema.String, traceback: Schema.Array(Schema.String) },
  /** The session's Python had to be killed; `stateLost` says whether its variables are gone. */
  KernelRestarted: { stateLost: Schema.Boolean },
  Finished: {
    outcome: ExecOutcome,
    exitCode: Schema.Int,
    /** Files that it made or changed, outside the library and the uploads. */
    files: Schema.Array(Schema.String),
    /** Dataframes that it made or changed. */
    dataframes: Schema.Array(Dataframe),
    /** Bytes of output beyond the runtime's cap, which are gone. */
    droppedBytes: Schema.Int
  }
})
export type ExecEvent = typeof ExecEvent.Type

/** An entry of a folder of a session. */
export const SandboxEntry = Schema.Struct({
  /** Path below `/sandbox/files`. */
  path: Schema.String,
  kind: Schema.Literals(["file", "directory"]),
  /** Bytes of a file; 0 of a directory. */
  size: Schema.Int
}).annotate({ identifier: "SandboxEntry" })
export type SandboxEntry = typeof SandboxEntry.Type

/**
 * What became of one file of the library since a base. Renames are told as a deletion and an addition. Paths are as the
 * session has them: whoever reads them checks them.
 */
export const LibraryEdit = Schema.TaggedUnion({
  Added: { path: Schema.String, content: Schema.Uint8Array },
  Modified: { path: Schema.String, content: Schema.Uint8Array },
  Deleted: { path: Schema.String },
  /** Something that cannot be part of a library: a link, a device, a name or a size beyond the rules. */
  Rejected: { path: Schema.String, reason: Schema.String }
})
export type LibraryEdit = typeof LibraryEdit.Type

/** What a session uses and holds. */
export interface SandboxUsage {
  /** Bytes of memory, where the runtime can tell. */
  readonly memoryBytes?: number
  readonly dataframes: ReadonlyArray<Dataframe>
}

/** Why a sandbox did not do what was asked. */
export const SandboxFailure = Schema.Literals([
  /** No session can be opened here, or none that keeps what is required. */
  "unavailable",
  /** The session is gone. */
  "lost",
  /** There is no such file. */
  "not_found",
  /** A path, a name or a size breaks the rules. */
  "invalid",
  /** A limit of memory, disk or size was reached. */
  "exhausted"
])
export type SandboxFailure = typeof SandboxFailure.Type

/** A sandbox did not do what was asked. The message is fit for the caller. */
export class SandboxError extends Schema.TaggedError<SandboxError>()("SandboxError", {
  reason: SandboxFailure,
  message: Schema.String
}) {}

/** An open session. Paths are below `/sandbox/files`. */
export interface SandboxSession {
  /** True where a session that was there before was taken up again, with its variables and files. */
  readonly resumed: boolean
  /**
   * Executes, and tells what happens as it happens. Executions within the session's Python come one after another.
   * Interrupting the stream stops the execution at its source before the interruption completes.
   */
  readonly exec: (request: ExecRequest) => Stream.Stream<ExecEvent, SandboxError>
  /** Stops what is being executed; false when nothing is. Afterwards the session takes the next execution. */
  readonly interrupt: Effect.Effect<boolean, SandboxError>
  /** Makes a result a dataframe of the session's Python; an earlier one of that name is replaced. */
  readonly bindDataframe: (name: string, table: ResultTable) => Effect.Effect<Dataframe, SandboxError>
  /** Writes a file, making the folders that it needs. */
  readonly upload: (path: SandboxPath, content: Uint8Array) => Effect.Effect<void, SandboxError>
  /** Reads a file. */
  readonly download: (path: SandboxPath) => Effect.Effect<Uint8Array, SandboxError>
  /** The entries of a folder in the order of their paths; absent: the root. Dotfiles are left out. */
  readonly list: (path?: SandboxPath) => Effect.Effect<ReadonlyArray<SandboxEntry>, SandboxError>
  /** Removes a file. */
  readonly remove: (path: SandboxPath) => Effect.Effect<void, SandboxError>
  /** Makes the library hold these files, and no others. */
  readonly mountLibrary: (files: ReadonlyArray<LibraryFile>) => Effect.Effect<void, SandboxError>
  /** What was done to the library since it held these files, in the order of the paths. Dotfiles are told as well. */
  readonly diff: (base: ReadonlyArray<LibraryFile>) => Effect.Effect<ReadonlyArray<LibraryEdit>, SandboxError>
  readonly usage: Effect.Effect<SandboxUsage, SandboxError>
  /**
   * Says whose the session is from now on: one that was opened in advance, for nobody, and that nobody has used
   * (`SandboxPool`). Absent where the runtime makes no use of the tag once the session is open.
   */
  readonly rebind?: (tag: Pick<SandboxSpec, "id" | "organizationId">) => Effect.Effect<void, SandboxError>
}

/** Opens sessions. */
export class SandboxRuntime extends Context.Service<
  SandboxRuntime,
  {
    readonly capabilities: SandboxCapabilities
    /** False where no session ever opens; absent: sessions open. */
    readonly isAvailable?: boolean
    /** Opens a session; closing its scope ends it and everything that runs in it. */
    readonly open: (spec: SandboxSpec) => Effect.Effect<SandboxSession, SandboxError, Scope.Scope>
    /**
     * Ends the sessions that this deployment opened, on any server, and that no sandcastle has any more: those for which
     * `isAlive` answers false. One that was opened in the last ten minutes, or in advance (`SandboxPool`), is left alone.
     * Answers how many were ended. Absent where a session ends with the process that opened it.
     */
    readonly reap?: (
      isAlive: (tag: Pick<SandboxSpec, "id" | "organizationId">) => Effect.Effect<boolean>
    ) => Effect.Effect<number, SandboxError>
  }
>()("@castellan/core/sandcastle/SandboxRuntime") {}

const isolationRank: { readonly [Kind in Isolation]: number } = {
  none: 0,
  wasm: 1,
  namespaces: 2,
  gvisor: 3,
  microvm: 4
}
const enforcementRank: { readonly [Kind in Enforcement]: number } = { none: 0, watchdog: 1, hard: 2 }

/** What a runtime lacks of what is required, one phrase each; empty when it offers everything. */
export const lacking = (capabilities: SandboxCapabilities, required: SandboxRequirement): ReadonlyArray<string> => {
  const lacks: Array<string> = []
  if (required.isolation !== undefined && isolationRank[capabilities.isolation] < isolationRank[required.isolation]) {
    lacks.push(`isolation ${required.isolation} (it has ${capabilities.isolation})`)
  }
  for (const kind of LimitKind.literals) {
    const wanted = required.limits?.[kind]
    const held = capabilities.limits[kind]
    if (wanted !== undefined && enforcementRank[held] < enforcementRank[wanted]) {
      lacks.push(`${wanted} limit of ${kind} (it has ${held})`)
    }
  }
  return lacks
}

/** A deployment without sandboxes: nothing opens. */
export const layerUnavailable: Layer.Layer<SandboxRuntime> = Layer.succeed(SandboxRuntime, {
  isAvailable: false,
  capabilities: {
    isolation: "none",
    statefulPython: false,
    realBash: false,
    packages: [],
    gentleInterrupt: false,
    persistent: false,
    limits: { cpu: "none", memory: "none", processes: "none", disk: "none", network: "none", time: "none" }
  },
  open: () => Effect.fail(new SandboxError({ reason: "unavailable", message: "this deployment has no sandboxes" }))
})
