/**
 * Brings a database to the schema of this version: by several servers at once as by one, each step whole or not at all.
 * A database that a newer version has worked on is refused, since its rows may mean what this version cannot know.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Migration } from "./Migration.ts"
import { migrations } from "./Migrations.ts"

/** The database is not at the schema of this version, and cannot be brought there. */
export class SchemaMismatch extends Schema.TaggedError<SchemaMismatch>()("SchemaMismatch", {
  message: Schema.String
}) {}

/** Any number that nobody else takes an advisory lock on: the letters "castella". */
const lock = 0x63617374656cn

interface Applied {
  readonly id: number
  readonly name: string
}

const applied = (sql: SqlClient): Effect.Effect<ReadonlyArray<Applied>, SqlError> =>
  sql<Applied>`SELECT id, name FROM castellan.migrations ORDER BY id`

/** The steps that a database still lacks; fails when it has one that this version does not know. */
export const pending = (
  known: ReadonlyArray<Migration>,
  done: ReadonlyArray<Applied>
): Effect.Effect<ReadonlyArray<Migration>, SchemaMismatch> => {
  const names = new Map(known.map((step) => [step.id, step.name]))
  const foreign = done.find((step) => names.get(step.id) !== step.name)
  if (foreign !== undefined) {
    const message = `the database has the migration ${foreign.id} (${foreign.name}), which this version does not know: start a newer version`
    return Effect.fail(new SchemaMismatch({ message }))
  }
  const ids = new Set(done.map((step) => step.id))
  return Effect.succeed(known.filter((step) => !ids.has(step.id)))
}

/** Applies the steps that are missing, as the owner of the schema; answers which. */
export const migrate: Effect.Effect<ReadonlyArray<Migration>, SchemaMismatch | SqlError, SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        // Other servers that start wait here until the schema is complete.
        yield* sql`SELECT pg_advisory_xact_lock(${lock})`
        yield* sql`CREATE SCHEMA IF NOT EXISTS castellan`
        yield* sql`CREATE TABLE IF NOT EXISTS castellan.migrations (
          id integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
        const missing = yield* pending(migrations, yield* applied(sql))
        for (const step of missing) {
          for (const statement of step.statements) yield* sql.unsafe(statement)
          yield* sql`INSERT INTO castellan.migrations (id, name) VALUES (${step.id}, ${step.name})`
        }
        if (missing.length > 0) yield* sql`GRANT SELECT ON castellan.migrations TO castellan_application`
        return missing
      })
    )
  }
)

/** Fails unless the database is at the schema of this version; for logins that may not change it. */
export const requireCurrent: Effect.Effect<void, SchemaMismatch | SqlError, SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient
  const [found] = yield* sql<{ readonly exists: boolean }>`
    SELECT to_regclass('castellan.migrations') IS NOT NULL AS exists`
  const missing = yield* pending(migrations, found?.exists === true ? yield* applied(sql) : [])
  const [first] = missing
  if (first === undefined) return
  const message = `the database lacks the migration ${first.id} (${first.name}): apply the migrations as its owner`
  return yield* new SchemaMismatch({ message })
})
