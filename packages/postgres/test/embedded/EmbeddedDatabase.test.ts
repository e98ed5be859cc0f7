/** The embedded database: kept, durable, one process at a time, one session that finds nothing of the one before. */
import { StorageUnavailable } from "@castellan/core/error/StorageUnavailable"
import { Transaction } from "@castellan/core/transaction/Transaction"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as References from "effect/References"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { SqlClient } from "effect/sql/SqlClient"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import { applicationRole } from "../../src/database/PostgresDatabase.ts"
import * as PostgresTransaction from "../../src/database/PostgresTransaction.ts"
import * as Query from "../../src/database/Query.ts"
import * as EmbeddedDatabase from "../../src/embedded/EmbeddedDatabase.ts"
import { connection } from "../../src/embedded/internal/EngineConnection.ts"
import type { EngineOptions } from "../../src/embedded/internal/EngineMessage.ts"
import { EngineHandle } from "../../src/embedded/internal/EngineHandle.ts"

const live = <A, E>(name: string, test: Effect.Effect<A, E>) =>
  it.live(name, () => Effect.provideService(test, References.MinimumLogLevel, "Error"), 180_000)

/** A folder of a database, made already. */
const folder = Effect.acquireRelease(
  Effect.promise(async () => {
    const made = await mkdtemp(join(tmpdir(), "castellan-embedded-"))
    await cp(inject("embeddedTemplate"), made, { recursive: true })
    return made
  }),
  (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
)

const emptyFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "castellan-embedded-"))),
  (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
)

const engineOf = (place: string, options: Partial<EngineOptions> = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => new EngineHandle({ folder: place, ...options })),
    (handle) => Effect.promise(() => handle.stop())
  )

const withSql = <A, E>(use: (sql: SqlClient) => Effect.Effect<A, E>) => Effect.flatMap(SqlClient, use)

/** As the owner, in tables of the test's own. */
const owned = <A, E>(handle: EngineHandle, use: (sql: SqlClient) => Effect.Effect<A, E>) =>
  Effect.provide(withSql(use), connection(handle))

/** SQL that makes a file in the database's folder, as soon as it is carried out. */
const saying = (name: string) =>
  `EXECUTE format('COPY (SELECT 1) TO %L', current_setting('data_directory') || '/${name}');`

/** SQL that goes on until a file is in the database's folder. */
const until = (name: string) => `WHILE pg_stat_file('${name}', true) IS NULL LOOP END LOOP;`

/** Waits until a file is in the folder of a database. */
const appears = (place: string, name: string) =>
  Effect.sync(() => existsSync(join(place, "data", name))).pipe(
    Effect.repeat({ until: (isThere) => isThere, schedule: Schedule.spaced("5 millis") })
  )

