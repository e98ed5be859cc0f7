/**
 * Brings a database to the schema of this version: by several servers that start at once as by one, each step whole or
 * not at all, and without keeping those who read waiting for long. A database that a newer version has worked on is
 * refused, since its rows may mean what this version cannot know.
 *
 * Source: issue "Everything kept", §1.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { isLostRace } from "../database/DatabaseFailure.ts"
import { checksumOf, type IndexMigration, type Migration, type TransactionalMigration } from "./Migration.ts"
import { migrations } from "./Migrations.ts"

/** The database is not at the schema of this version, and cannot be brought there. */
export class SchemaMismatch extends Schema.TaggedError<SchemaMismatch>()("SchemaMismatch", {
  message: Schema.String
}) {}

/** A step that a database has. */
export interface AppliedMigration {
  readonly id: number
  readonly name: string
  readonly checksum: string
}

/** Any number that nobody else takes an advisory lock on: the letters "castella". */
const lock = 0x63617374656cn

/** How long a step waits for a table that is in use; whoever wants to read it meanwhile waits behind the step. */
const lockTimeout = Duration.millis(500)

/** How often a step is tried whose table is in use, for some minutes in all. */
const attempts = 60

/** How long another server's step is waited for before looking again. */
const turn = Duration.millis(50)

const applied = (sql: SqlClient): Effect.Effect<ReadonlyArray<AppliedMigration>, SqlError> =>
  sql<AppliedMigration>`SELECT id, name, checksum FROM castellan.migrations ORDER BY id`

/** The steps that a database has: none where it has never been migrated. */
const appliedOrNone = Effect.fnUntraced(function* (sql: SqlClient) {
  const [found] = yield* sql<{ readonly exists: boolean }>`
    SELECT to_regclass('castellan.migrations') IS NOT NULL AS exists`
  return found?.exists === true ? yield* applied(sql) : []
})

/** The steps that a database still lacks; fails when it has one that this version does not know. */
export const pending = (
  known: ReadonlyArray<Migration>,
  done: ReadonlyArray<AppliedMigration>
): Effect.Effect<ReadonlyArray<Migration>, SchemaMismatch> => {
  const steps = new Map(known.map((step) => [step.id, step]))
  for (const { checksum, id, name } of done) {
    const step = steps.get(id)
    if (step === undefined) {
      const message = `the database has the migration ${id} (${name}), which this version does not know: start a newer version`
      return Effect.fail(new SchemaMismatch({ message }))
    }
    if (step.name !== name || checksumOf(step) !== checksum) {
      const other =
        step.name === name ? "has other statements than in this version" : `is "${step.name}" in this version`
      const message = `the database's migration ${id} (${name}) ${other}: another build has worked on it`
      return Effect.fail(new SchemaMismatch({ message }))
    }
  }
  const ids = new Set(done.map((step) => step.id))
  return Effect.succeed(known.filter((step) => !ids.has(step.id)))
}

const record = (sql: SqlClient, step: Migration) =>
  sql`INSERT INTO castellan.migrations (id, name, checksum) VALUES (${step.id}, ${step.name}, ${checksumOf(step)})`

/** What every database has before its first step: the list of its steps. */
const prepare = Effect.fnUntraced(function* (sql: SqlClient) {
  yield* sql`CREATE SCHEMA IF NOT EXISTS castellan`
  yield* sql`CREATE TABLE IF NOT EXISTS castellan.migrations (
    id integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`
})

const carryOut = Effect.fnUntraced(function* (sql: SqlClient, step: TransactionalMigration) {
  yield* sql.unsafe(`SET LOCAL lock_timeout = ${Duration.toMillis(lockTimeout)}`)
  for (const statement of step.statements) yield* sql.unsafe(statement)
  yield* record(sql, step)
})

/** Makes indexes while the tables are in use. What an attempt that was cut off has left is thrown away. */
const index = Effect.fnUntraced(function* (sql: SqlClient, step: IndexMigration) {
  for (const { name, on } of step.indexes) {
    const [found] = yield* sql<{ readonly isValid: boolean }>`
      SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass(${`castellan.${name}`})`
    if (found?.isValid === true) continue
    if (found !== undefined) yield* sql.unsafe(`DROP INDEX CONCURRENTLY castellan.${name}`)
    yield* sql.unsafe(`CREATE INDEX CONCURRENTLY ${name} ${on}`)
  }
  yield* record(sql, step)
})

