/**
 * The whole of Castellan as one layer: every use case, over the stores and ports that a host provides.
 */
import type * as Digest from "effect/crypto/Digest"
import * as Mac from "effect/crypto/Mac"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AccessCarriers from "./access/AccessCarriers.ts"
import * as Accesses from "./access/Accesses.ts"
import * as Authentication from "./access/Authentication.ts"
import * as ApiKeys from "./apikey/ApiKeys.ts"
import * as Analyst from "./analyst/Analyst.ts"
import type { ChartRenderer } from "./asset/ChartRenderer.ts"
import * as UseCase from "./audit/UseCase.ts"
import * as Automation from "./Automation.ts"
import * as Changes from "./change/Changes.ts"
import * as Chats from "./chat/Chats.ts"
import type { ConnectorDriver } from "./connector/ConnectorDriver.ts"
import * as ConnectorQueries from "./connector/ConnectorQueries.ts"
import * as Connectors from "./connector/Connectors.ts"
import * as FolderPolicies from "./folderpolicy/FolderPolicies.ts"
import type { Stores } from "./memory/Stores.ts"
import type { LanguageModels } from "./model/LanguageModels.ts"
import * as Models from "./model/Models.ts"
import type { OntologyEngine } from "./ontology/OntologyEngine.ts"
import * as Administration from "./organization/Administration.ts"
import * as Recovery from "./recovery/Recovery.ts"
import * as Retention from "./retention/Retention.ts"
import * as RowPolicies from "./rowpolicy/RowPolicies.ts"
import * as InProcessRunner from "./run/InProcessRunner.ts"
import { RunLimits } from "./run/RunLimits.ts"
import type { Runner } from "./run/Runner.ts"
import * as ChatSandcastles from "./sandcastle/ChatSandcastles.ts"
import * as SandboxPool from "./sandcastle/SandboxPool.ts"
import * as SandboxRuntime from "./sandcastle/SandboxRuntime.ts"
import { SandcastleLimits } from "./sandcastle/SandcastleLimits.ts"
import * as Sandcastles from "./sandcastle/Sandcastles.ts"
import * as SandcastleSessions from "./sandcastle/SandcastleSessions.ts"
import * as WebSearch from "./search/WebSearch.ts"
import * as HmacSessionTokens from "./session/HmacSessionTokens.ts"
import * as Sessions from "./session/Sessions.ts"
import type { SessionTokens } from "./session/SessionTokens.ts"

/** The use cases, with the analyst and the runner under them. */
export type UseCases =
  | Accesses.Accesses
  | Administration.Administration
  | Analyst.Analyst
  | ApiKeys.ApiKeys
  | Authentication.Authentication
  | Automation.Automation
  | Changes.Changes
  | Chats.Chats
  | ChatSandcastles.ChatSandcastles
  | ConnectorQueries.ConnectorQueries
  | Connectors.Connectors
  | FolderPolicies.FolderPolicies
  | Models.Models
  | Recovery.Recovery
  | Retention.Retention
  | RowPolicies.RowPolicies
  | Runner
  | Sandcastles.Sandcastles
  | Sessions.Sessions
  | SessionTokens
  | UseCase.UseCase

/** The ports to the world outside, and the platform's cryptography. */
export type Ports =
  | ChartRenderer
  | ConnectorDriver
  | LanguageModels
  | OntologyEngine
  | Digest.Digest
  | SecureRandom.SecureRandom

