/**
 * SQL over the dataframes and files of a session: what answers `castellan.sql` of the code that runs in one.
 *
 * The tables come out of the session as bytes that nobody vetted, and the statement as well. So an executor never works
 * in the host's process: what reads the bytes and runs the statement may crash, and is bounded in memory, time and
 * reach.
 *
 * Source: decisions.md §7; issue "Sandcastles", "SQL executor".
 */
import type { SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** A table that comes with a statement. */
export interface SqlTable {
  /**
   * What the statement calls it. A name that ends as a file of a known kind does (`uploads/sales.csv`) means that
   * `content` is that file; any other, that it is an Arrow IPC stream.
   */
  readonly name: string
  readonly content: Uint8Array
}

/** The executor of one session. */
export interface SqlSession {
  /**
   * The result of one read-only statement over these tables and no others, as an Arrow IPC stream. Nothing stays from
   * one statement to the next. Interruption stops the statement before it completes.
   *
   * Fails as `invalid` where the statement or a table is at fault, as `exhausted` where a limit of memory, time or size
   * was reached, and as `unavailable` where no statement can be run; messages are fit for the session's user.
   */
  readonly query: (statement: string, tables: ReadonlyArray<SqlTable>) => Effect.Effect<Uint8Array, SandboxError>
}

/** Opens executors: one for each session, gone with its scope. */
export class SqlExecutor extends Context.Service<
  SqlExecutor,
  {
    /** Starts nothing: processes come with the first statement. */
    readonly open: Effect.Effect<SqlSession, never, Scope.Scope>
  }
>()("@castellan/sandbox/sql/SqlExecutor") {}
