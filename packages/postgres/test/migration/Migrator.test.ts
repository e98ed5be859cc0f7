/** Migrations: by several servers at once, whole or not at all, refused where they do not fit, in nobody's way. */
import { Execution, ExecutionStatus } from "@castellan/core/sandcastle/Execution"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as SandcastleSample from "@castellan/testing/fixture/SandcastleSample"
import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as References from "effect/References"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../../src/database/Document.ts"
import { checksumOf, type Migration } from "../../src/migration/Migration.ts"
import { migrations } from "../../src/migration/Migrations.ts"
import { migrate, migrateTo, requireCurrent } from "../../src/migration/Migrator.ts"
import { asSuperuser, type TestServer } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const thing: Migration = {
  id: 1,
  name: "thing",
  statements: ["CREATE TABLE castellan.things (number integer)", "INSERT INTO castellan.things VALUES (1), (1)"]
}

const live = <A, E>(name: string, test: Effect.Effect<A, E>) =>
  it.live(name, () => Effect.provideService(test, References.MinimumLogLevel, "Error"), 300_000)

/** A new database, with no schema in it. */
const bare = (server: TestServer) => TestDatabase.database(server, "template1")

const things = Effect.flatMap(SqlClient, (sql) => sql<{ readonly number: number }>`SELECT number FROM castellan.things`)

