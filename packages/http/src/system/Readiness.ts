/**
 * Whether this process can answer requests now, for whoever sends them here.
 *
 * A host that has more to wait for, such as a database, provides its own check.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Whether requests can be answered now. */
export const Readiness = Context.Reference<Effect.Effect<boolean>>("@castellan/http/system/Readiness", {
  defaultValue: () => Effect.succeed(true)
})
