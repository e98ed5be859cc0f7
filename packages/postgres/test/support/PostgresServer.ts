/**
 * A real PostgreSQL for the tests that need one, started before them and stopped after them: the one that is installed
 * with the development dependencies, and beside it the one of `CASTELLAN_TEST_DATABASE_URL`, when that is set.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import { SqlClient } from "effect/sql/SqlClient"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import * as EmbeddedDatabase from "../../src/embedded/EmbeddedDatabase.ts"
import { migrate } from "../../src/migration/Migrator.ts"
import * as EmbeddedServer from "./EmbeddedServer.ts"

/** A server that tests may make databases on. */
export interface TestServer {
  readonly name: string
  /** Where its superuser logs in, without the name of a database. */
  readonly url: string
}

declare module "vitest" {
  export interface ProvidedContext {
    readonly postgresServers: ReadonlyArray<TestServer>
    /** A folder with an empty embedded database that no process works on. */
    readonly embeddedTemplate: string
  }
}

/** The database that every test's database is a copy of. */
export const template = "castellan_template"

/** The login of the service: a member of the application's role, and nothing else. */
export const serviceLogin = { name: "castellan_service", password: "castellan_service" } as const

/** Runs an effect as the superuser of a server, in one of its databases. */
export const asSuperuser = <A, E>(server: TestServer, database: string, effect: Effect.Effect<A, E, SqlClient>) =>
  Effect.provide(
    effect,
    PgClient.layer({ url: Redacted.make(`${server.url}/${database}`), maxConnections: 1, prepare: false })
  )

/** Makes the template, and the service's login. */
export const prepare = Effect.fnUntraced(function* (server: TestServer) {
  yield* asSuperuser(
    server,
    "postgres",
    Effect.gen(function* () {
      const sql = yield* SqlClient
      yield* sql`DROP DATABASE IF EXISTS ${sql(template)} WITH (FORCE)`
      yield* sql`CREATE DATABASE ${sql(template)}`
    })
  )
  yield* asSuperuser(server, template, migrate)
  yield* asSuperuser(
    server,
    "postgres",
    Effect.gen(function* () {
      const sql = yield* SqlClient
      const { name, password } = serviceLogin
      const [found] = yield* sql`SELECT FROM pg_roles WHERE rolname = ${name}`
      if (found === undefined) yield* sql.unsafe(`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`)
      yield* sql.unsafe(`GRANT castellan_application TO ${name}`)
    })
  )
})

/** Makes the folder that every test's embedded database is a copy of. */
const prepareEmbedded = (folder: string) =>
  Effect.scoped(Effect.provide(Effect.void, EmbeddedDatabase.layer({ folder })))

/** The global set-up of the tests that need a database. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  // What the tests crash is the service; the machine stays up, so nothing has to be on the disk.
  const server = await EmbeddedServer.make(["fsync=off", "max_connections=300"])
  await server.start()
  const given = process.env["CASTELLAN_TEST_DATABASE_URL"]
  const servers: ReadonlyArray<TestServer> = [
    { name: "PostgreSQL", url: `postgres://postgres:postgres@127.0.0.1:${server.port}` },
    ...(given === undefined ? [] : [{ name: "the given PostgreSQL", url: given.replace(/\/[^/]*$/, "") }])
  ]
  const folder = await mkdtemp(join(tmpdir(), "castellan-embedded-template-"))
  const embeddedTemplate = join(folder, "embedded")
  const prepared = Effect.all([Effect.forEach(servers, prepare), prepareEmbedded(embeddedTemplate)], {
    concurrency: "unbounded"
  })
  await Effect.runPromise(Effect.provideService(prepared, References.MinimumLogLevel, "Warn"))
  project.provide("postgresServers", servers)
  project.provide("embeddedTemplate", embeddedTemplate)
  return async () => {
    await server.stop()
    await server.remove()
    await rm(folder, { recursive: true, force: true })
  }
}
