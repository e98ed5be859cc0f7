import type { OrganizationId } from "@castellan/core/organization/Organization"
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import { type SecretId, Secrets } from "@castellan/core/secret/Secrets"
import * as AdministrationSample from "@castellan/testing/fixture/AdministrationSample"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as SecretsSuite from "@castellan/testing/suite/SecretsSuite"
import { assert, describe, it } from "@effect/vitest"
import { Cause, ConfigProvider, Effect, Exit, Layer, Logger, Option, Redacted } from "effect"
import { Base64 } from "effect/encoding"
import { SqlClient } from "effect/sql/SqlClient"
import { CurrentTransformer } from "effect/sql/Statement"
import { acrossOrganizations, entering, within } from "../../src/database/Tenancy.ts"
import * as PostgresSecrets from "../../src/secret/PostgresSecrets.ts"
import * as SecretKeysConfig from "../../src/secret/SecretKeysConfig.ts"
import { databases } from "../support/Databases.ts"
import { asSuperuser } from "../support/PostgresServer.ts"
import { servers } from "../support/TestDatabase.ts"

const text = (id: string): string => `${id}:${Base64.encode(new Uint8Array(32).fill(id.charCodeAt(id.length - 1)))}`

const keys = (current: string, ...former: ReadonlyArray<string>) =>
  SecretKeys.layer({
    current: Redacted.make(text(current)),
    former: former.map((id) => Redacted.make(text(id)))
  })

/** A server of the deployment that has these keys. */
const server = (current: string, ...former: ReadonlyArray<string>) =>
  Layer.fresh(PostgresSecrets.layer).pipe(Layer.provide(keys(current, ...former)))

const store = (organizationId: OrganizationId, id: SecretId, value: string) =>
  Secrets.use((secrets) => secrets.store(organizationId, id, Redacted.make(value)))

const reveal = (organizationId: OrganizationId, id: SecretId) =>
  Secrets.use((secrets) => Effect.map(secrets.reveal(organizationId, id), Option.map(Redacted.value)))

/** What a defect says, with everything that a log would say of it. */
const told = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.exit(effect), (exit) => (Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "no failure"))

/** Has something happen before every statement that begins so. */
const before = (beginning: string, happen: Effect.Effect<void>) =>
  Effect.provideService(CurrentTransformer, (statement) =>
    Effect.as(statement.compile()[0].trim().startsWith(beginning) ? happen : Effect.void, statement)
  )

