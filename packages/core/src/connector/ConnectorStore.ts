/**
 * The port that keeps connectors, with who may use them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Access } from "../access/Access.ts"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import { type Connector, ConnectorId } from "./Connector.ts"

/** A connector with who may use it. */
export interface StoredConnector {
  readonly connector: Connector
  readonly access: Access
}

/** Keeps connectors. No answer ever holds a connector of another organization. */
export class ConnectorStore extends Context.Service<
  ConnectorStore,
  {
    /** Every connector of the organization, in the order of their ids. */
    readonly list: (organizationId: OrganizationId) => Effect.Effect<ReadonlyArray<StoredConnector>>
    readonly get: (organizationId: OrganizationId, id: ConnectorId) => Effect.Effect<Option.Option<StoredConnector>>
    /** A number that no connector of the organization has, or ever had: what referred to a removed one finds no other. */
    readonly nextId: (organizationId: OrganizationId) => Effect.Effect<ConnectorId>
    /** Inserts the connector, or replaces the one of the same organization and id. */
    readonly save: (stored: StoredConnector) => Effect.Effect<void>
    /** Removes the connector; nothing where there is none. */
    readonly remove: (organizationId: OrganizationId, id: ConnectorId) => Effect.Effect<void>
  }
>()("@castellan/core/connector/ConnectorStore") {}

/** Keeps connectors in memory. */
export const layerMemory: Layer.Layer<ConnectorStore> = Layer.effect(
  ConnectorStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<string, StoredConnector>()
    /** The highest number that was ever given or kept, by organization. */
    const highest = yield* MemoryTable.make<OrganizationId, number>()
    const keyOf = (organizationId: OrganizationId, id: ConnectorId) => `${organizationId}/${id}`
    const highestOf = (organizationId: OrganizationId) =>
      Effect.map(
        highest.get(organizationId),
        Option.getOrElse(() => 0)
      )
    return ConnectorStore.of({
      list: (organizationId) =>
        Effect.map(
          table.where(({ connector }) => connector.organizationId === organizationId),
          (found) => found.toSorted((a, b) => a.connector.id - b.connector.id)
        ),
      get: (organizationId, id) => table.get(keyOf(organizationId, id)),
      nextId: Effect.fnUntraced(function* (organizationId) {
        const id = (yield* highestOf(organizationId)) + 1
        yield* highest.set(organizationId, id)
        return ConnectorId.make(id)
      }),
      save: Effect.fnUntraced(function* (stored) {
        const { id, organizationId } = stored.connector
        if (id > (yield* highestOf(organizationId))) yield* highest.set(organizationId, id)
        yield* table.set(keyOf(organizationId, id), stored)
      }),
      remove: (organizationId, id) => table.remove(keyOf(organizationId, id))
    })
  })
)
