/**
 * Castellan on one machine: the core over its stores, DuckDB, Malloy, Vega and the offline analyst.
 */
import { VegaRenderer } from "@castellan/charts"
import { FilesDriver } from "@castellan/connectors"
import {
  Castellan,
  Connector,
  ConnectorStore,
  FirstStart,
  type Ontology,
  OntologyEngine,
  OntologyStore,
  OrganizationStore,
  RunLimits,
  type SandboxRuntime,
  SandcastleLimits
} from "@castellan/core"
import { OfflineAnalyst } from "@castellan/llm"
import { MalloyEngine } from "@castellan/ontology"
import * as JwtIdentity from "@castellan/http/identity/JwtIdentity"
import * as NodeCryptography from "@castellan/http/server/NodeCryptography"
import { Duration, Effect, Layer, Option } from "effect"
import { createHash } from "node:crypto"
import * as Data from "./Data.ts"
import type { Keep } from "./Keep.ts"
import type { SandboxSettings, Settings } from "./Settings.ts"

/** What the server reaches the world with. */
const adapters = Layer.mergeAll(MalloyEngine.layer, OfflineAnalyst.layer, VegaRenderer.layer).pipe(
  Layer.provideMerge(FilesDriver.layer()),
  Layer.provideMerge(NodeCryptography.layer)
)

/** The name under which it is noted which models the folder had when they were last put in place. */
const seededModels = "ontology.sha256"

const fingerprintOf = (files: ReadonlyArray<Ontology.OntologyFile>): string =>
  createHash("sha256")
    .update(JSON.stringify(OntologyStore.inOrder(files).map(({ content, path }) => [path, content])))
    .digest("hex")

/**
 * Puts the folder's connector in place. On a later start it is brought to the folder as it is now, and who may use it
 * stays; one that was removed since stays removed.
 */
const seedConnector = Effect.fnUntraced(function* (data: Data.Data, isNew: boolean) {
  const connectors = yield* ConnectorStore.ConnectorStore
  const { id, organizationId } = data.connector
  const found = yield* connectors.get(organizationId, id)
  if (Option.isNone(found)) {
    if (isNew) yield* connectors.save({ connector: data.connector, access: data.access })
    else yield* Effect.logInfo(`the connector ${data.connector.name} was removed, and stays so`)
    return
  }
  const { access, connector } = found.value
  const { description, name, source } = data.connector
  yield* connectors.save({
    connector: new Connector.Connector({
      ...connector,
      name,
      source,
      ...(description === undefined ? {} : { description })
    }),
    access
  })
})

/** Puts the folder's models in place, unless somebody has changed them through the service since. */
const seedModels = Effect.fnUntraced(function* (data: Data.Data, keep: Keep) {
  const { organizationId } = data.connector
  const store = yield* OntologyStore.OntologyStore
  const current = yield* store.files(organizationId)
  const noted = yield* keep.noted(seededModels)
  if (current.length > 0 && !Option.contains(noted, fingerprintOf(current))) {
    return yield* Effect.logInfo(
      "the models are not those that this data folder put in place: those of the folder are not taken"
    )
  }
  yield* store.replace(organizationId, data.ontology)
  yield* keep.note(seededModels, fingerprintOf(data.ontology))
})

/** Puts the first organization, its data source and its models in place. */
const seed = (settings: Settings, keep: Keep) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { organizationId } = keep.identity
      const names = { organization: settings.organization, adminEmail: settings.adminEmail }
      const established = yield* OrganizationStore.OrganizationStore.use((store) => store.get(organizationId))
      const data = yield* Data.open(organizationId, settings.files, settings.dataDirectory)
      // The organization comes last: a start that broke off is done again from its beginning.
      yield* seedConnector(data, Option.isNone(established))
      yield* seedModels(data, keep)
      yield* FirstStart.establish(keep.identity, names, keep.adminKey)
      yield* Effect.logInfo(`serving the connector ${data.connector.name} with ${data.origin}`)
      // Compiled before the first question needs it; a model that does not compile is told to the operator as well.
      const input = {
        files: yield* OntologyStore.OntologyStore.use((store) => store.files(organizationId)),
        connectors: [data.connector]
      }
      yield* OntologyEngine.OntologyEngine.use((engine) => engine.describe(input)).pipe(
        Effect.catch((error) => Effect.logWarning(`the ontology does not compile:\n${error.message}`)),
        Effect.forkScoped
      )
    })
  )

/** Whose tokens let members in, beside the keys and the sessions of the server itself. */
const identityProvider = (settings: Settings): Layer.Layer<never> =>
  Option.match(settings.identityProvider, { onNone: () => Layer.empty, onSome: JwtIdentity.layer })

/** How long one program may run. */
const executionLimits = ({ timeout }: SandboxSettings): Layer.Layer<never> =>
  Option.match(timeout, {
    onNone: () => Layer.empty,
    onSome: (seconds) => {
      const executionTimeout = Duration.seconds(seconds)
      return Layer.mergeAll(
        Layer.effect(
          SandcastleLimits.SandcastleLimits,
          Effect.map(SandcastleLimits.SandcastleLimits, (given) => ({ ...given, executionTimeout }))
        ),
        Layer.effect(
          RunLimits.RunLimits,
          Effect.map(RunLimits.RunLimits, (given) => ({ ...given, executionTimeout }))
        )
      )
    }
  })

/** Every service that the HTTP layer needs, with its data in place, over the sandboxes that run programs. */
export const application = (settings: Settings, keep: Keep, sandbox: Layer.Layer<SandboxRuntime.SandboxRuntime>) =>
  Layer.mergeAll(
    Castellan.layer({
      sessionSecrets: { current: keep.sessionSecret },
      sandbox
    }).pipe(Layer.provide(executionLimits(settings.sandbox))),
    seed(settings, keep)
  ).pipe(Layer.provide(identityProvider(settings)), Layer.provideMerge(adapters))
