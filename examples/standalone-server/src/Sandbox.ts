/**
 * What the server runs programs in: sandboxes of Linux where the machine keeps all that they promise, else the embedded
 * ones, else none. What was chosen, and why, is logged; one that was asked for by name and cannot be had ends the start.
 */
import { SandboxRuntime } from "@castellan/core"
import * as Embedded from "@castellan/sandbox/embedded"
import * as Linux from "@castellan/sandbox/linux"
import * as DuckDbSqlExecutor from "@castellan/sandbox/sql/DuckDbSqlExecutor"
import { Effect, Layer, Option, Schema } from "effect"
import type { SandboxSettings } from "./Settings.ts"

/** The sandboxes that were asked for cannot be had here. */
export class SandboxUnusable extends Schema.TaggedError<SandboxUnusable>()("SandboxUnusable", {
  message: Schema.String
}) {}

type Sandboxes = Layer.Layer<SandboxRuntime.SandboxRuntime, SandboxUnusable>

const unusable = (reason: string) => new SandboxUnusable({ message: reason.trim() })

const linux = ({ memory, root }: SandboxSettings): Sandboxes =>
  Linux.layer({
    ...(Option.isSome(root) ? { root: root.value } : {}),
    ...(Option.isSome(memory) ? { limits: { memory: memory.value, addressSpace: memory.value * 1.5 } } : {})
  }).pipe(
    Layer.catch(({ message, remedy }) =>
      Layer.effect(SandboxRuntime.SandboxRuntime, Effect.fail(unusable(`${message} ${remedy}`)))
    )
  )

const embedded = ({ memory, packages }: SandboxSettings): Sandboxes =>
  Embedded.layer({
    ...(Option.isSome(packages) ? { packages: { folder: packages.value } } : {}),
    ...(Option.isSome(memory) ? { memoryBytes: memory.value } : {})
  }).pipe(
    Layer.catch(({ message, remedy }) =>
      Layer.effect(SandboxRuntime.SandboxRuntime, Effect.fail(unusable(`${message} ${remedy}`)))
    )
  )

/** One kind, or the next best; why it is not the first is told. */
const orElse = (first: Sandboxes, name: string, next: Sandboxes): Sandboxes =>
  first.pipe(
    Layer.catch(({ message }) =>
      Layer.unwrap(Effect.as(Effect.logWarning(`no ${name} sandboxes on this machine: ${message}`), next))
    )
  )

const chosen = (settings: SandboxSettings): Sandboxes => {
  switch (settings.kind) {
    case "none":
      return SandboxRuntime.layerUnavailable
    case "linux":
      return linux(settings)
    case "embedded":
      return embedded(settings)
    case "auto":
      return orElse(linux(settings), "Linux", orElse(embedded(settings), "embedded", SandboxRuntime.layerUnavailable))
  }
}

/** What stands between a program and this machine, in words. */
const walls: { readonly [Kind in SandboxRuntime.Isolation]: string } = {
  none: "no isolation",
  wasm: "embedded (WebAssembly in a process without permissions)",
  namespaces: "Linux (namespaces, a filter of system calls, limits)",
  gvisor: "gVisor",
  microvm: "a virtual machine"
}

/** Tells what runs programs. */
const told = Layer.effectDiscard(
  SandboxRuntime.SandboxRuntime.use(({ capabilities: { isolation, packages, statefulPython } }) =>
    Effect.logInfo(
      statefulPython
        ? `sandboxes: ${walls[isolation]}; Python with ${packages.join(", ") || "its standard library"}`
        : "sandboxes: none, so that no program is run"
    )
  )
)

/** The sandboxes of some settings. */
export const layer = (settings: SandboxSettings): Layer.Layer<SandboxRuntime.SandboxRuntime> =>
  told.pipe(Layer.provideMerge(chosen(settings)), Layer.provide(DuckDbSqlExecutor.layer()), Layer.orDie)
