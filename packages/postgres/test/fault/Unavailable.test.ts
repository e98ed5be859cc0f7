/**
 * A server that does not serve: every request of it ends in time as `StorageUnavailable`, no connection is lost to it,
 * and it is used again as soon as it serves, without anything being started anew.
 */
import { StorageUnavailable } from "@castellan/core/error/StorageUnavailable"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { RoleStore } from "@castellan/core/role/RoleStore"
import { Transaction } from "@castellan/core/transaction/Transaction"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it } from "@effect/vitest"
import { Cause, type Duration, Effect, Exit, Fiber, Layer, Redacted, References, Schedule } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import * as PostgresTransaction from "../../src/database/PostgresTransaction.ts"
import * as PostgresRoleStore from "../../src/role/PostgresRoleStore.ts"
import { asSuperuser, serviceLogin, type TestServer } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Proxy from "./Proxy.ts"

/** How the test reaches behind the service's back. */
interface Situation {
  readonly organizationId: OrganizationId
  /** As the superuser, in the database of the service. */
  readonly behind: <A, E>(use: (sql: SqlClient) => Effect.Effect<A, E>) => Effect.Effect<A>
  readonly database: string
  /** As the superuser, in another database. */
  readonly beside: (statement: string) => Effect.Effect<unknown>
  /** A role, written in a transaction. */
  readonly write: Effect.Effect<void, never, RoleStore | Transaction | Crypto>
  readonly read: Effect.Effect<number, never, RoleStore>
}

type Crypto = Layer.Success<typeof Deployment.layerCrypto>
type Services = Crypto | RoleStore | Transaction | SqlClient

const isUnavailable = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.every(
    (reason) =>
      Cause.isInterruptReason(reason) || (Cause.isDieReason(reason) && reason.defect instanceof StorageUnavailable)
  )

/** A request has its time, after which it is told so, whatever the database does. */
const inTime = Effect.timeout("8 seconds")

const isTimeout = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Cause.isTimeoutError(Cause.squash(exit.cause))

/** Holds an effect to end as unavailable storage within a time. */
const unavailable = <A, E, R>(effect: Effect.Effect<A, E, R>, within: Duration.Input = "60 seconds") =>
  Effect.map(Effect.timeout(Effect.exit(effect), within), (exit) =>
    assert.isTrue(isUnavailable(exit), Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "it succeeded")
  )

/** Holds an effect to succeed, without anything being started anew. */
const recovers = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.sandbox(effect).pipe(Effect.retry(Schedule.spaced("20 millis")), Effect.timeout("60 seconds"))

const situation = (server: TestServer, database: string) =>
  Effect.gen(function* () {
    const organizationId = yield* Sample.organizationId
    return {
      organizationId,
      database,
      behind: (use) => Effect.orDie(asSuperuser(server, database, Effect.flatMap(SqlClient, use))),
      beside: (statement) =>
        Effect.orDie(
          asSuperuser(
            server,
            "postgres",
            Effect.flatMap(SqlClient, (sql) => sql.unsafe(statement))
          )
        ),
      write: Effect.gen(function* () {
        const role = yield* Sample.role(organizationId)
        const transaction = yield* Transaction
        yield* transaction.run(RoleStore.use((store) => store.save(role)))
      }),
      read: Effect.map(
        RoleStore.use((store) => store.list(organizationId)),
        (roles) => roles.length
      )
    } satisfies Situation
  })

interface Given {
  readonly connections?: number
  readonly statementTimeout?: Duration.Input
}

/** A test with a database of its own, whose service reaches it through a proxy. */
const faulted = (
  server: TestServer,
  name: string,
  given: Given,
  test: (situation: Situation, proxy: Proxy.Proxy) => Effect.Effect<void, unknown, Services>
) =>
  it.live(
    name,
    () =>
      Effect.gen(function* () {
        const database = yield* TestDatabase.database(server)
        const url = new URL(Redacted.value(TestDatabase.serviceUrl(server, database)))
        const proxy = yield* Proxy.to(Number(url.port === "" ? 5432 : url.port))
        url.hostname = "127.0.0.1"
        url.port = String(proxy.port)
        const connections = PostgresDatabase.layer({
          url: Redacted.make(url.href),
          maxConnections: given.connections ?? 4,
          ...(given.statementTimeout === undefined ? {} : { statementTimeout: given.statementTimeout })
        })
        yield* Effect.flatMap(situation(server, database), (found) => test(found, proxy)).pipe(
          Effect.provide(
            Layer.mergeAll(PostgresRoleStore.layer, PostgresTransaction.layer, Deployment.layerCrypto).pipe(
              Layer.provideMerge(connections)
            )
          )
        )
      }).pipe(
        Effect.scoped,
        Effect.provide(Deployment.layerCrypto),
        Effect.provideService(References.MinimumLogLevel, "Fatal")
      ),
    180_000
  )

const many = <A, E, R>(effect: Effect.Effect<A, E, R>, count = 20) =>
  Effect.forEach(Array.from({ length: count }), () => Effect.exit(effect), { concurrency: "unbounded" })