for (const { layer, name } of databases()) {
  SecretsSuite.suite(name, server("k1").pipe(Layer.provide(layer)))

  describe(`PostgresSecrets (${name})`, () => {
    it.layer(Layer.mergeAll(layer, Deployment.layerCrypto))((it) => {
      const keyIds = SqlClient.use(
        (sql) =>
          sql<{ readonly key_id: string; readonly count: number }>`
            SELECT key_id, count(*)::int AS count FROM castellan.secrets WHERE ${acrossOrganizations(sql)}
            GROUP BY key_id ORDER BY key_id`
      ).pipe(Effect.map((rows) => Object.fromEntries(rows.map(({ count, key_id }) => [key_id, count]))))

      const forget = SqlClient.use((sql) => sql`DELETE FROM castellan.secrets WHERE ${acrossOrganizations(sql)}`)

      /** Many secrets, of two organizations. */
      const many = (count: number) =>
        Effect.gen(function* () {
          const organizations = [yield* Sample.organizationId, yield* Sample.organizationId] as const
          return yield* Effect.forEach(Array.from({ length: count }), (_, index) =>
            Effect.gen(function* () {
              const organizationId = organizations[index % 2 === 0 ? 0 : 1]
              const id = yield* AdministrationSample.secretId
              yield* store(organizationId, id, `secret number ${index}`)
              return { organizationId, id, value: `secret number ${index}` }
            })
          )
        })

      it.effect("keeps nothing that can be read in its table", () =>
        Effect.gen(function* () {
          const organization = yield* Sample.organizationId
          const id = yield* AdministrationSample.secretId
          yield* Effect.provide(store(organization, id, "correct horse battery staple"), server("k1"))
          const sql = yield* SqlClient
          const kept = sql`SELECT secrets::text AS row, encode(sealed, 'escape') AS sealed FROM castellan.secrets
            WHERE ${acrossOrganizations(sql)} AND id = ${id}`
          const shown = JSON.stringify(yield* kept)
          assert.include(shown, id)
          for (const plain of ["correct", "horse", Buffer.from("correct").toString("hex"), "Y29ycmVjd"]) {
            assert.notInclude(shown, plain)
          }
        })
      )

      it.effect("a row that is copied to another organization, or to another secret, cannot be read there", () =>
        Effect.gen(function* () {
          const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
          const [id, copy, mine] = [
            yield* AdministrationSample.secretId,
            yield* AdministrationSample.secretId,
            yield* AdministrationSample.secretId
          ]
          const sql = yield* SqlClient
          yield* store(theirs, id, "theirs")
          yield* store(ours, mine, "mine")
          const [row] = yield* sql<{ readonly nonce: Uint8Array; readonly sealed: Uint8Array }>`
            SELECT nonce, sealed FROM castellan.secrets WHERE ${within(sql, theirs)} AND id = ${id}`
          assert.isDefined(row)
          yield* sql`
            INSERT INTO castellan.secrets (organization_id, id, key_id, nonce, sealed)
            SELECT ${ours}, ${copy}, 'k1', ${row?.nonce}, ${row?.sealed} WHERE ${entering(sql, ours)}`
          yield* sql`UPDATE castellan.secrets SET nonce = ${row?.nonce}, sealed = ${row?.sealed}
            WHERE ${within(sql, ours)} AND id = ${mine}`
          for (const at of [copy, mine]) {
            const message = yield* told(reveal(ours, at))
            assert.include(message, `the secret ${at} is not what was encrypted for it`)
            assert.notInclude(message, "theirs")
          }
          // The whole row, moved to the other organization under its own id.
          yield* sql`DELETE FROM castellan.secrets WHERE ${within(sql, theirs)} AND id = ${id}`
          yield* sql`
            INSERT INTO castellan.secrets (organization_id, id, key_id, nonce, sealed)
            SELECT ${ours}, ${id}, 'k1', ${row?.nonce}, ${row?.sealed} WHERE ${entering(sql, ours)}`
          assert.include(yield* told(reveal(ours, id)), "is not what was encrypted for it")
        }).pipe(Effect.provide(server("k1")))
      )

      it.effect("reads by a former key, and dies of one that it does not have, naming its id alone", () =>
        Effect.gen(function* () {
          const organization = yield* Sample.organizationId
          const id = yield* AdministrationSample.secretId
          yield* Effect.provide(store(organization, id, "a secret"), server("k1"))
          assert.deepStrictEqual(
            yield* Effect.provide(reveal(organization, id), server("k2", "k1")),
            Option.some("a secret")
          )
          const message = yield* told(Effect.provide(reveal(organization, id), server("k2")))
          assert.include(message, `the secret ${id} is encrypted with the key "k1", which this server does not have`)
          assert.notInclude(message, "a secret")
          assert.notInclude(message, text("k1").slice(3, 12))
        })
      )

      it.effect("re-encrypts everything with the current key, and has nothing to do the next time", () =>
        Effect.gen(function* () {
          yield* forget
          const secrets = yield* Effect.provide(many(230), server("k1"))
          yield* Effect.provide(many(3), server("k2"))
          const rotate = Effect.provide(PostgresSecrets.reencrypt, keys("k2", "k1"))
          assert.deepStrictEqual(yield* rotate, { reencrypted: 230, unreadable: 0 })
          assert.deepStrictEqual(yield* keyIds, { k2: 233 })
          assert.deepStrictEqual(yield* rotate, { reencrypted: 0, unreadable: 0 })
          // The old key can be thrown away.
          yield* Effect.forEach(secrets, ({ id, organizationId, value }) =>
            Effect.map(reveal(organizationId, id), (found) => assert.deepStrictEqual(found, Option.some(value)))
          ).pipe(Effect.provide(server("k2")))
        })
      )

      it.effect("goes on where a crash in the middle left it, and everything can be read meanwhile", () =>
        Effect.gen(function* () {
          yield* forget
          const secrets = yield* Effect.provide(many(230), server("k1"))
          let updates = 0
          const crash = Effect.suspend(() => {
            updates += 1
            return updates === 2 ? Effect.die(new Error("crashed")) : Effect.void
          })
          const rotate = Effect.provide(PostgresSecrets.reencrypt, keys("k2", "k1"))
          assert.include(yield* told(rotate.pipe(before("UPDATE", crash))), "crashed")
          assert.deepStrictEqual(yield* keyIds, { k1: 130, k2: 100 })
          const readAll = Effect.forEach(secrets, ({ id, organizationId, value }) =>
            Effect.map(reveal(organizationId, id), (found) => assert.deepStrictEqual(found, Option.some(value)))
          )
          for (const both of [server("k2", "k1"), server("k1", "k2")]) yield* Effect.provide(readAll, both)
          assert.deepStrictEqual(yield* rotate, { reencrypted: 130, unreadable: 0 })
          assert.deepStrictEqual(yield* keyIds, { k2: 230 })
          yield* Effect.provide(readAll, server("k2"))
        })
      )

      it.effect("leaves what is replaced or removed meanwhile as it was replaced or removed", () =>
        Effect.gen(function* () {
          yield* forget
          const [first, second, third] = yield* Effect.provide(many(3), server("k1"))
          if (first === undefined || second === undefined || third === undefined) return assert.fail("three secrets")
          const meanwhile = Effect.gen(function* () {
            yield* store(first.organizationId, first.id, "replaced")
            yield* Secrets.use((secrets) => secrets.remove(second.organizationId, second.id))
          })
          const sql = yield* SqlClient
          const rotate = PostgresSecrets.reencrypt.pipe(
            // After the secrets were read, and before they are written, by a server that still writes with the old key.
            before(
              "UPDATE",
              Effect.provide(meanwhile, server("k1", "k2")).pipe(
                Effect.provideService(CurrentTransformer, undefined),
                Effect.provideService(SqlClient, sql),
                Effect.orDie
              )
            ),
            Effect.provide(keys("k2", "k1"))
          )
          assert.deepStrictEqual(yield* rotate, { reencrypted: 1, unreadable: 0 })
          assert.deepStrictEqual(yield* keyIds, { k1: 1, k2: 1 })
          const read = Effect.provide(server("k2", "k1"))
          assert.deepStrictEqual(yield* read(reveal(first.organizationId, first.id)), Option.some("replaced"))
          assert.deepStrictEqual(yield* read(reveal(second.organizationId, second.id)), Option.none())
          assert.deepStrictEqual(yield* read(reveal(third.organizationId, third.id)), Option.some(third.value))
        })
      )

      it.effect("goes past what it cannot read, says which that is, and says nothing of any secret", () =>
        Effect.gen(function* () {
          yield* forget
          const [lost] = yield* Effect.provide(many(1), server("k0"))
          yield* Effect.provide(many(2), server("k1"))
          const logged: Array<string> = []
          const rotated = yield* PostgresSecrets.reencrypt.pipe(
            Effect.provide(keys("k2", "k1")),
            Effect.provide(
              Logger.layer([Logger.make(({ message }) => logged.push(JSON.stringify(message)))], {
                mergeWithExisting: false
              })
            )
          )
          assert.deepStrictEqual(rotated, { reencrypted: 2, unreadable: 1 })
          assert.deepStrictEqual(yield* keyIds, { k0: 1, k2: 2 })
          assert.isTrue(logged.some((line) => line.includes(`${lost?.id}`) && line.includes("k0")))
          assert.notInclude(logged.join(), "secret number")
        })
      )
    })
  })
}

