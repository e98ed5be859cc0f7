/**
 * The use cases of sandcastles.
 *
 * Source: api-v2.md "Sandcastles"; decisions.md §7.
 */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { UseCase } from "../audit/UseCase.ts"
import type { Changes } from "../change/Changes.ts"
import type { ChatStore } from "../chat/ChatStore.ts"
import type { UploadStore } from "../chat/UploadStore.ts"
import type { ConnectorQueries } from "../connector/ConnectorQueries.ts"
import type { Connectors } from "../connector/Connectors.ts"
import type { ConnectorStore } from "../connector/ConnectorStore.ts"
import type { FolderPolicyStore } from "../folderpolicy/FolderPolicyStore.ts"
import type { LibraryStore } from "../library/LibraryStore.ts"
import type { OntologyEngine } from "../ontology/OntologyEngine.ts"
import type { OntologyStore } from "../ontology/OntologyStore.ts"
import type { ExecutionStore } from "./ExecutionStore.ts"
import * as SandcastleExecutions from "./SandcastleExecutions.ts"
import * as SandcastleFiles from "./SandcastleFiles.ts"
import * as SandcastleLife from "./SandcastleLife.ts"
import * as SandcastleQueries from "./SandcastleQueries.ts"
import { SandcastleSessions } from "./SandcastleSessions.ts"
import type { SandcastleStore } from "./SandcastleStore.ts"

const make = Effect.gen(function* () {
  const { exec, execute, interrupt } = yield* SandcastleExecutions.make
  return {
    /** Whether this deployment has sandboxes at all. */
    isAvailable: (yield* SandcastleSessions).isAvailable,
    ...(yield* SandcastleLife.make),
    execute,
    exec,
    interrupt,
    ...(yield* SandcastleQueries.make),
    ...(yield* SandcastleFiles.make)
  }
})

/** The use cases of sandcastles: their life, what runs in them, their files. */
export class Sandcastles extends Context.Service<Sandcastles, Effect.Success<typeof make>>()(
  "@castellan/core/sandcastle/Sandcastles"
) {}

/** The use cases over the stores and the sessions of this process. */
export const layer: Layer.Layer<
  Sandcastles,
  never,
  | Changes
  | ChatStore
  | ConnectorQueries
  | Connectors
  | ConnectorStore
  | ExecutionStore
  | FolderPolicyStore
  | LibraryStore
  | OntologyEngine
  | OntologyStore
  | SandcastleSessions
  | SandcastleStore
  | SecureRandom.SecureRandom
  | UploadStore
  | UseCase
> = Layer.effect(Sandcastles, make)

/** Sweeps once a minute for as long as the layer lives. A sweep that fails is logged, and the next one comes. */
export const layerSweeping: Layer.Layer<never, never, Sandcastles> = Layer.effectDiscard(
  Effect.gen(function* () {
    const sandcastles = yield* Sandcastles
    yield* sandcastles.sweep.pipe(
      Effect.tapCause((cause) => Effect.logError("a sweep of the sandcastles failed", cause)),
      Effect.ignoreCause,
      Effect.repeat(Schedule.spaced(Duration.minutes(1))),
      Effect.forkScoped
    )
  })
)
