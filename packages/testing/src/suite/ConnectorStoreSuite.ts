/**
 * What every store of connectors keeps to.
 */
import { type Access, creatorOf } from "@castellan/core/access/Access"
import { Connector, ConnectorSource } from "@castellan/core/connector/Connector"
import { ConnectorStore } from "@castellan/core/connector/ConnectorStore"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { SecretId } from "@castellan/core/secret/Secrets"
import { it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

/** Runs the contract of `ConnectorStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<ConnectorStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`ConnectorStore (${name})`, (it) => {
    it.effect("lists the connectors of one organization, in the order of their ids", () =>
      Effect.gen(function* () {
        const store = yield* ConnectorStore
        const ours = yield* Sample.organizationId
        const theirs = yield* Sample.organizationId
        const of = (organization: typeof ours, id: number) =>
          Effect.map(Sample.connector(organization, { id, name: `c${id}` }), (connector) => ({
            connector,
            access: Sample.everyone
          }))
        const [ten, two, foreign] = yield* Effect.all([of(ours, 10), of(ours, 2), of(theirs, 2)])
        assertSame(yield* store.list(ours), [])
        yield* Effect.forEach([ten, two, foreign], store.save)
        assertSame(yield* store.list(ours), [two, ten])
        assertSame(yield* store.list(theirs), [foreign])
      })
    )

    it.effect("finds and removes a connector of its own organization alone", () =>
      Effect.gen(function* () {
        const store = yield* ConnectorStore
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        const connector = yield* Sample.connector(ours, { id: 7 })
        const stored = { connector, access: Sample.everyone }
        yield* store.save(stored)
        assertSame(yield* store.get(ours, connector.id), Option.some(stored))
        assertSame(yield* store.get(theirs, connector.id), Option.none())
        yield* store.remove(theirs, connector.id)
        assertSame(yield* store.list(ours), [stored])
        yield* store.remove(ours, connector.id)
        yield* store.remove(ours, connector.id)
        assertSame(yield* store.get(ours, connector.id), Option.none())
      })
    )

    it.effect("keeps every kind of source, with where its secret is", () =>
      Effect.gen(function* () {
        const store = yield* ConnectorStore
        const organization = yield* Sample.organizationId
        const server = { host: "db.example", database: "shop", user: "reader" }
        const { Bigquery, Clickhouse, Files, Mysql, Postgres, Snowflake, Trino } = ConnectorSource.cases
        const sources: ReadonlyArray<ConnectorSource> = [
          Files.make({ folder: "/data" }),
          Postgres.make({ ...server, port: 5433, tls: false }),
          Mysql.make(server),
          Clickhouse.make(server),
          Snowflake.make({ account: "a", user: "u", warehouse: "w", database: "d", schema: "s", role: "r" }),
          Bigquery.make({ project: "p", dataset: "d", location: "EU" }),
          Trino.make({ host: "trino.example", catalog: "lake", user: "u", schema: "s" })
        ]
        const made = yield* Effect.forEach(sources, (source, index) =>
          Effect.gen(function* () {
            const plain = yield* Sample.connector(organization, { id: index + 1, name: `c${index}` })
            const secretId = SecretId.make(yield* Uuid.next)
            return { connector: new Connector({ ...plain, source, secretId }), access: Sample.everyone }
          })
        )
        yield* Effect.forEach(made, store.save)
        assertSame(yield* store.list(organization), made)
      })
    )

    it.effect("never gives a number twice, whatever was removed, and none that is kept", () =>
      Effect.gen(function* () {
        const store = yield* ConnectorStore
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        const keep = (id: number) =>
          Effect.flatMap(Sample.connector(ours, { id, name: `c${id}` }), (connector) =>
            store.save({ connector, access: Sample.everyone })
          )
        const given = yield* Effect.all([store.nextId(ours), store.nextId(ours)])
        assertSame(given.map(Number), [1, 2])
        yield* keep(2)
        yield* store.remove(ours, given[1])
        assertSame(Number(yield* store.nextId(ours)), 3)
        yield* keep(30)
        assertSame(Number(yield* store.nextId(ours)), 31)
        yield* keep(5)
        assertSame(Number(yield* store.nextId(ours)), 32)
        assertSame(Number(yield* store.nextId(theirs)), 1)
      })
    )

    it.effect("gives no number twice, though many ask at once", () =>
      Effect.gen(function* () {
        const store = yield* ConnectorStore
        const organization = yield* Sample.organizationId
        const given = yield* Effect.forEach(Array.from({ length: 20 }), () => store.nextId(organization), {
          concurrency: "unbounded"
        })
        assertSame(
          given.map(Number).toSorted((a, b) => a - b),
          Array.from({ length: 20 }, (_, index) => index + 1)
        )
      })
    )

    it.effect("replaces a connector with its access", () =>
      Effect.gen(function* () {
        const store = yield* ConnectorStore
        const organization = yield* Sample.organizationId
        const maker = yield* Sample.principal(organization)
        const role = yield* Sample.role(organization)
        const connector = yield* Sample.connector(organization)
        yield* store.save({ connector, access: Sample.everyone })
        const access: Access = {
          isPublic: false,
          grants: [
            { grantee: { _tag: "Role", id: role.id }, accessType: "viewer" },
            {
              grantee: { _tag: "Member", id: maker.memberId },
              accessType: "owner",
              grantedBy: maker.memberId,
              expiresAt: DateTime.makeUnsafe("2030-01-01T00:00:00.001Z")
            }
          ],
          creator: creatorOf(maker)
        }
        const changed = { connector: new Connector({ ...connector, description: "All of it" }), access }
        yield* store.save(changed)
        assertSame(yield* store.list(organization), [changed])
      })
    )
  })
}