for (const real of servers()) {
  it.live(`a superuser finds no secret in any table (${real.name})`, () =>
    Effect.gen(function* () {
      const organization = yield* Sample.organizationId
      yield* Effect.provide(
        store(organization, yield* AdministrationSample.secretId, "correct horse battery staple"),
        server("k1")
      )
      const [at] = yield* SqlClient.use((sql) => sql<{ readonly name: string }>`SELECT current_database() AS name`)
      const found = yield* asSuperuser(
        real,
        at?.name ?? "",
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const tables = yield* sql<{ readonly name: string }>`
            SELECT tablename AS name FROM pg_tables WHERE schemaname = 'castellan'`
          const rows = yield* Effect.forEach(tables, ({ name }) =>
            sql.unsafe<{ readonly row: string }>(`SELECT kept::text AS row FROM castellan."${name}" AS kept`)
          )
          return rows.flat().map(({ row }) => row)
        })
      )
      assert.isTrue(found.some((row) => row.includes(organization)))
      for (const plain of ["correct horse", Buffer.from("correct horse").toString("hex")]) {
        assert.notInclude(found.join("\n"), plain)
      }
    }).pipe(
      Effect.provide(
        Layer.mergeAll(databases().find(({ name }) => name === real.name)?.layer ?? Layer.empty, Deployment.layerCrypto)
      )
    )
  )
}

describe("SecretKeysConfig", () => {
  const read = (environment: { readonly [name: string]: string }) =>
    Effect.gen(function* () {
      return yield* SecretKeys.SecretKeys
    }).pipe(
      Effect.provide(SecretKeysConfig.layer),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: environment }))
    )

  it.effect("reads the keys of the environment", () =>
    Effect.gen(function* () {
      const found = yield* read({
        CASTELLAN_SECRETS_KEY: text("k2"),
        CASTELLAN_SECRETS_FORMER_KEYS: `${text("k1")}, ${text("k0")},`
      })
      assert.strictEqual(found.current.id, "k2")
      assert.deepStrictEqual([...found.byId.keys()], ["k2", "k1", "k0"])
      assert.deepStrictEqual([...(yield* read({ CASTELLAN_SECRETS_KEY: text("k2") })).byId.keys()], ["k2"])
    })
  )

  it.effect("names the variable that is missing, and says what is wrong with a key without repeating it", () =>
    Effect.gen(function* () {
      assert.include(yield* told(read({})), "CASTELLAN_SECRETS_KEY")
      const message = yield* told(read({ CASTELLAN_SECRETS_KEY: `k1:${Base64.encode(new Uint8Array(16).fill(65))}` }))
      assert.include(message, 'the secrets key "k1" must be 32 bytes long, and is 16')
      assert.notInclude(message, "QUFB")
    })
  )
})
