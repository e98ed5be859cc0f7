/**
 * An execution: something that ran in a sandcastle, recorded in full before it runs, whatever becomes of it.
 *
 * Source: api-v2.md "Execution"; decisions.md §7 ("Execution `kind`").
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { SandcastleId } from "./Sandcastle.ts"

/** An execution's id. */
export const ExecutionId = Uuid.pipe(Schema.brand("ExecutionId"))
export type ExecutionId = typeof ExecutionId.Type

/** What ran: a program, a command, a statement, or a query in the ontology's language. */
export const ExecutionKind = Schema.Literals(["python", "bash", "sql", "ontology"])
export type ExecutionKind = typeof ExecutionKind.Type

/** Who had it run. */
export const ExecutionSource = Schema.Literals(["platform_api", "chat", "playbook", "agent", "internal"])
export type ExecutionSource = typeof ExecutionSource.Type

/** How far an execution has come. A failed one, and one that was stopped, are recorded like any other. */
export const ExecutionStatus = Schema.TaggedUnion({
  Running: {},
  Completed: { endedAt: Schema.DateTimeUtc },
  Failed: { endedAt: Schema.DateTimeUtc, error: Schema.String },
  /**
   * Stopped before it ended: by an interrupt, its caller's leaving, or the end of its session. `stateLost` where the
   * session's variables went with it.
   */
  Interrupted: { endedAt: Schema.DateTimeUtc, stateLost: Schema.optionalKey(Schema.Boolean) }
})
export type ExecutionStatus = typeof ExecutionStatus.Type

/** One execution. */
export class Execution extends Schema.Class<Execution>("@castellan/core/sandcastle/Execution")({
  id: ExecutionId,
  organizationId: OrganizationId,
  sandcastleId: SandcastleId,
  kind: ExecutionKind,
  source: ExecutionSource,
  /** What was to run, in full. */
  input: Schema.String,
  /** The beginning of what it put out, at most 16 KiB; never files or dataframes. Empty until it ends. */
  outputPreview: Schema.String,
  status: ExecutionStatus,
  createdAt: Schema.DateTimeUtc
}) {}

/** How long an ended execution took; nothing while it runs. */
export const duration = (execution: Execution): Duration.Duration | undefined =>
  execution.status._tag === "Running" ? undefined : DateTime.distance(execution.createdAt, execution.status.endedAt)

/** What is said of a session whose interpreter was started anew beneath an execution. */
export const stateIsLost = "; the session was restarted, and its variables are gone"

/** What is said of an execution that was stopped before it ended. */
export const interruption = (stateLost: boolean | undefined): string =>
  stateLost === true ? `interrupted${stateIsLost}` : "interrupted"

/** What an execution that did not complete has to say for itself. */
export const error = (execution: Execution): string | undefined => {
  switch (execution.status._tag) {
    case "Failed":
      return execution.status.error
    case "Interrupted":
      return interruption(execution.status.stateLost)
    default:
      return undefined
  }
}

/** How long executions stay listed before they are purged. Source: api-v2.md "Limits". */
export const retention: Duration.Duration = Duration.days(30)

/** Executions of before this moment are purged. */
export const purgedBefore = (now: DateTime.Utc): DateTime.Utc => DateTime.subtractDuration(now, retention)
