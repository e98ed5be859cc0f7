/**
 * The versions of rows: another one after each change, whoever makes it.
 */
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import * as PostgresApiKeyStore from "../../src/apikey/PostgresApiKeyStore.ts"
import { acrossOrganizations } from "../../src/database/Tenancy.ts"
import * as PostgresMemberStore from "../../src/member/PostgresMemberStore.ts"
import { migrations } from "../../src/migration/Migrations.ts"
import { migrate, migrateTo } from "../../src/migration/Migrator.ts"
import * as PostgresRoleStore from "../../src/role/PostgresRoleStore.ts"
import { databases } from "../support/Databases.ts"
import { asSuperuser } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const stores = Layer.mergeAll(PostgresApiKeyStore.layer, PostgresMemberStore.layer, PostgresRoleStore.layer)

for (const { layer, name } of databases()) {
  const ready = Layer.merge(Layer.provideMerge(stores, layer), layerCrypto)
  it.layer(ready, { timeout: "180 seconds" })(`versions of rows (${name})`, (it) => {
    it.effect("are others after each change, and what a statement says they are is not heard", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const organizationId = yield* Sample.organizationId
        yield* Fixture.key(yield* Fixture.member(organizationId, { roles: [yield* Fixture.role(organizationId)] }))
        for (const table of ["api_keys", "members", "roles"]) {
          const seen = new Set<string>()
          const look = Effect.map(
            sql<{ readonly version: string }>`
              SELECT version::text AS version FROM castellan.${sql.literal(table)} WHERE ${acrossOrganizations(sql)}`,
            (rows) => {
              assert.strictEqual(rows.length, 1)
              for (const { version } of rows) seen.add(version)
            }
          )
          const change = (set: string) =>
            sql`UPDATE castellan.${sql.literal(table)} SET ${sql.literal(set)} WHERE ${acrossOrganizations(sql)}`
          yield* look
          yield* look
          assert.strictEqual(seen.size, 1)
          yield* change("created_at = created_at")
          yield* look
          yield* change(`version = '${Array.from(seen)[0]}'`)
          yield* look
          assert.strictEqual(seen.size, 3)
        }
      })
    )
  })
}

/** Where each table is written, by its name: another place once it was written anew. */
const places = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly name: string; readonly place: number }>`
    SELECT relname AS name, relfilenode AS place FROM pg_class
    WHERE relnamespace = 'castellan'::regnamespace AND relname IN ('api_keys', 'members', 'roles') ORDER BY relname`
)

for (const server of TestDatabase.servers()) {
  describe(`versions of rows that are there before (${server.name})`, () => {
    it.live(
      "come without the tables being written anew, which would keep every request waiting",
      () =>
        Effect.gen(function* () {
          const database = yield* TestDatabase.database(server, "template1")
          yield* asSuperuser(
            server,
            database,
            Effect.gen(function* () {
              const organizationId = yield* Sample.organizationId
              yield* migrateTo(migrations.slice(0, 17))
              yield* Effect.provide(
                Effect.gen(function* () {
                  yield* Fixture.key(
                    yield* Fixture.member(organizationId, { roles: [yield* Fixture.role(organizationId)] })
                  )
                }),
                stores
              )
              const before = yield* places
              assert.lengthOf(before, 3)
              yield* migrate
              assert.deepStrictEqual(yield* places, before)
            }).pipe(Effect.provide(layerCrypto))
          )
        }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "Error")),
      180_000
    )
  })
}
