/**
 * The bounds of a run. Every one of them ends the work at its source, not only the wait for it.
 *
 * Source: decisions.md §5 ("default 180 s"), §6 ("default 10 minutes").
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"

/** The bounds of a run and of each of its steps. */
export interface RunLimits {
  /** Wall-clock time of the whole run. */
  readonly timeout: Duration.Duration
  /** Turns of the model. In the last one no tool is on offer, so that it must answer. */
  readonly maxSteps: number
  /** Output tokens over all turns. */
  readonly maxOutputTokens: number
  /** Calls of tools over all turns. */
  readonly maxToolCalls: number
  /** Wall-clock time of one statement on a connector. */
  readonly statementTimeout: Duration.Duration
  /** Wall-clock time of one program or command in the sandbox. */
  readonly executionTimeout: Duration.Duration
  /** Rows of one result. */
  readonly maxRows: number
  /** Bytes of one result. */
  readonly maxBytes: number
  /** Rows of a result that the model reads; charts and tables have them all. */
  readonly rowsForModel: number
  /** Characters of a result that the model reads, as JSON; the first row comes through whatever it has. */
  readonly charactersForModel: number
  /** Characters of a description of tables, or of the ontology, that the model reads, as JSON; the rest is counted. */
  readonly descriptionCharacters: number
  /** Characters of a chat's earlier questions and answers that the model reads; the oldest go first. */
  readonly historyCharacters: number
  /** How long pieces of text are gathered before they are stored as one event. */
  readonly textInterval: Duration.Duration
}

/** The bounds in force; a host replaces them by providing its own value. */
export const RunLimits = Context.Reference<RunLimits>("@castellan/core/run/RunLimits", {
  defaultValue: () => ({
    timeout: Duration.minutes(10),
    maxSteps: 24,
    maxOutputTokens: 64_000,
    maxToolCalls: 64,
    statementTimeout: Duration.seconds(180),
    executionTimeout: Duration.seconds(180),
    maxRows: 10_000,
    maxBytes: 16 * 1024 * 1024,
    rowsForModel: 200,
    charactersForModel: 50_000,
    descriptionCharacters: 200_000,
    historyCharacters: 100_000,
    textInterval: Duration.millis(16)
  })
})
