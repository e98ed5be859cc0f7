/**
 * What the tools of one run share: whose run it is, what it may use, and where its events go.
 */
import type * as Effect from "effect/Effect"
import type { Connector } from "../connector/Connector.ts"
import type { OntologyInput } from "../ontology/OntologyEngine.ts"
import type { Run } from "../run/Run.ts"
import type { RunEvent } from "../run/RunEvent.ts"
import type { RunLimits } from "../run/RunLimits.ts"
import type { ResultShelf } from "./ResultShelf.ts"

/** What the tools of one run share. */
export interface RunContext {
  readonly run: Run
  /** The connectors that the run may use, and no other. */
  readonly connectors: ReadonlyArray<Connector>
  /** The organization's ontology, as far as the run may see it. */
  readonly ontology: OntologyInput
  readonly limits: RunLimits
  readonly results: ResultShelf
  /** Appends an event to the run's log. */
  readonly emit: (event: RunEvent) => Effect.Effect<void>
  /** A new UUIDv7. */
  readonly nextId: Effect.Effect<string>
}