/** Where an attempt has got to. */
type Progress =
  /** Another server is at work. */
  | "busy"
  /** There is nothing left to do. */
  | "done"
  /** A step that is not for a transaction comes next. */
  | IndexMigration
  /** A step was carried out. */
  | TransactionalMigration

/**
 * Carries out the next step where it is one for a transaction. Whoever has the lock has it for one step: the lock is
 * only tried for, since a statement that waits for it would keep an index from being finished, and wait for ever.
 */
const advance = (sql: SqlClient, known: ReadonlyArray<Migration>) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const [held] = yield* sql<{ readonly mine: boolean }>`SELECT pg_try_advisory_xact_lock(${lock}) AS mine`
      if (held?.mine !== true) return "busy" as const
      yield* prepare(sql)
      const [next] = yield* pending(known, yield* applied(sql))
      if (next === undefined) return "done" as const
      if ("statements" in next) yield* carryOut(sql, next)
      return next
    })
  )

/** Carries out a step that is not for a transaction. It takes the lock for its connection, the only one there is. */
const advanceIndexes = Effect.fnUntraced(function* (
  sql: SqlClient,
  known: ReadonlyArray<Migration>,
  step: IndexMigration
) {
  const [held] = yield* sql<{ readonly mine: boolean }>`SELECT pg_try_advisory_lock(${lock}) AS mine`
  if (held?.mine !== true) return "busy" as const
  return yield* Effect.gen(function* () {
    const [next] = yield* pending(known, yield* applied(sql))
    if (next?.id !== step.id) return "busy" as const
    yield* index(sql, step)
    return step
  }).pipe(Effect.ensuring(Effect.ignore(sql`SELECT pg_advisory_unlock(${lock})`)))
})

const isLocked = (error: SchemaMismatch | SqlError): boolean =>
  error._tag === "SqlError" && (error.reason._tag === "LockTimeoutError" || isLostRace(error))

/** Carries out the next step, whatever it is. A table that is in use is tried for again later. */
const attempt = (
  sql: SqlClient,
  known: ReadonlyArray<Migration>,
  number: number
): Effect.Effect<Progress, SchemaMismatch | SqlError> =>
  Effect.gen(function* () {
    const progress = yield* advance(sql, known)
    if (typeof progress === "string" || "statements" in progress) return progress
    return yield* advanceIndexes(sql, known, progress)
  }).pipe(
    Effect.catchIf(
      (error) => number < attempts && isLocked(error),
      () =>
        Effect.logInfo("a migration waits for a table that is in use").pipe(
          Effect.andThen(Effect.sleep(Math.min(5_000, 250 * 2 ** number))),
          Effect.andThen(attempt(sql, known, number + 1))
        )
    )
  )

/**
 * Applies the steps of a list that are missing, as the owner of the schema; answers which were applied by this call.
 * The client has one connection.
 */
export const migrateTo = Effect.fn("Migrator.migrateTo")(function* (known: ReadonlyArray<Migration>) {
  const sql = yield* SqlClient
  const mine: Array<Migration> = []
  // Servers that have nothing to do do not wait for anybody.
  if ((yield* pending(known, yield* appliedOrNone(sql))).length === 0) return mine
  for (;;) {
    const [took, progress] = yield* Effect.timed(attempt(sql, known, 0))
    if (progress === "done") return mine
    if (progress === "busy") {
      yield* Effect.sleep(turn)
      continue
    }
    mine.push(progress)
    yield* Effect.logInfo(
      `migration ${progress.id} (${progress.name}) is applied, after ${Math.round(Duration.toMillis(took))} ms`
    )
  }
})

/** Applies the steps that are missing, as the owner of the schema; answers which were applied by this call. */
export const migrate: Effect.Effect<ReadonlyArray<Migration>, SchemaMismatch | SqlError, SqlClient> = migrateTo(
  migrations
)

/** Fails unless the database is at the schema of this version; for logins that may not change it. */
export const requireCurrent: Effect.Effect<void, SchemaMismatch | SqlError, SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient
  const [first] = yield* pending(migrations, yield* appliedOrNone(sql))
  if (first === undefined) return
  const message = `the database lacks the migration ${first.id} (${first.name}): apply the migrations as its owner`
  return yield* new SchemaMismatch({ message })
})
