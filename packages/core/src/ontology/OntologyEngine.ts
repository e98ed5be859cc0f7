/**
 * The port to the semantic model's compiler.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Connector } from "../connector/Connector.ts"
import type { OntologyFile, OntologySource } from "./Ontology.ts"

/** A place in a model file, or in a query (then `path` is `query`), that does not compile. Lines and columns are 1-based. */
export const OntologyProblem = Schema.Struct({
  path: Schema.String,
  line: Schema.Int,
  column: Schema.Int,
  message: Schema.String
}).annotate({ identifier: "OntologyProblem" })
export type OntologyProblem = typeof OntologyProblem.Type

/** A model or a query does not compile; each problem has its file, line and column. */
export class OntologyError extends Schema.TaggedError<OntologyError>()("OntologyError", {
  problems: Schema.Array(OntologyProblem)
}) {
  override get message(): string {
    return this.problems
      .map((problem) => `${problem.path}:${problem.line}:${problem.column}: ${problem.message}`)
      .join("\n")
  }
}

/** A query in the model's language, compiled for the connector that will run it. */
export interface PreparedQuery {
  readonly connector: Connector
  /** One read-only statement in the connector's dialect. */
  readonly sql: string
}

/** What an engine compiles: the files of the `ontology/` folder, and the connectors that they may name. */
export interface OntologyInput {
  readonly files: ReadonlyArray<OntologyFile>
  readonly connectors: ReadonlyArray<Connector>
  /**
   * The names of the connectors that whoever asks may use; absent: all of them. A model is one and compiles whoever
   * asks, but what is over any other connector is for them not there: it is not described, no query reaches it, and no
   * error tells of it.
   */
  readonly visible?: ReadonlyArray<string>
}

/**
 * Compiles semantic models. An engine keeps compiled models for as long as their input is the same, and never
 * mixes the inputs of two callers.
 */
export class OntologyEngine extends Context.Service<
  OntologyEngine,
  {
    /** Every source of the model, in the order of their names. Fails when any file does not compile. */
    readonly describe: (input: OntologyInput) => Effect.Effect<ReadonlyArray<OntologySource>, OntologyError>
    /** Compiles one query, such as `run: flights -> { aggregate: flight_count }`, against all files of the model. */
    readonly prepare: (input: OntologyInput, query: string) => Effect.Effect<PreparedQuery, OntologyError>
  }
>()("@castellan/core/ontology/OntologyEngine") {}