/** How a deployment differs from the default one. */
export interface CastellanOptions extends InProcessRunner.InProcessRunnerOptions {
  /** Bounds of runs that differ from those of the context (`RunLimits`). */
  readonly limits?: Partial<RunLimits>
  /** Where sandcastles have their sessions; without it, none can be started. */
  readonly sandbox?: Layer.Layer<SandboxRuntime.SandboxRuntime>
  /** Sessions of sandcastles that are kept open in advance in this process (`SandboxPool`); none unless it is said. */
  readonly sandboxPool?: number
  /**
   * Whether sandcastles that are idle are stopped, once a minute in this process. They are, unless a host calls
   * `Sandcastles.sweep` by a clock of its own.
   */
  readonly sweeps?: boolean
  /**
   * Whether what was kept long enough is purged at the start and once an hour in this process. It is, unless a host
   * calls `Retention.purge` by a clock of its own. Several servers that do it do no harm.
   */
  readonly purges?: boolean
  /**
   * Whether runs that servers which have stopped left behind are taken up, at the start and by the clock. They are,
   * unless a host calls `Recovery.sweep` and `Recovery.resume` by a clock of its own.
   */
  readonly recovers?: boolean
  /** What the web is searched with; without it, every search fails. */
  readonly webSearch?: Layer.Layer<WebSearch.WebSearch>
  /** What session tokens are signed with; without it, a secret of this process that ends with it. */
  readonly sessionSecrets?: HmacSessionTokens.SessionSecrets
}

const sessionTokens = ({
  sessionSecrets
}: CastellanOptions): Layer.Layer<SessionTokens, never, SecureRandom.SecureRandom> =>
  (sessionSecrets === undefined ? HmacSessionTokens.layerMemory : HmacSessionTokens.layer(sessionSecrets)).pipe(
    Layer.provide(Mac.layerWebCrypto)
  )

const accesses = Accesses.layer.pipe(Layer.provide(AccessCarriers.layer))

/** Sandcastles with their sessions in this process, swept once a minute. */
const sandcastles = ({ sandbox = SandboxRuntime.layerUnavailable, sandboxPool = 0, sweeps = true }: CastellanOptions) =>
  (sweeps ? Sandcastles.layerSweeping : Layer.empty).pipe(
    Layer.provideMerge(ChatSandcastles.layer),
    Layer.provideMerge(Sandcastles.layer),
    Layer.provide(SandcastleSessions.layer),
    Layer.provide(
      sandboxPool === 0
        ? sandbox
        : Layer.provide(
            Layer.unwrap(
              Effect.map(SandcastleLimits, ({ require }) => SandboxPool.layer({ size: sandboxPool, require }))
            ),
            sandbox
          )
    )
  )

/** The removal of what was kept long enough, once an hour. */
const retention = ({ purges = true }: CastellanOptions) =>
  (purges ? Retention.layerHourly : Layer.empty).pipe(Layer.provideMerge(Retention.layer))

/** What is done for servers that have stopped. */
const recovery = ({ recovers = true }: CastellanOptions) =>
  (recovers ? Recovery.layerSweeping : Layer.empty).pipe(Layer.provideMerge(Recovery.layer))

/** Every use case, with runs carried out in this process. */
export const layer = (options: CastellanOptions = {}): Layer.Layer<UseCases, never, Stores | Ports> =>
  recovery(options).pipe(
    Layer.provideMerge(Automation.layer),
    Layer.provideMerge(Layer.mergeAll(accesses, ApiKeys.layer, Authentication.layer, Chats.layer, Sessions.layer)),
    Layer.provideMerge(InProcessRunner.layer(options)),
    Layer.provideMerge(Analyst.layer),
    Layer.provideMerge(sandcastles(options)),
    Layer.provide(options.webSearch ?? WebSearch.layerUnavailable),
    Layer.provideMerge(Layer.mergeAll(ConnectorQueries.layer, Connectors.layer, Models.layer, RowPolicies.layer)),
    Layer.provideMerge(Layer.mergeAll(Changes.layer, FolderPolicies.layer)),
    Layer.provideMerge(Layer.mergeAll(Administration.layer, retention(options))),
    Layer.provideMerge(UseCase.layer),
    Layer.provideMerge(sessionTokens(options)),
    Layer.provide(
      Layer.effect(
        RunLimits,
        Effect.map(RunLimits, (given) => ({ ...given, ...options.limits }))
      )
    )
  )
