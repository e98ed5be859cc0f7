/**
 * The port to data sources: read-only statements and introspection, bounded and interruptible.
 *
 * Source: decisions.md §5 ("SQL from an agent is read-only, one statement, bounded in time, rows and bytes;
 * enforced by a real parser and by the engine's own read-only mode, both").
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { RowFilter } from "../rowpolicy/RowPolicy.ts"
import type { Connector, ConnectorSource, ConnectorType } from "./Connector.ts"
import type { ResultTable, Value } from "./ResultTable.ts"
import type { TableSchema } from "./TableSchema.ts"

/** The bounds of one statement. */
export interface QueryLimits {
  /** Wall-clock time, including the start of the source's process. */
  readonly timeout: Duration.Duration
  /** Rows that may come back; more are cut and `truncated` is set. */
  readonly maxRows: number
  /** Bytes of the encoded result that may come back; rows beyond are cut and `truncated` is set. */
  readonly maxBytes: number
  /** Values of the statement's named parameters; only for a driver that declares `bindsParameters`. */
  readonly parameters?: Readonly<Record<string, Value>>
}

/** The statement was refused before it ran: it writes, is not one statement, or reaches outside the source. */
export class StatementRefused extends Schema.TaggedError<StatementRefused>()("StatementRefused", {
  /** What was refused and why, fit for the model and for the reader of the cell. */
  message: Schema.String
}) {}

/** The source ran, or tried to run, the statement and reports an error (syntax, unknown column, overflow, …). */
export class StatementFailed extends Schema.TaggedError<StatementFailed>()("StatementFailed", {
  /** The source's own message, without paths of the host. */
  message: Schema.String
}) {}

/** The statement ran past its time limit and was stopped at the source. */
export class StatementTimedOut extends Schema.TaggedError<StatementTimedOut>()("StatementTimedOut", {
  message: Schema.String
}) {}

/** The statement needed more memory than the source may use; it was stopped, and the next one starts afresh. */
export class SourceOutOfMemory extends Schema.TaggedError<SourceOutOfMemory>()("SourceOutOfMemory", {
  message: Schema.String
}) {}

/** The source cannot be reached, its process ended, or its folder is gone. */
export class SourceUnavailable extends Schema.TaggedError<SourceUnavailable>()("SourceUnavailable", {
  message: Schema.String
}) {}

/** Why a data source did not answer. */
export const ConnectorFailure = Schema.Union([
  StatementRefused,
  StatementFailed,
  StatementTimedOut,
  SourceOutOfMemory,
  SourceUnavailable
])
export type ConnectorFailure = typeof ConnectorFailure.Type

/** A data source did not answer; `reason` says which of the closed set of failures it was. */
export class ConnectorError extends Schema.TaggedError<ConnectorError>()("ConnectorError", {
  reason: ConnectorFailure
}) {
  override get message(): string {
    return this.reason.message
  }
}

/**
 * How a driver keeps row policies. It tells by a real parser which tables a statement reads, and reads each table that
 * has a filter through it: no row that a filter leaves out has any effect on the answer.
 */
export interface RowFiltering {
  /** The tables that a statement reads, by the names that it reads them under. Refuses what `query` refuses. */
  readonly tablesOf: (connector: Connector, statement: string) => Effect.Effect<ReadonlyArray<string>, ConnectorError>
  /** Runs a statement that sees of each table named by a filter only the rows of that filter, whose values are bound. */
  readonly query: (
    connector: Connector,
    statement: string,
    limits: QueryLimits,
    filters: ReadonlyArray<RowFilter>
  ) => Effect.Effect<ResultTable, ConnectorError>
}

/**
 * A way to ask data sources. Interrupting any of these effects stops the work at the source before the
 * interruption completes, and leaves the source usable.
 */
export class ConnectorDriver extends Context.Service<
  ConnectorDriver,
  {
    /** The kinds of source that it serves. */
    readonly types: ReadonlyArray<ConnectorType>
    /** Whether a source can be reached as it is described; a secret goes no further than the source. */
    readonly probe: (
      source: ConnectorSource,
      secret: Redacted.Redacted<string> | undefined
    ) => Effect.Effect<void, ConnectorError>
    /** Whether it binds the values of named parameters; where it does not, a statement that comes with some is refused. */
    readonly bindsParameters?: boolean
    /** How it keeps row policies; absent where it cannot: a query that one applies to is then refused. */
    readonly rowFiltering?: RowFiltering
    /** Runs one read-only statement in the source's SQL dialect. */
    readonly query: (
      connector: Connector,
      statement: string,
      limits: QueryLimits
    ) => Effect.Effect<ResultTable, ConnectorError>
    /** Every table of the source with its columns, in the order of their names. */
    readonly tables: (connector: Connector) => Effect.Effect<ReadonlyArray<TableSchema>, ConnectorError>
    /**
     * The columns that a statement would answer with, without running it. Refuses what `query` refuses.
     */
    readonly describe: (
      connector: Connector,
      statement: string
    ) => Effect.Effect<TableSchema["columns"], ConnectorError>
  }
>()("@castellan/core/connector/ConnectorDriver") {}