for (const server of TestDatabase.servers()) {
  describe(`migrations (${server.name})`, () => {
    live(
      "eight servers that start at once apply each step once",
      Effect.gen(function* () {
        const database = yield* bare(server)
        const applied = yield* Effect.all(
          Array.from({ length: 8 }, () => asSuperuser(server, database, migrate)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          applied
            .flat()
            .map(({ id }) => id)
            .toSorted((one, other) => one - other),
          migrations.map(({ id }) => id)
        )
        assert.deepStrictEqual(yield* asSuperuser(server, database, migrate), [])
        yield* asSuperuser(server, database, requireCurrent)
      }).pipe(Effect.scoped)
    )

    live(
      "eight servers that start at once make an index once, on a table that is in use",
      Effect.gen(function* () {
        const database = yield* bare(server)
        const indexed: Migration = {
          id: 2,
          name: "index",
          indexes: [{ name: "things_number", on: "ON castellan.things (number)" }]
        }
        yield* asSuperuser(server, database, migrateTo([thing]))
        const applied = yield* Effect.all(
          Array.from({ length: 8 }, () => asSuperuser(server, database, migrateTo([thing, indexed]))),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(applied.flat(), [indexed])
      }).pipe(Effect.scoped)
    )

    live(
      "executions that were without an end before it was noted are found, whatever they hold",
      Effect.gen(function* () {
        const database = yield* bare(server)
        const castle = { id: SandcastleId.make("castle"), organizationId: yield* Sample.organizationId }
        // Nothing in it that PostgreSQL would read as JSON, and what looks like a status.
        const input = 'a\u0000b\ud800 "status":{"_tag":"Running"}'
        const status = ExecutionStatus.cases.Completed.make({ endedAt: DateTime.makeUnsafe(0) })
        const [running, ended] = [
          yield* SandcastleSample.execution(castle, { input }),
          yield* SandcastleSample.execution(castle, { input, status })
        ]
        yield* asSuperuser(
          server,
          database,
          Effect.gen(function* () {
            const sql = yield* SqlClient
            yield* migrateTo(migrations.slice(0, 12))
            const document = Document.make(Execution)
            for (const one of [running, ended]) {
              yield* sql`
                INSERT INTO castellan.executions (organization_id, id, sandcastle_id, created_at, recorded_at, document)
                VALUES (${one.organizationId}, ${one.id}, ${one.sandcastleId}, now(), now(), ${document.encode(one)})`
            }
            yield* migrate
            const found = yield* sql<{ readonly id: string }>`SELECT id FROM castellan.executions WHERE is_running`
            assert.deepStrictEqual(
              found.map(({ id }) => id),
              [running.id]
            )
          })
        )
      }).pipe(Effect.scoped, Effect.provide(layerCrypto))
    )

    live(
      "a step that fails leaves nothing behind, and can be mended",
      Effect.gen(function* () {
        const database = yield* bare(server)
        const broken: Migration = { ...thing, statements: [...thing.statements, "SELECT 1 / 0"] }
        const exit = yield* Effect.exit(asSuperuser(server, database, migrateTo([broken])))
        assert.strictEqual(exit._tag, "Failure")
        assert.deepStrictEqual(yield* asSuperuser(server, database, migrateTo([thing])), [thing])
        assert.lengthOf(yield* asSuperuser(server, database, things), 2)
      }).pipe(Effect.scoped)
    )

    live(
      "an index that was cut off is made anew",
      Effect.gen(function* () {
        const database = yield* bare(server)
        const unique: Migration = {
          id: 2,
          name: "unique",
          indexes: [{ name: "things_number", on: "ON castellan.things (number)" }]
        }
        const valid = Effect.flatMap(
          SqlClient,
          (sql) =>
            sql`SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('castellan.things_number')`
        )
        yield* asSuperuser(server, database, migrateTo([thing]))
        // What a server leaves that ends in the middle of it: the index is there, and serves nobody.
        const cutOff = Effect.flatMap(
          SqlClient,
          (sql) => sql`CREATE UNIQUE INDEX CONCURRENTLY things_number ON castellan.things (number)`
        )
        assert.strictEqual((yield* Effect.exit(asSuperuser(server, database, cutOff)))._tag, "Failure")
        assert.deepStrictEqual(yield* asSuperuser(server, database, valid), [{ valid: false }])
        yield* asSuperuser(server, database, migrateTo([thing, unique]))
        assert.deepStrictEqual(yield* asSuperuser(server, database, valid), [{ valid: true }])
      }).pipe(Effect.scoped)
    )

    live(
      "a database that a newer version has worked on is refused, and so is one with another step of the same number",
      Effect.gen(function* () {
        const database = yield* TestDatabase.database(server)
        const refusal = (effect: typeof requireCurrent) =>
          Effect.map(Effect.flip(asSuperuser(server, database, effect)), (error) => `${error._tag}: ${error.message}`)
        const change = (statement: string) =>
          asSuperuser(
            server,
            database,
            Effect.flatMap(SqlClient, (sql) => sql.unsafe(statement))
          )

        yield* change("INSERT INTO castellan.migrations VALUES (9999, 'tomorrow', '')")
        for (const effect of [requireCurrent, Effect.asVoid(migrate)]) {
          assert.match(yield* refusal(effect), /^SchemaMismatch: .*9999 \(tomorrow\).*newer version/)
        }
        yield* change("DELETE FROM castellan.migrations WHERE id = 9999")
        yield* change("UPDATE castellan.migrations SET checksum = 'changed' WHERE id = 2")
        assert.match(yield* refusal(Effect.asVoid(migrate)), /^SchemaMismatch: .*migration 2 .*another build/)
        yield* change("DELETE FROM castellan.migrations WHERE id >= 2")
        assert.match(yield* refusal(requireCurrent), /^SchemaMismatch: .*lacks the migration 2/)
      }).pipe(Effect.scoped)
    )

    live(
      "a step that needs a table that is in use keeps its readers waiting for a moment, and is done in the end",
      Effect.gen(function* () {
        const database = yield* bare(server)
        const altered: Migration = {
          id: 2,
          name: "altered",
          statements: ["ALTER TABLE castellan.things ADD name text"]
        }
        yield* asSuperuser(server, database, migrateTo([thing]))
        const holds = yield* Deferred.make<void>()
        const released = yield* Deferred.make<void>()
        const holding = yield* Effect.forkChild(
          asSuperuser(
            server,
            database,
            Effect.flatMap(SqlClient, (sql) =>
              sql.withTransaction(
                Effect.andThen(things, Effect.andThen(Deferred.succeed(holds, undefined), Deferred.await(released)))
              )
            )
          )
        )
        yield* Deferred.await(holds)
        const migrating = yield* Effect.forkChild(asSuperuser(server, database, migrateTo([thing, altered])))
        yield* asSuperuser(
          server,
          database,
          Effect.gen(function* () {
            const sql = yield* SqlClient
            const waiting = sql`
              SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
            yield* sql`SET lock_timeout = '1s'`
            // Three times, it waits for the table; and each time, whoever reads is answered within a second.
            for (let time = 0; time < 3; time++) {
              yield* Effect.repeat(waiting, { until: (rows) => rows.length > 0 })
              yield* things
            }
          })
        )
        assert.isUndefined(migrating.pollUnsafe())
        yield* Deferred.succeed(released, undefined)
        yield* Fiber.join(holding)
        assert.deepStrictEqual(yield* Fiber.join(migrating), [altered])
      }).pipe(Effect.scoped)
    )
  })
}

describe("the list of steps", () => {
  it("is numbered without a gap, and names each step once", () => {
    assert.deepStrictEqual(
      migrations.map(({ id }) => id),
      migrations.map((_, index) => index + 1)
    )
    assert.lengthOf(new Set(migrations.map(({ name }) => name)), migrations.length)
  })

  it("tells a changed step from one that is set in other lines", () => {
    assert.strictEqual(
      checksumOf({ id: 1, name: "a", statements: ["SELECT 1,\n  2"] }),
      checksumOf({ id: 1, name: "a", statements: ["SELECT 1, 2"] })
    )
    assert.notStrictEqual(
      checksumOf({ id: 1, name: "a", statements: ["SELECT 1"] }),
      checksumOf({ id: 1, name: "a", statements: ["SELECT 2"] })
    )
  })
})
