/**
 * The databases that every store's contract is run against.
 */
import type { SqlClient } from "effect/sql/SqlClient"
import type * as PgClient from "@effect/sql-pg/PgClient"
import type * as Layer from "effect/Layer"
import * as TestDatabase from "./TestDatabase.ts"

/** A database, empty each time its layer is built. */
export interface Database {
  readonly name: string
  readonly layer: Layer.Layer<PgClient.PgClient | SqlClient, unknown>
}

/** Every one. */
export const databases = (): ReadonlyArray<Database> =>
  TestDatabase.servers().map((server) => ({ name: server.name, layer: TestDatabase.layer(server) }))
