/**
 * What the server runs programs in: sandboxes of Linux where the machine keeps all that they promise, else the embedded
 * ones, else none. What was chosen, and why, is logged; one that was asked for by name and cannot be had ends the start.
 */
import { SandboxRuntime } from "@castellan/core"
import * as DefaultSandbox from "@castellan/sandbox/DefaultSandbox"
import * as DuckDbSqlExecutor from "@castellan/sandbox/sql/DuckDbSqlExecutor"
import { Effect, Layer, Option, Schema } from "effect"
import type { SandboxSettings } from "./Settings.ts"

/** The sandboxes that were asked for cannot be had here. */
export class SandboxUnusable extends Schema.TaggedError<SandboxUnusable>()("SandboxUnusable", {
  message: Schema.String
}) {}

const optionsOf = ({ kind, memory, packages, root }: SandboxSettings): DefaultSandbox.DefaultSandboxOptions => {
  const bytes = Option.getOrUndefined(memory)
  return {
    choice: kind,
    linux: {
      ...(Option.isSome(root) ? { root: root.value } : {}),
      ...(bytes === undefined ? {} : { limits: { memory: bytes, addressSpace: bytes * 1.5 } })
    },
    embedded: {
      ...(Option.isSome(packages) ? { packages: { folder: packages.value } } : {}),
      ...(bytes === undefined ? {} : { memoryBytes: bytes })
    }
  }
}

/** What stands between a program and this machine, in words. */
const walls: { readonly [Tier in DefaultSandbox.SandboxChoice["Service"]["tier"]]: string } = {
  linux: "Linux (namespaces, a filter of system calls, limits)",
  embedded: "embedded (WebAssembly in a process without permissions)",
  none: "none, so that no program is run"
}

/** Tells what runs programs. */
const told = Layer.effectDiscard(
  Effect.gen(function* () {
    const { tier } = yield* DefaultSandbox.SandboxChoice
    const { capabilities } = yield* SandboxRuntime.SandboxRuntime
    const python = `; Python with ${capabilities.packages.join(", ") || "its standard library"}`
    yield* Effect.logInfo(`sandboxes: ${walls[tier]}${tier === "none" ? "" : python}`)
  })
)

/** The sandboxes of some settings, with SQL over what their sessions hold. Where they cannot be had, the start ends. */
export const layer = (settings: SandboxSettings): Layer.Layer<SandboxRuntime.SandboxRuntime> =>
  told.pipe(
    Layer.provideMerge(DefaultSandbox.layer(optionsOf(settings))),
    Layer.provide(DuckDbSqlExecutor.layer()),
    Layer.catch((unavailable) =>
      Layer.effect(
        SandboxRuntime.SandboxRuntime,
        Effect.fail(new SandboxUnusable({ message: `CASTELLAN_SANDBOX: ${DefaultSandbox.inWords(unavailable)}` }))
      )
    ),
    Layer.orDie
  )
