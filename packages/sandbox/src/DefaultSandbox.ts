/**
 * The sandboxes of a host that has not chosen: Linux's where its self-test passes, the embedded ones elsewhere, none
 * where neither starts. What was chosen is a value, with the reason in words, and is logged: nobody gets a weaker
 * sandbox in silence. A host that has chosen gets what it chose, or an error that says why not.
 *
 * Source: decisions.md §7; issue "Sandcastles".
 */
import { layerUnavailable, SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as embedded from "./embedded.ts"
import type { EmbeddedOptions } from "./embedded/EmbeddedOptions.ts"
import type { EmbeddedUnavailable } from "./embedded/EmbeddedUnavailable.ts"
import * as linux from "./linux.ts"
import type { LinuxUnavailable } from "./linux/LinuxUnavailable.ts"
import * as KernelSession from "./session/KernelSession.ts"
import type { SandboxTier } from "./session/SandboxProcess.ts"
import { failure } from "./session/SessionFailure.ts"

/** The sandboxes that a host has, and why. */
export class SandboxChoice extends Context.Service<
  SandboxChoice,
  {
    readonly tier: "embedded" | "linux" | "none"
    /** For whoever runs the host; may name paths of it. */
    readonly reason: string
  }
>()("@castellan/sandbox/DefaultSandbox/SandboxChoice") {}

/** How the sandboxes of a host are chosen. */
export interface DefaultSandboxOptions {
  /** `auto`: the strongest that starts. Any other: that one and no other. Absent: `auto`. */
  readonly choice?: "auto" | "embedded" | "linux" | "none"
  readonly linux?: linux.LinuxOptions
  readonly embedded?: EmbeddedOptions
}

/** The tiers to choose from, each started when it is asked for. */
export interface Tiers<E1, E2> {
  readonly linux: Effect.Effect<SandboxTier, E1, Scope.Scope>
  readonly embedded: Effect.Effect<SandboxTier, E2, Scope.Scope>
}

/** Why a tier does not start, and what mends it. */
interface Unavailable {
  readonly message: string
  readonly remedy: string
}

/** A choice, with the tier where there is one. */
interface Chosen {
  readonly choice: SandboxChoice["Service"]
  readonly tier: SandboxTier | undefined
}

/** Why a tier does not start, and what mends it, in one line for people. */
export const inWords = ({ message, remedy }: Unavailable): string =>
  remedy === "" ? message : `${message} (to mend it: ${remedy})`

/** Chooses among tiers. */
export const choose: <E1 extends Unavailable, E2 extends Unavailable>(
  choice: NonNullable<DefaultSandboxOptions["choice"]>,
  tiers: Tiers<E1, E2>
) => Effect.Effect<Chosen, E1 | E2, Scope.Scope> = Effect.fnUntraced(function* (choice, tiers) {
  switch (choice) {
    case "none":
      return { choice: { tier: "none", reason: "the host wants none" }, tier: undefined }
    case "linux":
      return { choice: { tier: "linux", reason: "the host wants these" }, tier: yield* tiers.linux }
    case "embedded":
      return { choice: { tier: "embedded", reason: "the host wants these" }, tier: yield* tiers.embedded }
    case "auto": {
      const strong = yield* Effect.result(tiers.linux)
      if (Result.isSuccess(strong)) {
        return { choice: { tier: "linux", reason: "its self-test passed" }, tier: strong.success }
      }
      const without = `the Linux tier does not start: ${inWords(strong.failure)}`
      const anywhere = yield* Effect.result(tiers.embedded)
      if (Result.isSuccess(anywhere)) return { choice: { tier: "embedded", reason: without }, tier: anywhere.success }
      const reason = `${without}; the embedded tier does not start: ${inWords(anywhere.failure)}`
      return { choice: { tier: "none", reason }, tier: undefined }
    }
  }
})

/** Nothing opens; who tries is told, without what only the operator may know. */
const layerNone: Layer.Layer<SandboxRuntime> = Layer.effect(
  SandboxRuntime,
  Effect.map(SandboxRuntime, ({ capabilities }) => ({
    capabilities,
    open: () => Effect.fail(failure("unavailable", "no sandbox starts on this server; its log says why"))
  }))
).pipe(Layer.provide(layerUnavailable))

const announce = ({ reason, tier }: SandboxChoice["Service"], wanted: DefaultSandboxOptions["choice"]) => {
  const annotations = { tier, reason }
  if (tier === "none" && wanted !== "none") return Effect.logError("there are no sandboxes", annotations)
  return tier === "embedded" && wanted === "auto"
    ? Effect.logWarning("sandboxes are embedded ones", annotations)
    : Effect.logInfo("sandboxes", annotations)
}

/** The sandboxes of a host, and the choice as a value. */
export const layer = ({ choice: wanted = "auto", ...options }: DefaultSandboxOptions = {}): Layer.Layer<
  SandboxChoice | SandboxRuntime,
  EmbeddedUnavailable | LinuxUnavailable
> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const tiers = { linux: linux.tier(options.linux), embedded: embedded.tier(options.embedded) }
      const { choice, tier } = yield* choose(wanted, tiers)
      yield* announce(choice, wanted)
      const runtime = tier === undefined ? layerNone : KernelSession.layer(tier)
      return Layer.merge(runtime, Layer.succeed(SandboxChoice, choice))
    })
  )
