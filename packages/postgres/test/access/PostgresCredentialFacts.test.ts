import { CredentialFacts } from "@castellan/core/access/CredentialFacts"
import { Member } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as CredentialFactsSuite from "@castellan/testing/suite/CredentialFactsSuite"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as References from "effect/References"
import { SqlClient } from "effect/sql/SqlClient"
import * as PostgresCredentialFacts from "../../src/access/PostgresCredentialFacts.ts"
import * as PostgresApiKeyStore from "../../src/apikey/PostgresApiKeyStore.ts"
import { acrossOrganizations } from "../../src/database/Tenancy.ts"
import * as PostgresMemberStore from "../../src/member/PostgresMemberStore.ts"
import { migrations } from "../../src/migration/Migrations.ts"
import { migrate, migrateTo } from "../../src/migration/Migrator.ts"
import * as PostgresRoleStore from "../../src/role/PostgresRoleStore.ts"
import { databases } from "../support/Databases.ts"
import { asSuperuser } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const stores = Layer.mergeAll(
  PostgresCredentialFacts.layer,
  PostgresApiKeyStore.layer,
  PostgresMemberStore.layer,
  PostgresRoleStore.layer
)

/** Two roles, a member that holds the first, and a key of theirs that descends from two others. */
const scene = Effect.gen(function* () {
  const organizationId = yield* Sample.organizationId
  const [a, b] = [yield* Fixture.role(organizationId), yield* Fixture.role(organizationId)]
  const owner = yield* Fixture.member(organizationId, { roles: [a] })
  const first = (yield* Fixture.key(owner)).apiKey
  const second = (yield* Fixture.key(owner)).apiKey
  const { apiKey } = yield* Fixture.key(owner, { ancestors: [second.id, first.id] })
  /** The ids of what is told: the roles that the owner is said to hold, those that are brought, and the ancestors. */
  const told = Effect.map(
    CredentialFacts.use((facts) => facts.ofHash(apiKey.hash)),
    (found) => {
      const { ancestors, owner: holder, roles } = Option.getOrThrow(found)
      return {
        held: holder?.roles,
        roles: roles.map(({ id }) => id),
        ancestors: new Set(ancestors.map(({ key }) => key.id))
      }
    }
  )
  return { a, b, owner, first, second, told }
})

/** Has an effect happen in a transaction that is rolled back. */
const undone = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient, (sql) => Effect.flip(sql.withTransaction(Effect.andThen(effect, Effect.fail("undone")))))

for (const { layer, name } of databases()) {
  CredentialFactsSuite.suite(name, Layer.provide(stores, layer))

  it.layer(Layer.merge(Layer.provideMerge(stores, layer), layerCrypto), { timeout: "180 seconds" })(
    `what a key is worth, in transactions (${name})`,
    (it) => {
      it.effect("in a transaction it is what is so there, and afterwards what has become of it", () =>
        Effect.gen(function* () {
          const { a, b, first, owner, second, told } = yield* scene
          const ancestors = new Set([first.id, second.id])
          const before = { held: [a.id], roles: [a.id], ancestors }
          const after = { held: [b.id], roles: [b.id], ancestors }
          const change = MemberStore.use((store) => store.save(new Member({ ...owner, roles: [b.id] })))
          assert.deepStrictEqual(yield* told, before)
          assert.strictEqual(
            yield* undone(
              Effect.gen(function* () {
                assert.deepStrictEqual(yield* told, before)
                yield* change
                assert.deepStrictEqual(yield* told, after)
                assert.deepStrictEqual(yield* told, after)
              })
            ),
            "undone"
          )
          assert.deepStrictEqual(yield* told, before)
          const sql = yield* SqlClient
          yield* sql.withTransaction(change)
          assert.deepStrictEqual(yield* told, after)
        })
      )
    }
  )
}

for (const server of TestDatabase.servers()) {
  describe(`what a key is worth, of rows that were there before they had versions (${server.name})`, () => {
    it.live(
      "rows that have the same version are told apart",
      () =>
        Effect.gen(function* () {
          const database = yield* TestDatabase.database(server, "template1")
          yield* asSuperuser(
            server,
            database,
            Effect.gen(function* () {
              const sql = yield* SqlClient
              yield* migrateTo(migrations.slice(0, 17))
              const { a, b, first, second, told } = yield* scene
              yield* migrate
              const ancestors = new Set([first.id, second.id])
              assert.deepStrictEqual(yield* told, { held: [a.id], roles: [a.id], ancestors })
              const swapped = Effect.andThen(
                sql`UPDATE castellan.member_roles SET role_id = ${b.id} WHERE ${acrossOrganizations(sql)}`,
                told
              )
              yield* undone(
                Effect.map(swapped, (tells) =>
                  assert.deepStrictEqual(tells, { held: [a.id], roles: [b.id], ancestors })
                )
              )
              for (const [gone, left] of [
                [first, second],
                [second, first]
              ] as const) {
                const without = Effect.andThen(
                  sql`DELETE FROM castellan.api_keys WHERE ${acrossOrganizations(sql)} AND id = ${gone.id}`,
                  told
                )
                yield* undone(
                  Effect.map(without, (tells) =>
                    assert.deepStrictEqual(tells, { held: [a.id], roles: [a.id], ancestors: new Set([left.id]) })
                  )
                )
              }
            }).pipe(Effect.provide([stores, layerCrypto]))
          )
        }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "Error")),
      180_000
    )
  })
}
