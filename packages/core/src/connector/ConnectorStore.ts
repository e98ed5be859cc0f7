/**
 * The port that keeps connectors, with who may use them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Access } from "../access/Access.ts"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { Connector } from "./Connector.ts"

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
    /** Inserts the connector, or replaces the one of the same organization and id. */
    readonly save: (stored: StoredConnector) => Effect.Effect<void>
  }
>()("@castellan/core/connector/ConnectorStore") {}

/** Keeps connectors in memory. */
export const layerMemory: Layer.Layer<ConnectorStore> = Layer.effect(
  ConnectorStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<string, StoredConnector>()
    return ConnectorStore.of({
      list: (organizationId) =>
        Effect.map(
          table.where(({ connector }) => connector.organizationId === organizationId),
          (found) => found.toSorted((a, b) => a.connector.id - b.connector.id)
        ),
      save: (stored) => table.set(`${stored.connector.organizationId}/${stored.connector.id}`, stored)
    })
  })
)
