/**
 * What every store of connectors keeps to.
 */
import { type Access, creatorOf } from "@castellan/core/access/Access"
import { Connector } from "@castellan/core/connector/Connector"
import { ConnectorStore } from "@castellan/core/connector/ConnectorStore"
import { it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

/** Runs the contract of `ConnectorStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<ConnectorStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "30 seconds" })(`ConnectorStore (${name})`, (it) => {
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
