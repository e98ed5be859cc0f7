/**
 * The client of an embedded database.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Duration from "effect/Duration"
import type * as Layer from "effect/Layer"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { longestMessage } from "../../database/PostgresDatabase.ts"
import type { EngineHandle } from "./EngineHandle.ts"

/**
 * The one connection to an engine, as a role or as the owner.
 */
export const connection = (handle: EngineHandle, role?: string): Layer.Layer<PgClient.PgClient | SqlClient, SqlError> =>
  PgClient.layer({
    stream: () => handle.connect(role),
    username: "postgres",
    database: "postgres",
    maxConnections: 1,
    maxMessageSize: longestMessage,
    // Statements that wait for the connection go to it together.
    multiplex: true,
    // It is there once the thread has started and PostgreSQL has recovered, however long that takes.
    connectTimeout: Duration.infinity,
    // A connection costs nothing to keep.
    idleTimeout: Duration.infinity
  })
