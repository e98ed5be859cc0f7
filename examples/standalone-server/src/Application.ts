/**
 * Castellan on one machine: the core over in-memory stores, DuckDB, Malloy, Vega and the offline analyst.
 */
import { VegaRenderer } from "@castellan/charts"
import { FilesDriver } from "@castellan/connectors"
import { Castellan, ConnectorStore, FirstStart, OntologyEngine, OntologyStore, Stores } from "@castellan/core"
import { OfflineAnalyst } from "@castellan/llm"
import { MalloyEngine } from "@castellan/ontology"
import * as JwtIdentity from "@castellan/http/identity/JwtIdentity"
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer, Option } from "effect"
import * as Data from "./Data.ts"
import type { Keep } from "./Keep.ts"
import type { Settings } from "./Settings.ts"

/** What the server reaches the world with. */
const adapters = Layer.mergeAll(MalloyEngine.layer, OfflineAnalyst.layer, VegaRenderer.layer).pipe(
  Layer.provideMerge(FilesDriver.layer()),
  Layer.provideMerge(NodeCrypto.layer)
)

/** Puts the first organization, its data source and its models in place. */
const seed = (settings: Settings, keep: Keep) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const names = { organization: settings.organization, adminEmail: settings.adminEmail }
      yield* FirstStart.establish(keep.identity, names, keep.adminKey)
      const { access, connector, ontology, origin } = yield* Data.open(
        keep.identity.organizationId,
        settings.files,
        settings.dataDirectory
      )
      yield* ConnectorStore.ConnectorStore.use((store) => store.save({ connector, access }))
      yield* OntologyStore.OntologyStore.use((store) => store.replace(connector.organizationId, ontology))
      yield* Effect.logInfo(`serving the connector ${connector.name} with ${origin}`)
      // Compiled before the first question needs it; a model that does not compile is told to the operator as well.
      const input = { files: ontology, connectors: [connector] }
      yield* OntologyEngine.OntologyEngine.use((engine) => engine.describe(input)).pipe(
        Effect.catch((error) => Effect.logWarning(`the ontology does not compile:\n${error.message}`)),
        Effect.forkScoped
      )
    })
  )

/** Whose tokens let members in, beside the keys and the sessions of the server itself. */
const identityProvider = (settings: Settings): Layer.Layer<never> =>
  Option.match(settings.identityProvider, { onNone: () => Layer.empty, onSome: JwtIdentity.layer })

/** Every service that the HTTP layer needs, with its data in place. */
export const application = (settings: Settings, keep: Keep) =>
  Layer.mergeAll(Castellan.layer({ sessionSecrets: { current: keep.sessionSecret } }), seed(settings, keep)).pipe(
    Layer.provide(identityProvider(settings)),
    Layer.provideMerge(Layer.mergeAll(Stores.layerMemory, adapters))
  )
