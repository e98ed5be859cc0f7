/**
 * The executor on DuckDB: its statements run in processes of their own, sealed and bounded, never in the host's.
 *
 * A session has a process of its own while it asks, and no other session ever has it. The engine is opened anew for
 * each statement. What reads tables out of a session, and what checks the statement, runs in that process as well.
 *
 * Source: decisions.md §7; issue "Sandcastles", "SQL executor".
 */
import * as SuppliedQueries from "@castellan/connectors/duckdb/SuppliedQueries"
import type { ConnectorError } from "@castellan/core/connector/ConnectorDriver"
import { SandboxError, type SandboxFailure } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlExecutor } from "./SqlExecutor.ts"

/** How the executor may use the machine. Every value has a default. */
export interface Options extends SuppliedQueries.Options {}

const reasonOf = ({ reason }: ConnectorError): SandboxFailure => {
  switch (reason._tag) {
    case "StatementFailed":
    case "StatementRefused":
      return "invalid"
    case "StatementTimedOut":
    case "SourceOutOfMemory":
      return "exhausted"
    case "SourceUnavailable":
      return "unavailable"
  }
}

/** The executor on DuckDB. Its processes and temporary files are gone with the layer. */
export const layer = (options: Options = {}): Layer.Layer<SqlExecutor> =>
  Layer.effect(
    SqlExecutor,
    Effect.map(SuppliedQueries.make(options), (queries) => ({
      open: Effect.map(queries.open, (session) => ({
        query: (statement: string, tables: ReadonlyArray<SuppliedQueries.SuppliedTable>) =>
          Effect.mapError(
            session.query(statement, tables),
            (error) => new SandboxError({ reason: reasonOf(error), message: error.message })
          )
      }))
    }))
  )
