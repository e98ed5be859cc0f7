/**
 * The versions of rows: another one after each change, whoever makes it.
 */
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as PostgresApiKeyStore from "../../src/apikey/PostgresApiKeyStore.ts"
import { acrossOrganizations } from "../../src/database/Tenancy.ts"
import * as PostgresMemberStore from "../../src/member/PostgresMemberStore.ts"
import * as PostgresRoleStore from "../../src/role/PostgresRoleStore.ts"
import { databases } from "../support/Databases.ts"

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
