/** Who may log in as the service, and what a start does to a database. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import { SqlClient } from "effect/sql/SqlClient"
import { randomBytes } from "node:crypto"
import { migrations } from "../../src/migration/Migrations.ts"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import { asSuperuser, type TestServer } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const live = <A, E>(name: string, test: Effect.Effect<A, E>) =>
  it.live(name, () => Effect.provideService(test, References.MinimumLogLevel, "Error"), 300_000)

/** Runs a statement as the superuser. */
const administer = (server: TestServer, database: string, statement: string) =>
  asSuperuser(
    server,
    database,
    Effect.flatMap(SqlClient, (sql) => sql.unsafe(statement))
  )

/** A login of its own for a test. */
const login = Effect.fnUntraced(function* (server: TestServer, properties = "") {
  const name = `login_${randomBytes(6).toString("hex")}`
  yield* Effect.acquireRelease(
    administer(server, "postgres", `CREATE ROLE ${name} LOGIN PASSWORD '${name}' ${properties}`),
    () => Effect.ignore(administer(server, "postgres", `DROP ROLE ${name}`))
  )
  return name
})

const urlOf = (server: TestServer, database: string, name: string) => {
  const url = new URL(`${server.url}/${database}`)
  url.username = name
  url.password = name
  return Redacted.make(url.href)
}

const superuserUrl = (server: TestServer, database: string) => Redacted.make(`${server.url}/${database}`)

/** Who a start works as; fails as the start does. */
const started = (options: PostgresDatabase.PostgresDatabaseOptions) =>
  Effect.provide(
    Effect.flatMap(SqlClient, (sql) => sql<{ readonly name: string }>`SELECT current_user AS name`),
    PostgresDatabase.layer(options)
  ).pipe(Effect.map((rows) => rows[0]?.name))

const refusal = (options: PostgresDatabase.PostgresDatabaseOptions) =>
  Effect.map(Effect.flip(started(options)), (error) => `${error._tag}: ${error.message}`)

for (const server of TestDatabase.servers()) {
  describe(`a PostgreSQL server as the database (${server.name})`, () => {
    live(
      "refuses a superuser, unless it is allowed explicitly",
      Effect.gen(function* () {
        const url = superuserUrl(server, yield* TestDatabase.database(server))
        assert.match(yield* refusal({ url }), /^UnsafeLogin: .*"postgres" is a superuser/)
        assert.strictEqual(yield* started({ url, allowOwner: true }), PostgresDatabase.applicationRole)
      }).pipe(Effect.scoped)
    )

    live(
      "refuses a login that bypasses row-level security, that owns the tables, and one that may become such a one",
      Effect.gen(function* () {
        const database = yield* TestDatabase.database(server)
        const grant = (to: string, role: string = PostgresDatabase.applicationRole) =>
          administer(server, database, `GRANT ${role} TO ${to}`)
        const bypassing = yield* login(server, "BYPASSRLS")
        const owning = yield* login(server)
        const member = yield* login(server)
        yield* Effect.forEach([bypassing, owning, member], (name) => grant(name))
        yield* administer(server, database, `ALTER TABLE castellan.roles OWNER TO ${owning}`)
        yield* grant(member, owning)
        const said = (name: string) => refusal({ url: urlOf(server, database, name) })
        assert.match(yield* said(bypassing), /^UnsafeLogin: .*bypasses row-level security/)
        assert.match(yield* said(owning), new RegExp(`^UnsafeLogin: .*"${owning}" owns its tables`))
        assert.match(yield* said(member), new RegExp(`^UnsafeLogin: .*is a member of "${owning}", which owns`))
        yield* administer(server, database, `ALTER TABLE castellan.roles OWNER TO postgres`)
        assert.strictEqual(yield* started({ url: urlOf(server, database, member) }), PostgresDatabase.applicationRole)
      }).pipe(Effect.scoped)
    )

    live(
      "with the owner's login, makes the schema and lets the service's login work; without it, asks for the migrations",
      Effect.gen(function* () {
        const database = yield* TestDatabase.database(server, "template1")
        const service = yield* login(server)
        const url = urlOf(server, database, service)
        const ownerUrl = superuserUrl(server, database)
        const made = new RegExp(`"${service}": .*the owner's login`)
        assert.match(yield* refusal({ url }), made)
        yield* administer(server, "postgres", `GRANT ${PostgresDatabase.applicationRole} TO ${service}`)
        assert.match(yield* refusal({ url }), /^SchemaMismatch: .*lacks the migration 1 /)
        yield* administer(server, "postgres", `REVOKE ${PostgresDatabase.applicationRole} FROM ${service}`)
        assert.strictEqual(yield* started({ url, ownerUrl }), PostgresDatabase.applicationRole)
        assert.strictEqual(yield* started({ url }), PostgresDatabase.applicationRole)
        yield* administer(server, database, `DELETE FROM castellan.migrations WHERE id = ${migrations.length}`)
        assert.match(yield* refusal({ url }), /^SchemaMismatch: .*lacks the migration/)
      }).pipe(Effect.scoped)
    )

    live(
      "says which login cannot use which database, and why, without its password",
      Effect.gen(function* () {
        const database = yield* TestDatabase.database(server, "template1")
        const name = yield* login(server)
        const said = (change: (url: URL) => void, asOwner = false) => {
          const url = new URL(Redacted.value(urlOf(server, database, name)))
          url.password = "hunter2"
          change(url)
          const changed = Redacted.make(url.href)
          return Effect.map(
            refusal(asOwner ? { url: superuserUrl(server, database), ownerUrl: changed } : { url: changed }),
            (text) => {
              assert.notInclude(text, "hunter2")
              assert.include(
                text,
                `DatabaseUnusable: the database at ${url.host}${url.pathname} cannot be used as "${name}"`
              )
              return text
            }
          )
        }
        assert.match(yield* said(() => {}), /password authentication failed/)
        assert.match(yield* said(() => {}, true), /password authentication failed/)
        assert.match(yield* said((url) => (url.port = "1")), /ECONNREFUSED/)
        assert.match(
          yield* said((url) => ((url.password = name), (url.pathname = "/nowhere"))),
          /"nowhere" does not exist/
        )
      }).pipe(Effect.scoped)
    )

    live(
      "an owner that is no superuser can make everything, and serve where that is allowed",
      Effect.gen(function* () {
        const database = yield* TestDatabase.database(server, "template1")
        const owner = yield* login(server, "CREATEROLE")
        yield* administer(server, "postgres", `ALTER DATABASE ${database} OWNER TO ${owner}`)
        yield* administer(server, "postgres", `GRANT ${PostgresDatabase.applicationRole} TO ${owner} WITH ADMIN OPTION`)
        const url = urlOf(server, database, owner)
        assert.match(yield* refusal({ url, ownerUrl: url }), /^UnsafeLogin: .*owns its tables/)
        assert.strictEqual(yield* started({ url, allowOwner: true }), PostgresDatabase.applicationRole)
      }).pipe(Effect.scoped)
    )
  })
}
