/**
 * Whether the Linux tier can be had on this machine, for tests of it: where it cannot, what they skip is said loudly.
 */
import type { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { layer, type LinuxOptions, tier } from "../../src/linux.ts"

/**
 * Why no sandbox starts here; undefined where one does. A machine that has bubblewrap and Python must be able to: there,
 * a failure is a failure of the tests, and not a reason to skip them.
 */
export const missing: string | undefined = await Effect.runPromise(
  Effect.result(Effect.scoped(tier())).pipe(
    Effect.map((made) => {
      if (Result.isSuccess(made)) return undefined
      const { message, promise, remedy } = made.failure
      const reason = `${message}${remedy === "" ? "" : ` (${remedy})`}`
      if (promise === "platform" || promise === "bubblewrap" || promise === "python") return reason
      if (promise === "namespaces" || promise === "procfs") return reason
      throw made.failure
    })
  )
)

/** Says that tests of the Linux tier are skipped, and why. */
export const sayWhatIsSkipped = (what: string): void => {
  // The report of the tests has their number, not the reason.
  if (missing !== undefined) console.warn(`\n*** SKIPPED: ${what}: no Linux sandbox starts here: ${missing}\n`)
}

/** Sandboxes for tests. Whoever uses it asks `missing` first. */
export const layerLinux = (options?: LinuxOptions): Layer.Layer<SandboxRuntime> => Layer.orDie(layer(options))
