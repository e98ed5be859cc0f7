/**
 * The bounds of sandcastles and of what runs in them.
 *
 * Source: decisions.md §5 ("default 180 s"), §7 ("Idle sandcastles stop after 15 minutes").
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import { idleLimit } from "./Sandcastle.ts"
import type { SandboxRequirement } from "./SandboxRuntime.ts"

/** The bounds of sandcastles. */
export interface SandcastleLimits {
  /** How long one may be idle before it is stopped. */
  readonly idle: Duration.Duration
  /** Sandcastles of one organization that run at once, on all servers together. */
  readonly perOrganization: number
  /** Sessions that are open at once in one process, of all organizations together. */
  readonly perServer: number
  /**
   * How long the sandcastle of a chat is idle, where there is no room for another one, before it is stopped to make some.
   * It is started again by the chat's next use of it. More than a minute: what is in use is noted once a minute.
   */
  readonly spareAfter: Duration.Duration
  /** Wall-clock time of one execution. */
  readonly executionTimeout: Duration.Duration
  /** Bytes of output that an answer holds; what is beyond is cut, and said to be. */
  readonly outputBytes: number
  /** Wall-clock time of one statement whose result becomes a dataframe. */
  readonly statementTimeout: Duration.Duration
  /** Rows of a result that becomes a dataframe, at most and where nothing is said. */
  readonly maxRows: number
  /** Bytes of such a result. */
  readonly maxBytes: number
  /** Bytes of an uploaded file. */
  readonly uploadBytes: number
  /** What every session must have. */
  readonly require: SandboxRequirement
}

/** The bounds in force; a host replaces them by providing its own value. */
export const SandcastleLimits = Context.Reference<SandcastleLimits>("@castellan/core/sandcastle/SandcastleLimits", {
  defaultValue: () => ({
    idle: idleLimit,
    perOrganization: 20,
    perServer: 100,
    spareAfter: Duration.minutes(3),
    executionTimeout: Duration.minutes(10),
    outputBytes: 1024 * 1024,
    statementTimeout: Duration.seconds(180),
    maxRows: 100_000,
    maxBytes: 64 * 1024 * 1024,
    uploadBytes: 25 * 1024 * 1024,
    require: {}
  })
})
