/**
 * PostgreSQL in the process, as the place where everything is kept: PGlite over a folder, in a thread of its own, so
 * that no statement keeps the service from answering. A commit is on the disk when it is answered, and one process
 * works on a folder at a time.
 *
 * It has one connection: a transaction has it alone, and whoever asks meanwhile waits. For more than one server, or
 * for much traffic at once, use a PostgreSQL server (`PostgresDatabase`).
 *
 * Source: issue "Everything kept", §1; architecture.md §4 ("on a laptop").
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { applicationRole, type Connections } from "../database/PostgresDatabase.ts"
import { migrate, type SchemaMismatch } from "../migration/Migrator.ts"
import { connection } from "./internal/EngineConnection.ts"
import { EngineEnded, EngineHandle } from "./internal/EngineHandle.ts"

/** Where everything is kept. */
export interface EmbeddedDatabaseOptions {
  /** The folder of the database; made when it is not there. Nothing else may be in it. */
  readonly folder: string
}

/** Another process works on the folder. */
export class FolderInUse extends Schema.TaggedError<FolderInUse>()("FolderInUse", {
  folder: Schema.String,
  message: Schema.String
}) {}

/** The folder, or what is in it, cannot be used. */
export class FolderUnusable extends Schema.TaggedError<FolderUnusable>()("FolderUnusable", {
  folder: Schema.String,
  message: Schema.String
}) {}

/** Why a folder's database cannot be used. */
export type EmbeddedDatabaseError = FolderInUse | FolderUnusable | SchemaMismatch | SqlError

const failureOf = (folder: string, error: unknown): FolderInUse | FolderUnusable => {
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof EngineEnded && error.failure === "InUse"
    ? new FolderInUse({ folder, message })
    : new FolderUnusable({ folder, message })
}

/** The engine of a folder, until the scope ends. */
const engine = ({ folder }: EmbeddedDatabaseOptions) =>
  Effect.acquireRelease(
    Effect.sync(() => new EngineHandle({ folder })),
    (handle) => Effect.promise(() => handle.stop())
  ).pipe(
    Effect.tap((handle) => Effect.tryPromise({ try: () => handle.start(), catch: (error) => failureOf(folder, error) }))
  )

/** The database of a folder, at the schema of this version. */
export const layer = (options: EmbeddedDatabaseOptions): Layer.Layer<Connections, EmbeddedDatabaseError> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const handle = yield* engine(options)
      yield* Effect.provide(migrate, connection(handle))
      return connection(handle, applicationRole)
    })
  )
