/**
 * The smallest host: Castellan over a folder of files, as one function from a request to a response.
 */
// #region embed
import { VegaRenderer } from "@castellan/charts"
import { FilesDriver } from "@castellan/connectors"
import { Castellan, Connector, ConnectorStore, FirstStart, OntologyStore, Stores } from "@castellan/core"
import { CastellanHttp } from "@castellan/http"
import { OfflineAnalyst } from "@castellan/llm"
import { MalloyEngine, OntologyDraft } from "@castellan/ontology"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Effect, Layer, type Redacted } from "effect"

// Where things are kept, and what the service reaches the world with: any of these can be your own.
const adapters = Layer.mergeAll(Stores.layerMemory, MalloyEngine.layer, OfflineAnalyst.layer, VegaRenderer.layer).pipe(
  Layer.provideMerge(FilesDriver.layer()),
  Layer.provideMerge(NodeCrypto.layer)
)

// An organization with one administrator, one folder of files, and a model drafted from them.
const tenant = (folder: string, adminKey: Redacted.Redacted<string>) =>
  Effect.gen(function* () {
    const identity = yield* FirstStart.newIdentity
    yield* FirstStart.establish(identity, { organization: "Acme", adminEmail: "ada@acme.example" }, adminKey)
    const connector = new Connector.Connector({
      id: Connector.ConnectorId.make(1),
      organizationId: identity.organizationId,
      name: Connector.ConnectorName.make("sales"),
      source: Connector.ConnectorSource.cases.Files.make({ folder }),
      createdAt: yield* DateTime.now
    })
    const files = yield* OntologyDraft.draft(connector)
    yield* ConnectorStore.ConnectorStore.use((store) =>
      store.save({ connector, access: { isPublic: true, grants: [] } })
    )
    yield* OntologyStore.OntologyStore.use((store) => store.replace(identity.organizationId, files))
  })

export const castellan = (
  folder: string,
  adminKey: Redacted.Redacted<string>,
  assetSecret: Redacted.Redacted<string>
) =>
  CastellanHttp.toWebHandler(
    Layer.mergeAll(Castellan.layer(), Layer.effectDiscard(tenant(folder, adminKey))).pipe(Layer.provideMerge(adapters)),
    { assetSecret, prefix: "/analytics", publicUrl: "/analytics" }
  )
// #endregion
