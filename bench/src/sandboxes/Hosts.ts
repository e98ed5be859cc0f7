/**
 * Everything that has Pythons on this machine: ours, and the peers. What cannot be had is said loudly and left out.
 */
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Embedded from "@castellan/sandbox/embedded"
import * as Linux from "@castellan/sandbox/linux"
import * as KernelSession from "@castellan/sandbox/session/KernelSession"
import type { SandboxTier } from "@castellan/sandbox/session/SandboxProcess"
import { Context, Effect, FileSystem, Layer, type Scope } from "effect"
import { NodeFileSystem } from "@effect/platform-node"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import * as Progress from "../report/Progress.ts"
import { castellanSessions, coldSessions, pooledSessions } from "./CastellanSessions.ts"
import { ipykernels } from "./Ipykernel.ts"
import { plainPython } from "./PlainPython.ts"
import * as PythonProcess from "./PythonProcess.ts"
import type { PythonHost } from "./PythonSession.ts"

/** What our sessions have imported before they are asked to. */
export const imported = ["numpy", "pandas", "matplotlib.pyplot"]

/** The peers. */
export interface Peers {
  readonly cpython: PythonHost
  /** CPython that imports what our sessions have. */
  readonly cpythonReady: PythonHost
  readonly ipykernel: PythonHost | undefined
  readonly ipykernelReady: PythonHost | undefined
}

/** Ours on Linux. */
export interface LinuxHosts {
  readonly tier: SandboxTier
  readonly sessions: PythonHost
  readonly pooled: PythonHost
  readonly cold: PythonHost
}

/** Ours everywhere. */
export interface EmbeddedHosts {
  readonly sessions: PythonHost
  readonly cold: PythonHost
}

/** Everything that there is. */
export interface Hosts {
  readonly peers: Peers | undefined
  readonly linux: LinuxHosts | undefined
  readonly embedded: EmbeddedHosts
}

const sayMissing = (what: string, why: string): Effect.Effect<undefined> =>
  Effect.as(Progress.say(`  *** NOT MEASURED: ${what}: ${why}`), undefined)

const peersOf: Effect.Effect<Peers | undefined, never, Scope.Scope> = Effect.gen(function* () {
  if (!PythonProcess.isAvailable)
    return yield* sayMissing("CPython and ipykernel", `there is no ${PythonProcess.python}`)
  const kernels = yield* ipykernels
  if (kernels === undefined) {
    yield* sayMissing("ipykernel", "the packages python3-ipykernel and python3-jupyter-client are not installed")
  }
  const imports = `import ${imported.join(", ")}`
  return {
    cpython: plainPython("CPython, a process", []),
    cpythonReady: plainPython("CPython that imports the same", imported),
    ipykernel: kernels?.("ipykernel", undefined),
    ipykernelReady: kernels?.("ipykernel that imports the same", imports)
  }
})

const runtimeOf = (tier: SandboxTier): Effect.Effect<SandboxRuntime["Service"], never, Scope.Scope> =>
  Effect.map(Layer.build(KernelSession.layer(tier)), (services) => Context.get(services, SandboxRuntime))

const linuxOf: Effect.Effect<LinuxHosts | undefined, never, Scope.Scope> = Effect.gen(function* () {
  const tier = yield* Effect.result(Linux.tier())
  if (tier._tag === "Failure") return yield* sayMissing("sandboxes of Linux", tier.failure.message)
  const runtime = yield* runtimeOf(tier.success)
  return {
    tier: tier.success,
    sessions: castellanSessions("Castellan, Linux: from the fork-server", runtime),
    pooled: yield* pooledSessions("Castellan, Linux: from a pool", runtime),
    cold: coldSessions("Castellan, Linux: the first session", Linux.layer())
  }
})

const embeddedOf: Effect.Effect<EmbeddedHosts, BenchmarkFailure, Scope.Scope> = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const cache = yield* files.makeTempDirectoryScoped({ prefix: "castellan-bench-sandboxes-" })
  // What it keeps for later starts is made here, and not measured.
  const tier = yield* Embedded.tier({ cache })
  return {
    sessions: castellanSessions("Castellan, embedded", yield* runtimeOf(tier)),
    cold: coldSessions("Castellan, embedded: the first session", Embedded.layer({ cache }))
  }
}).pipe(
  Effect.provide(NodeFileSystem.layer),
  Effect.mapError(({ message }) => new BenchmarkFailure({ message: `the embedded sandboxes: ${message}` }))
)

/** Looks for everything; it ends with its scope. */
export const hosts: Effect.Effect<Hosts, BenchmarkFailure, Scope.Scope> = Effect.all({
  peers: peersOf,
  linux: linuxOf,
  embedded: embeddedOf
})
