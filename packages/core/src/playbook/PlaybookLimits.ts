/**
 * The bounds of playbooks' runs.
 *
 * Source: decisions.md §6 ("past its limit (default 10 minutes) `timeout`").
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"

/** The bounds of a playbook's run. */
export interface PlaybookLimits {
  /** Wall-clock time from the question to the answer. The chat's run has its own limit, and the shorter one ends it. */
  readonly timeout: Duration.Duration
}

/** The bounds in force; a host replaces them by providing its own value. */
export const PlaybookLimits = Context.Reference<PlaybookLimits>("@castellan/core/playbook/PlaybookLimits", {
  defaultValue: () => ({ timeout: Duration.minutes(10) })
})