describe("the embedded database", () => {
  live(
    "is made where there is none, works as the application, and is found again with what was written",
    Effect.gen(function* () {
      const place = join(yield* emptyFolder, "not", "there")
      const layer = EmbeddedDatabase.layer({ folder: place })
      const write = withSql((sql) =>
        Effect.gen(function* () {
          yield* sql`SELECT castellan.enter_deployment()`
          yield* sql`INSERT INTO castellan.rate_limits
            SELECT '11111111-1111-4111-8111-111111111111', 1, 2, 3 WHERE (SELECT castellan.enter_deployment())`
          return yield* sql`SELECT current_user AS name, current_setting('fsync') AS fsync`
        })
      )
      const [first] = yield* Effect.provide(write, layer)
      assert.deepStrictEqual({ ...first }, { name: applicationRole, fsync: "on" })
      const read = withSql(
        (sql) => sql`SELECT level FROM castellan.rate_limits WHERE (SELECT castellan.enter_deployment())`
      )
      assert.lengthOf(yield* Effect.provide(read, layer), 1)
    }).pipe(Effect.scoped)
  )

  live(
    "lets one process at a time at a folder, and says which folder it is about",
    Effect.gen(function* () {
      const place = yield* folder
      const another = Effect.suspend(() => Effect.provide(Effect.void, EmbeddedDatabase.layer({ folder: place })))
      yield* Effect.provide(
        Effect.gen(function* () {
          const error = yield* Effect.flip(another)
          assert.strictEqual(error._tag, "FolderInUse")
          assert.include(error.message, place)
        }),
        EmbeddedDatabase.layer({ folder: place })
      )
      yield* another
    }).pipe(Effect.scoped)
  )

  live(
    "says what is wrong with a folder that it cannot use",
    Effect.gen(function* () {
      const place = yield* emptyFolder
      const failure = (of: string) =>
        Effect.map(
          Effect.flip(Effect.provide(Effect.void, EmbeddedDatabase.layer({ folder: of }))),
          (error) => `${error._tag}: ${error.message}`
        )
      yield* Effect.promise(() => writeFile(join(place, "file"), ""))
      assert.match(yield* failure(join(place, "file")), /^FolderUnusable: .*file/)
      yield* Effect.promise(() => mkdir(join(place, "old", "data"), { recursive: true }))
      yield* Effect.promise(() => writeFile(join(place, "old", "data", "PG_VERSION"), "17\n"))
      assert.match(yield* failure(join(place, "old")), /^FolderUnusable: .*PostgreSQL 17.*export it/)
    }).pipe(Effect.scoped)
  )

  live(
    "a first start that was cut off leaves nothing in the way of the next",
    Effect.gen(function* () {
      const place = yield* emptyFolder
      yield* Effect.promise(() => mkdir(join(place, "data.new", "base"), { recursive: true }))
      yield* Effect.promise(() => writeFile(join(place, "data.new", "PG_VERSION"), "18\n"))
      yield* Effect.provide(Effect.void, EmbeddedDatabase.layer({ folder: place }))
    }).pipe(Effect.scoped)
  )

  live(
    "a session finds nothing of the one before: no transaction, no setting, no prepared statement, not its role",
    Effect.gen(function* () {
      const handle = yield* engineOf(yield* folder)
      yield* owned(handle, (sql) =>
        Effect.gen(function* () {
          yield* sql`CREATE TABLE public.numbers (number integer)`
          yield* sql`SET castellan.organization = 'x'`
          yield* sql`PREPARE mine AS SELECT 1`
          yield* sql`BEGIN`
          yield* sql`INSERT INTO public.numbers VALUES (1)`
        })
      )
      const [found] = yield* Effect.provide(
        withSql(
          (sql) => sql`
          SELECT current_user AS name, coalesce(current_setting('castellan.organization', true), '') AS setting,
            (SELECT count(*)::int FROM pg_prepared_statements WHERE name = 'mine') AS prepared`
        ),
        connection(handle, applicationRole)
      )
      assert.deepStrictEqual({ ...found }, { name: applicationRole, setting: "", prepared: 0 })
      assert.lengthOf(yield* owned(handle, (sql) => sql`SELECT FROM public.numbers`), 0)
    }).pipe(Effect.scoped)
  )

  live(
    "carries texts and answers of many megabytes, and the order of what is asked at once",
    Effect.gen(function* () {
      const handle = yield* engineOf(yield* folder)
      yield* owned(handle, (sql) =>
        Effect.gen(function* () {
          const long = "ä".repeat(3_000_000)
          const [echo] = yield* sql<{ readonly text: string }>`SELECT ${long}::text AS text`
          assert.isTrue(echo?.text === long)
          const many = yield* sql`SELECT number, repeat('x', 100) AS text FROM generate_series(1, 50000) AS number`
          assert.lengthOf(many, 50_000)
          const answers = yield* Effect.forEach(
            Array.from({ length: 200 }, (_, index) => index),
            (index) => sql<{ readonly number: number }>`SELECT ${index}::int AS number`,
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(
            answers.map((rows) => rows[0]?.number),
            answers.map((_, index) => index)
          )
        })
      )
    }).pipe(Effect.scoped)
  )

  live(
    "does not keep the thread of the service while a statement runs, and goes on after one that was given up",
    Effect.gen(function* () {
      const place = yield* folder
      const handle = yield* engineOf(place)
      yield* owned(handle, (sql) =>
        Effect.gen(function* () {
          // It ends when a file is there, which is made meanwhile by the thread that it must not keep.
          const slow = yield* Effect.forkChild(sql.unsafe(`DO $$ BEGIN ${saying("begun")} ${until("go-on")} END $$`), {
            startImmediately: true
          })
          yield* appears(place, "begun")
          assert.isUndefined(slow.pollUnsafe())
          yield* Fiber.interrupt(slow)
          yield* Effect.promise(() => writeFile(join(place, "data", "go-on"), ""))
          assert.deepStrictEqual(
            (yield* sql`SELECT 1 AS one`).map((row) => ({ ...row })),
            [{ one: 1 }]
          )
        })
      )
    }).pipe(Effect.scoped)
  )

  live(
    "its log stays short and its tables small, while it is in use and in between transactions",
    Effect.gen(function* () {
      const handle = yield* engineOf(yield* folder, { maintenanceInterval: 1 })
      yield* Effect.provide(
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const name = Effect.map(sql<{ readonly name: string }>`SELECT current_user AS name`, (rows) => rows[0]?.name)
          // It keeps the thread for longer than a look is away: once it has ended, one is due before whatever comes next.
          const untilDue = sql.unsafe(`DO $$ DECLARE due timestamptz := clock_timestamp() + '10 ms'; BEGIN
            WHILE clock_timestamp() < due LOOP NULL; END LOOP; END $$`)
          // None is while a transaction goes on.
          const seen = yield* sql.withTransaction(
            Effect.andThen(
              sql`SELECT set_config('castellan.test', 'kept', true)`,
              Effect.andThen(Effect.repeat(untilDue, { times: 5 }), name)
            )
          )
          yield* Effect.repeat(untilDue, { times: 5 })
          assert.deepStrictEqual([seen, yield* name], [applicationRole, applicationRole])
        }),
        connection(handle, applicationRole)
      )
      yield* owned(handle, (sql) =>
        Effect.gen(function* () {
          const state = sql<{ readonly log: number; readonly dead: number }>`
            SELECT (pg_current_wal_lsn() - (SELECT redo_lsn FROM pg_control_checkpoint()))::float8 AS log,
              (SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'numbers')::float8 AS dead`
          yield* sql`CREATE TABLE public.numbers (number integer, text text)`
          yield* sql`INSERT INTO public.numbers SELECT n, repeat('x', 1000) FROM generate_series(1, 10000) n`
          for (let time = 0; time < 5; time++) yield* sql`UPDATE public.numbers SET text = text || 'y'`
          // A look comes between any two of these; what it did, the database's own counts tell and nothing else.
          const [found] = yield* Effect.repeat(state, {
            until: ([row]) => row !== undefined && row.dead === 0 && row.log < 32 * 1024 * 1024
          })
          assert.isDefined(found)
        })
      ).pipe(Effect.timeout("150 seconds"))
    }).pipe(Effect.scoped)
  )

  live(
    "after a crash of the thread, the statement fails, and the next finds everything that was committed",
    Effect.gen(function* () {
      const place = yield* folder
      const handle = yield* engineOf(place)
      yield* Effect.provide(
        Effect.gen(function* () {
          const sql = yield* SqlClient
          yield* sql`CREATE TABLE public.numbers (number integer)`
          yield* sql`INSERT INTO public.numbers VALUES (1)`
          const transaction = yield* Transaction
          const slow = yield* Effect.forkChild(
            Effect.exit(
              transaction.run(
                Effect.andThen(
                  Query.run(sql`INSERT INTO public.numbers VALUES (2)`),
                  Query.run(sql.unsafe(`DO $$ BEGIN ${saying("begun")} ${until("never")} END $$`))
                )
              )
            ),
            { startImmediately: true }
          )
          yield* appears(place, "begun")
          yield* Effect.promise(() => handle.crash())
          const exit = yield* Fiber.join(slow)
          assert.isTrue(
            Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof StorageUnavailable,
            "told as storage that is not there"
          )
          assert.deepStrictEqual(
            (yield* sql<{ readonly number: number }>`SELECT number FROM public.numbers`).map(({ number }) => number),
            [1]
          )
        }),
        PostgresTransaction.layer.pipe(Layer.provideMerge(connection(handle)))
      )
    }).pipe(Effect.scoped)
  )

  live(
    "what was answered as committed is there after kill -9 of the process, and so is the folder's copy",
    Effect.gen(function* () {
      const place = yield* folder
      const answered = yield* Effect.promise(async () => {
        const child = spawn(process.execPath, [join(import.meta.dirname, "../support/EmbeddedWriter.ts"), place], {
          stdio: ["ignore", "pipe", "inherit"]
        })
        let last = 0
        let output = ""
        for await (const chunk of child.stdout) {
          output += String(chunk)
          last = Math.max(...output.split("\n").slice(0, -1).map(Number))
          if (last >= 100) child.kill("SIGKILL")
        }
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
        return last
      })
      assert.isAtLeast(answered, 100)
      const copied = yield* emptyFolder
      yield* Effect.promise(() => cp(place, copied, { recursive: true }))
      for (const one of [copied, place]) {
        const handle = yield* engineOf(one)
        const rows = yield* owned(
          handle,
          (sql) => sql<{ readonly number: number }>`SELECT number FROM public.numbers ORDER BY number`
        )
        assert.isAtLeast(rows.length, answered)
        assert.deepStrictEqual(
          rows.map(({ number }) => number),
          rows.map((_, index) => index + 1)
        )
      }
    }).pipe(Effect.scoped)
  )
})
