/** An organization leaves as a file and comes to another database as it was; what is not whole does not come. */
import { OrganizationId } from "@castellan/core/organization/Organization"
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import { SecretId, Secrets } from "@castellan/core/secret/Secrets"
import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { SqlClient } from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { acrossOrganizations, entering, within } from "../../src/database/Tenancy.ts"
import * as Exporter from "../../src/exchange/Exporter.ts"
import * as ExchangeFormat from "../../src/exchange/ExchangeFormat.ts"
import * as Importer from "../../src/exchange/Importer.ts"
import * as PostgresSecrets from "../../src/secret/PostgresSecrets.ts"
import { type Database, databases } from "../support/Databases.ts"
import { fill } from "../support/SampleRows.ts"

const mine = OrganizationId.make("11111111-1111-4111-8111-111111111111")
const other = OrganizationId.make("22222222-2222-4222-8222-222222222222")
const secretId = SecretId.make("33333333-3333-4333-8333-333333333333")

const keys = (...ids: ReadonlyArray<string>) => {
  const [current = "", ...former] = ids.map((id) => `${id}:${createHash("sha256").update(id).digest("base64")}`)
  return SecretKeys.layer({ current: Redacted.make(current), former: former.map((text) => Redacted.make(text)) })
}

const site = ({ layer }: Database, keyLayer = keys("first")) =>
  PostgresSecrets.layer.pipe(
    Layer.provideMerge(Layer.fresh(layer)),
    Layer.provideMerge(keyLayer),
    Layer.provideMerge(NodeCrypto.layer)
  )

/** Documents as a model may write them, and texts that a file of lines could stumble over. */
const documents = [
  {
    text: "a\u0000b",
    half: "\ud800",
    line: "a\n\r\u2028b",
    quoted: `"\\"`,
    number: 1e21,
    small: -0.1,
    2: "two",
    1: "one"
  },
  [],
  "text",
  { nested: { deep: [null, true, "ä\u{1f600}"] } }
]

/** An organization with something in every table, and many rows in one. */
const organization = Effect.gen(function* () {
  const sql = yield* SqlClient
  yield* fill(mine)
  yield* fill(other)
  yield* sql`DELETE FROM castellan.secrets WHERE ${acrossOrganizations(sql)}`
  yield* Secrets.use((store) => store.store(mine, secretId, Redacted.make("hunter2")))
  for (const [index, document] of documents.entries()) {
    yield* sql`INSERT INTO castellan.roles (organization_id, id, created_at, document)
      SELECT ${mine}, ${`44444444-4444-4444-8444-44444444444${index}`}, now(), ${JSON.stringify(document)}
      WHERE ${entering(sql, mine)}`
  }
  yield* sql`INSERT INTO castellan.run_events
    SELECT (jsonb_populate_record(e, jsonb_build_object('sequence', number))).*
    FROM castellan.run_events e, generate_series(10, 4000) AS number
    WHERE ${entering(sql, mine)} AND e.organization_id = ${mine}`
})

const exported = (secrets: ExchangeFormat.SecretsMode = "sealed") =>
  Effect.gen(function* () {
    let text = ""
    yield* Exporter.exportTo({ organizationId: mine, secrets }, (piece) => Effect.sync(() => (text += piece)))
    return text
  })

const imported = (text: string) => Importer.importFrom(Stream.splitLines(Stream.make(text)))

/** How many rows there are of an organization, over all tables. */
const rowsOf = (organizationId: OrganizationId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    let total = 0
    for (const table of ExchangeFormat.tables) {
      const [row] = yield* sql<{ readonly rows: number }>`
        SELECT count(*)::int AS rows FROM castellan.${sql(table)}
        WHERE ${entering(sql, organizationId)} AND organization_id = ${organizationId}`
      total += row?.rows ?? 0
    }
    return total
  })

const live = <A, E>(name: string, test: Effect.Effect<A, E>) => it.live(name, () => test, 120_000)

const all = databases()

