/**
 * Runs the standalone server until it is told to stop.
 */
import { NodeCrypto, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Effect, Layer } from "effect"
import * as Server from "./Server.ts"
import { settings } from "./Settings.ts"

/** A start that fails is told in one line: the operator can mend it, and a stack would not help them. */
const explained = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.tapCause(self, (cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const error = Cause.squash(cause)
    return Effect.logFatal(error instanceof Error ? error.message : String(error))
  })

NodeRuntime.runMain(
  settings.pipe(
    Effect.flatMap((read) => Layer.launch(Server.layer(read))),
    explained,
    Effect.provide([NodeServices.layer, NodeCrypto.layer])
  ),
  { disableErrorReporting: true }
)
