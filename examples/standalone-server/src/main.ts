/**
 * Runs the standalone server until it is told to stop, or one of its commands.
 */
import { NodeCrypto, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Effect } from "effect"
import { CliError, Command } from "effect/cli"
import { castellan } from "./Commands.ts"
import * as Failure from "./Failure.ts"
import { endWithParent, outliveOutput } from "./Output.ts"

outliveOutput()
endWithParent()

const explained = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.tapCause(self, (cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const error = Cause.squash(cause)
    // A line that cannot be read was answered with how to write it.
    if (CliError.isCliError(error)) return Effect.void
    return Effect.logFatal(Failure.told(error))
  })

NodeRuntime.runMain(
  Command.run(castellan, { version: "0.0.0" }).pipe(explained, Effect.provide([NodeServices.layer, NodeCrypto.layer])),
  { disableErrorReporting: true }
)