for (const server of TestDatabase.servers()) {
  describe(`a server that does not serve (${server.name})`, () => {
    faulted(server, "is read-only: writes are refused, reads go on, and writes as soon as it is writable", {}, (of) =>
      Effect.gen(function* () {
        yield* of.write
        const database = of.database
        // For the sessions to come, and for those that are there.
        yield* of.beside(`ALTER DATABASE ${database} SET default_transaction_read_only = on`)
        yield* terminateAll(of)
        yield* unavailable(recoversUnlessReadOnly(of))
        assert.strictEqual(yield* recovers(of.read), 1)
        yield* of.beside(`ALTER DATABASE ${database} RESET default_transaction_read_only`)
        yield* terminateAll(of)
        yield* recovers(of.write)
        assert.strictEqual(yield* of.read, 2)
      })
    )

    faulted(server, "is full: writes are refused, reads go on, and writes as soon as there is space", {}, (of) =>
      Effect.gen(function* () {
        yield* of.write
        // What a full disk answers, from within the statement.
        yield* of.behind((sql) =>
          sql.unsafe(`CREATE FUNCTION public.disk_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`)
        )
        yield* of.behind((sql) =>
          sql.unsafe("CREATE TRIGGER disk_full BEFORE INSERT ON castellan.roles EXECUTE FUNCTION public.disk_full()")
        )
        for (const exit of yield* many(of.write)) assert.isTrue(isUnavailable(exit))
        assert.strictEqual(yield* of.read, 1)
        yield* of.behind((sql) => sql.unsafe("DROP TRIGGER disk_full ON castellan.roles"))
        yield* of.write
        assert.strictEqual(yield* of.read, 2)
      })
    )

    faulted(server, "takes no further connection: who needs one is refused, and served when there is one", {}, (of) =>
      Effect.gen(function* () {
        yield* of.write
        yield* of.beside(`ALTER DATABASE ${of.database} CONNECTION LIMIT 0`)
        yield* terminateAll(of)
        for (const exit of yield* many(of.write)) assert.isTrue(isUnavailable(exit), JSON.stringify(exit))
        for (const exit of yield* many(of.read)) assert.isTrue(isUnavailable(exit), JSON.stringify(exit))
        yield* of.beside(`ALTER DATABASE ${of.database} CONNECTION LIMIT -1`)
        yield* recovers(of.write)
        for (const exit of yield* many(of.write)) assert.isTrue(Exit.isSuccess(exit))
        assert.strictEqual(yield* of.read, 22)
      })
    )

    faulted(server, "ends every session: what was under way is refused, and the next is served", {}, (of) =>
      Effect.gen(function* () {
        let acknowledged = 0
        for (let round = 0; round < 10; round++) {
          const writing = yield* Effect.forkChild(many(of.write), { startImmediately: true })
          yield* terminateAll(of)
          for (const exit of yield* Fiber.join(writing)) {
            if (Exit.isSuccess(exit)) acknowledged += 1
            else assert.isTrue(isUnavailable(exit), Cause.pretty(exit.cause))
          }
          yield* recovers(of.write)
          acknowledged += 1
        }
        assert.isAtLeast(yield* of.read, acknowledged)
      })
    )

    faulted(
      server,
      "waits for a lock: the statement ends at its time, in or out of a transaction",
      { statementTimeout: "2 seconds" },
      (of) =>
        Effect.gen(function* () {
          const context = yield* Effect.context<Services>()
          yield* of.write
          yield* of.behind((sql) =>
            sql.withTransaction(
              Effect.gen(function* () {
                yield* sql`LOCK TABLE castellan.roles IN ACCESS EXCLUSIVE MODE`
                yield* Effect.all([unavailable(of.read), unavailable(of.write)], {
                  concurrency: "unbounded"
                }).pipe(Effect.provideContext(context))
              })
            )
          )
          yield* of.write
          assert.strictEqual(yield* of.read, 2)
        })
    )

    faulted(
      server,
      "is silent: statements end, connections are given up, and new ones serve",
      { statementTimeout: "2 seconds", connections: 2 },
      (of, proxy) =>
        Effect.gen(function* () {
          yield* of.write
          for (const exit of yield* many(of.read)) assert.isTrue(Exit.isSuccess(exit))
          proxy.block()
          const lost = yield* Effect.forkChild(
            Effect.all([many(inTime(of.read), 40), many(inTime(of.write), 10)], { concurrency: "unbounded" }),
            { startImmediately: true }
          )
          const exits = yield* Effect.timeout(Fiber.join(lost), "60 seconds")
          for (const exit of exits.flat()) assert.isTrue(isUnavailable(exit) || isTimeout(exit), JSON.stringify(exit))
          proxy.unblock()
          yield* recovers(of.write)
          assert.strictEqual(yield* of.read, 2)
          assert.isAtMost(proxy.open(), 2)
        })
    )

    faulted(
      server,
      "is silent: a request that gives up at its deadline leaves nothing to those that come later",
      { statementTimeout: "2 seconds", connections: 1 },
      (of, proxy) =>
        Effect.gen(function* () {
          yield* of.write
          proxy.block()
          const given = yield* Effect.exit(Effect.timeout(of.read, "200 millis"))
          assert.isTrue(Exit.isFailure(given))
          proxy.unblock()
          // The only connection is the one that was lost.
          yield* recovers(of.read)
        })
    )
  })
}

/** Ends the sessions of the service, as an administrator would. */
const terminateAll = (of: Situation) =>
  of.behind(
    (sql) =>
      sql`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE datname = ${of.database} AND usename = ${serviceLogin.name}`
  )

/** A write that is tried again as long as it meets a connection that has just ended. */
const recoversUnlessReadOnly = (of: Situation) => Effect.andThen(recovers(of.read), of.write)