for (const database of all) {
  describe(`export and import (${database.name})`, () => {
    live(
      "every table is in the file, or named as left out with the reason",
      Effect.gen(function* () {
        const sql = yield* SqlClient
        const found = yield* sql<{ readonly name: string }>`
          SELECT tablename AS name FROM pg_tables WHERE schemaname = 'castellan'`
        assert.sameMembers(
          [...ExchangeFormat.tables, ...ExchangeFormat.leftOut.keys()],
          found.map(({ name }) => name)
        )
      }).pipe(Effect.provide(database.layer))
    )

    for (const target of all) {
      live(
        `an organization that goes to ${target.name} is the same there: exported again, it is the same file`,
        Effect.gen(function* () {
          const [file, rows] = yield* Effect.provide(
            Effect.andThen(organization, Effect.all([exported(), rowsOf(mine)])),
            site(database)
          )
          assert.notInclude(file, other)
          assert.notInclude(file, "hunter2")
          assert.lengthOf(file.trimEnd().split("\n"), rows + 2)
          yield* Effect.provide(
            Effect.gen(function* () {
              const { organizationId, rows: counts } = yield* imported(file)
              assert.strictEqual(organizationId, mine)
              assert.strictEqual(
                Object.values(counts).reduce((sum, count) => sum + count, 0),
                rows
              )
              assert.strictEqual(yield* rowsOf(mine), rows)
              assert.strictEqual(yield* exported(), file)
              const secret = yield* Secrets.use((store) => store.reveal(mine, secretId))
              assert.deepStrictEqual(Option.map(secret, Redacted.value), Option.some("hunter2"))
              const error = yield* Effect.flip(imported(file))
              assert.match(error.message, /is here already/)
              assert.strictEqual(yield* exported(), file)
            }),
            site(target)
          )
        })
      )
    }

    live(
      "files as long as they may be, and several of them, come along",
      Effect.gen(function* () {
        const digests = Effect.flatMap(
          SqlClient,
          (sql) => sql<{ readonly format: string; readonly digest: string; readonly size: number }>`
            SELECT format, encode(sha256(content), 'hex') AS digest, octet_length(content) AS size
            FROM castellan.asset_bodies WHERE ${within(sql, mine)} ORDER BY format`
        )
        const [file, kept] = yield* Effect.provide(
          Effect.gen(function* () {
            const sql = yield* SqlClient
            yield* organization
            yield* sql`
              INSERT INTO castellan.asset_bodies (organization_id, asset_id, format, chat_id, is_text, content)
              SELECT ${mine}, ${secretId}, 'long' || number, ${secretId}, false,
                substring(decode(repeat('00ff7f1025' || lpad(number::text, 2, '0'), 4500000), 'hex')
                  FROM 1 FOR ${25 * 1024 * 1024}::int)
              FROM generate_series(1, 2) AS number WHERE ${entering(sql, mine)}`
            return yield* Effect.all([exported(), digests])
          }),
          site(database)
        )
        assert.strictEqual(kept.filter(({ size }) => size === 25 * 1024 * 1024).length, 2)
        yield* Effect.provide(
          Effect.gen(function* () {
            yield* imported(file)
            assert.deepStrictEqual(yield* digests, kept)
          }),
          site(database)
        )
      })
    )

    live(
      "a file that is cut off, changed, of another version or of no export is refused, and leaves nothing",
      Effect.gen(function* () {
        const file = yield* Effect.provide(Effect.andThen(organization, exported()), site(database))
        const lines = file.trimEnd().split("\n")
        const header = lines[0] ?? ""
        const changed = (from: string | RegExp, to: string) => {
          assert.isTrue(typeof from === "string" ? file.includes(from) : from.test(file))
          return file.replace(from, to)
        }
        const cases: ReadonlyArray<readonly [text: string, message: RegExp]> = [
          ["", /empty|no export/],
          ["nonsense\n", /no export/],
          [`${header}\n`, /cut off/],
          [`${lines.slice(0, 40).join("\n")}\n`, /cut off/],
          [`${lines.slice(0, -1).join("\n")}\n`, /cut off/],
          [file.slice(0, -20), /no last line/],
          [file.slice(0, file.length / 2), /no row|cut off/],
          [`${[...lines.slice(0, 5), ...lines.slice(6)].join("\n")}\n`, /not as it was written/],
          [`${file}${lines[1]}\n`, /after the last/],
          [changed('"castellan_export":1', '"castellan_export":2'), /format 2/],
          [changed(/"migration":\d+/, '"migration":1'), /schema 1/],
          [changed('"two"', '"too"'), /not as it was written/],
          [changed('"table":"roles"', '"table":"rate_limits"'), /no export has/],
          [changed('"table":"roles"', '"table":"roles; DROP TABLE castellan.roles"'), /no export has/],
          [changed('{"table":"roles","row":{"id"', '{"table":"roles","row":{"organization_id":"x","id"'), /columns/]
        ]
        yield* Effect.provide(
          Effect.gen(function* () {
            for (const [text, message] of cases) {
              const error = yield* Effect.flip(imported(text))
              assert.strictEqual(error._tag, "ImportRefused")
              assert.match(error.message, message)
              assert.strictEqual(yield* rowsOf(mine), 0, error.message)
            }
          }),
          site(database)
        )
      })
    )

    live(
      "rows that the database does not take are refused, and not told of in their own words",
      Effect.gen(function* () {
        const [sealed, plain] = yield* Effect.provide(
          Effect.andThen(organization, Effect.all([exported(), exported("plain")])),
          site(database)
        )
        /** A file that is whole, and of which a line is another, or comes twice. */
        const forged = (file: string, change: (line: string) => string, start: string) => {
          const lines = file.trimEnd().split("\n")
          const index = lines.findIndex((line) => line.startsWith(start))
          assert.isAbove(index, 0)
          lines[index] = change(lines[index] ?? "")
          const rows = `${lines.slice(0, -1).join("\n")}\n`
          const sha256 = createHash("sha256").update(rows).digest("hex")
          const last = (lines.at(-1) ?? "").replace(/"sha256":"\w+"/, `"sha256":"${sha256}"`)
          return `${rows}${last}\n`
        }
        const role = '{"table":"roles"'
        const cases: ReadonlyArray<readonly [text: string, message: RegExp]> = [
          [forged(sealed, (line) => `${line}\n${line}`, role), /a row of roles is here already/],
          [
            forged(sealed, (line) => line.replace(/"id":"[^"]+"/, '"id":"hunter2"'), role),
            /roles does not fit .*22P02/
          ],
          [
            forged(sealed, (line) => line.replace(/"created_at":"[^"]+"/, '"created_at":null'), role),
            /roles does not fit/
          ],
          [forged(plain, (line) => line.replace(secretId, "hunter2"), '{"table":"secrets"'), /line \d+ is no secret/]
        ]
        yield* Effect.provide(
          Effect.gen(function* () {
            for (const [text, message] of cases) {
              const error = yield* Effect.flip(imported(text))
              assert.strictEqual(error._tag, "ImportRefused")
              assert.match(error.message, message)
              assert.notInclude(error.message, "hunter2")
              assert.strictEqual(yield* rowsOf(mine), 0)
            }
          }),
          site(database)
        )
      })
    )

    live(
      "secrets go as they are kept, to who has the key; for everybody to read where that is asked; or not at all",
      Effect.gen(function* () {
        const files = yield* Effect.provide(
          Effect.andThen(organization, Effect.all([exported("sealed"), exported("plain"), exported("omitted")])),
          site(database)
        )
        const [sealed, plain, omitted] = files
        assert.include(plain, "hunter2")
        assert.notInclude(sealed + omitted, "hunter2")
        const revealed = (file: string, ...ids: ReadonlyArray<string>) =>
          Effect.provide(
            Effect.andThen(
              imported(file),
              Secrets.use((store) => store.reveal(mine, secretId))
            ),
            site(database, keys(...ids))
          ).pipe(Effect.map(Option.map(Redacted.value)))
        assert.match(
          (yield* Effect.flip(revealed(sealed, "second"))).message,
          /"first", which this server does not have/
        )
        assert.deepStrictEqual(yield* revealed(sealed, "second", "first"), Option.some("hunter2"))
        assert.deepStrictEqual(yield* revealed(plain, "second"), Option.some("hunter2"))
        assert.deepStrictEqual(yield* revealed(omitted, "second"), Option.none())
      })
    )

    live(
      "an organization that is not there cannot be exported",
      Effect.provide(
        Effect.map(Effect.flip(exported()), (error) => assert.strictEqual(error._tag, "NothingToExport")),
        site(database)
      )
    )

    if (!database.isEmbedded) {
      live(
        "the file is of one moment: what others write meanwhile is not in it",
        Effect.provide(
          Effect.gen(function* () {
            yield* organization
            const before = yield* exported()
            const sql = yield* SqlClient
            let pieces = ""
            const begun = yield* Deferred.make<void>()
            const changed = yield* Deferred.make<void>()
            const exporting = yield* Effect.forkChild(
              Exporter.exportTo({ organizationId: mine }, (piece) => {
                pieces += piece
                return Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(changed))
              })
            )
            yield* Deferred.await(begun)
            assert.notInclude(pieces, '"table":"executions"', "there is more to come")
            yield* sql`UPDATE castellan.roles SET document = '"changed"' WHERE ${entering(sql, mine)}`
            yield* sql`DELETE FROM castellan.executions WHERE ${entering(sql, mine)}`
            yield* Deferred.succeed(changed, undefined)
            yield* Fiber.join(exporting)
            assert.notStrictEqual(yield* exported(), before)
            assert.strictEqual(pieces, before)
          }),
          site(database)
        )
      )
    }
  })
}
