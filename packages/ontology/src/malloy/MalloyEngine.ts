/**
 * The ontology's port on Malloy's compiler, over the connector port: Malloy reads schemas through it, and never runs
 * anything. Models are compiled once for each input, described once, and kept while they are fresh.
 *
 * Source: architecture.md §5; decisions.md §5 ("The service's query language is that model's language").
 */
import { createHash } from "node:crypto"
import type { ConnectorDriver } from "@castellan/core/connector/ConnectorDriver"
import { OntologyEngine, OntologyError, type OntologyInput } from "@castellan/core/ontology/OntologyEngine"
import * as Cache from "effect/Cache"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Hash from "effect/Hash"
import * as Layer from "effect/Layer"

/** How an engine keeps what it compiled. */
export interface MalloyEngineOptions {
  /** Models that are kept; the one used longest ago goes first. */
  readonly capacity?: number
  /**
   * How long a model is kept. Its files and connectors are part of what it is kept by, but the schemas and values of
   * their tables may change meanwhile: they are read again after this time.
   */
  readonly timeToLive?: Duration.Input
}

/** What a model is kept by: the content of its files, and its connectors. Two inputs of the same content are one. */
class ModelKey implements Equal.Equal {
  readonly input: OntologyInput
  readonly digest: string

  constructor(input: OntologyInput) {
    this.input = input
    this.digest = createHash("sha256")
      .update(
        JSON.stringify([
          input.files.map(({ content, path }) => [path, content]),
          input.connectors.map(({ id, name, organizationId, source }) => [organizationId, id, name, source])
        ])
      )
      .digest("base64")
  }

  [Equal.symbol](that: Equal.Equal): boolean {
    return that instanceof ModelKey && that.digest === this.digest
  }

  [Hash.symbol](): number {
    return Hash.string(this.digest)
  }
}

// Malloy's grammar takes a quarter of a second to load: whoever never asks the ontology never waits for it.
const modelCompiler = Effect.promise(() => import("./internal/ModelCompiler.ts"))
const queryCompiler = Effect.promise(() => import("./internal/QueryCompiler.ts"))
const visibleModel = Effect.promise(() => import("./internal/VisibleModel.ts"))
const fieldFacts = Effect.promise(() => import("./internal/FieldFacts.ts"))

/** An engine with its own bounds. */
export const layerWith = (options: MalloyEngineOptions): Layer.Layer<OntologyEngine, never, ConnectorDriver> =>
  Layer.effect(
    OntologyEngine,
    Effect.gen(function* () {
      const { capacity = 64, timeToLive = Duration.minutes(10) } = options
      const kept = {
        capacity,
        // A model that does not compile may do so at the next try: its source may have been out of reach.
        timeToLive: (exit: Exit.Exit<unknown, unknown>) => (Exit.isSuccess(exit) ? timeToLive : Duration.zero)
      }
      const models = yield* Cache.makeWith(
        (key: ModelKey) => Effect.flatMap(modelCompiler, ({ compile }) => compile(key.input)),
        kept
      )
      const descriptions = yield* Cache.makeWith(
        Effect.fnUntraced(function* (key: ModelKey) {
          const compiled = yield* Cache.get(models, key)
          const { fill } = yield* fieldFacts
          return yield* fill(compiled)
        }),
        kept
      )
      return OntologyEngine.of({
        describe: Effect.fn("OntologyEngine.describe")(function* (input) {
          const isVisible = visibility(input)
          const sources = yield* Effect.mapError(Cache.get(descriptions, new ModelKey(input)), discreet(input))
          return sources.filter((source) => isVisible.has(source.connector))
        }),
        prepare: Effect.fn("OntologyEngine.prepare")(function* (input, query) {
          const compiled = yield* Effect.mapError(Cache.get(models, new ModelKey(input)), discreet(input))
          const { prepare } = yield* queryCompiler
          const { restrict } = yield* visibleModel
          return yield* prepare(restrict(compiled, visibility(input)), query)
        })
      })
    })
  )

/** The names of the connectors that whoever asks may use. */
const visibility = ({ connectors, visible }: OntologyInput): ReadonlySet<string> =>
  new Set(visible ?? connectors.map(({ name }) => name))

/** Why a model does not compile tells of all its tables: that is for those who may use all its connectors. */
const discreet =
  (input: OntologyInput) =>
  (error: OntologyError): OntologyError => {
    const isVisible = visibility(input)
    if (input.connectors.every(({ name }) => isVisible.has(name))) return error
    return new OntologyError({
      problems: [{ path: "ontology", line: 1, column: 1, message: "the ontology does not compile" }]
    })
  }

/** An engine that keeps 64 models for ten minutes each. */
export const layer: Layer.Layer<OntologyEngine, never, ConnectorDriver> = layerWith({})
