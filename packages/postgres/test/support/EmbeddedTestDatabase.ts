/**
 * An embedded database for a test: one thread for all tests of a file, emptied between them.
 */
import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { cp, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, inject } from "vitest"
import { applicationRole } from "../../src/database/PostgresDatabase.ts"
import { connection } from "../../src/embedded/internal/EngineConnection.ts"
import { EngineHandle } from "../../src/embedded/internal/EngineHandle.ts"

interface Engine {
  readonly folder: string
  readonly handle: EngineHandle
}

const engines: Array<Engine> = []
const idle: Array<Engine> = []

afterAll(async () => {
  await Promise.all(engines.map(({ handle }) => handle.stop()))
  await Promise.all(engines.map(({ folder }) => rm(folder, { recursive: true, force: true })))
})

const started = async (): Promise<Engine> => {
  const folder = await mkdtemp(join(tmpdir(), "castellan-embedded-"))
  await cp(inject("embeddedTemplate"), folder, { recursive: true })
  const engine: Engine = { folder, handle: new EngineHandle({ folder }) }
  engines.push(engine)
  await engine.handle.start()
  return engine
}

/** Leaves the schema and takes every row. */
const empty = Effect.flatMap(
  SqlClient,
  (sql) => sql`
    DO $$ DECLARE name text; BEGIN
      -- No trigger keeps a count of what goes away.
      SET LOCAL session_replication_role = replica;
      FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'castellan' AND tablename <> 'migrations' LOOP
        EXECUTE format('DELETE FROM castellan.%I', name);
      END LOOP;
    END $$`
)

/** The connection to an empty database. */
export const layer: Layer.Layer<PgClient.PgClient | SqlClient, SqlError> = Layer.unwrap(
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => idle.pop() ?? (await started())),
      (engine) =>
        Effect.provide(empty, connection(engine.handle)).pipe(
          Effect.andThen(Effect.sync(() => idle.push(engine))),
          Effect.orDie
        )
    ),
    ({ handle }) => connection(handle, applicationRole)
  )
)
