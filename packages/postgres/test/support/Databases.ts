/**
 * The databases that every store's contract is run against.
 */
import type * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import type { Connections, DatabaseError } from "../../src/database/PostgresDatabase.ts"
import * as EmbeddedTestDatabase from "./EmbeddedTestDatabase.ts"
import * as TestDatabase from "./TestDatabase.ts"

/** A database, empty each time its layer is built. */
export interface Database {
  readonly name: string
  /** Whether it is in the process, with one connection. */
  readonly isEmbedded: boolean
  readonly layer: Layer.Layer<Connections, DatabaseError | SqlError>
}

/** Every one. */
export const databases = (): ReadonlyArray<Database> => [
  ...TestDatabase.servers().map((server) => ({
    name: server.name,
    isEmbedded: false,
    layer: TestDatabase.layer(server)
  })),
  { name: "PGlite", isEmbedded: true, layer: EmbeddedTestDatabase.layer }
]
