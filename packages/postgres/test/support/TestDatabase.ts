/**
 * A database of its own for a test, on a real server: a copy of the template, dropped afterwards.
 */
import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import { asSuperuser, serviceLogin, template, type TestServer } from "./PostgresServer.ts"

/** The servers that tests run against: one, or two when a second is given. */
export const servers = (): ReadonlyArray<TestServer> => inject("postgresServers")

/** Where the service logs in to a database. */
export const serviceUrl = (server: TestServer, database: string): Redacted.Redacted<string> => {
  const url = new URL(`${server.url}/${database}`)
  url.username = serviceLogin.name
  url.password = serviceLogin.password
  return Redacted.make(url.href)
}

/** The name of a new database, which is dropped with the scope: a copy of the template, or an empty one. */
export const database = (server: TestServer, copyOf: string = template) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const name = `castellan_${randomBytes(8).toString("hex")}`
      yield* asSuperuser(
        server,
        "postgres",
        Effect.flatMap(SqlClient, (sql) => sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(copyOf)}`)
      ).pipe(Effect.retry({ times: 10 }))
      return name
    }),
    (name) =>
      Effect.orDie(
        asSuperuser(
          server,
          "postgres",
          Effect.flatMap(SqlClient, (sql) => sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`)
        )
      )
  )

/** The service's connections to a new database. */
export const layer = (
  server: TestServer
): Layer.Layer<PgClient.PgClient | SqlClient, PostgresDatabase.DatabaseError | SqlError> =>
  Layer.unwrap(Effect.map(database(server), (name) => PostgresDatabase.layer({ url: serviceUrl(server, name) })))
