/**
 * The embedded tier: what it keeps, and how it starts the processes of a session.
 */
import type { SandboxCapabilities, SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { join } from "node:path"
import type { SandboxProcess, SandboxTier } from "../../session/SandboxProcess.ts"
import { failure } from "../../session/SessionFailure.ts"
import { SessionLimits } from "../../session/SessionLimits.ts"
import { boundsOf, type EmbeddedOptions } from "../EmbeddedOptions.ts"
import { EmbeddedUnavailable } from "../EmbeddedUnavailable.ts"
import type { ChildEnded } from "./ChildEnded.ts"
import * as Children from "./Children.ts"
import * as EmbeddedSupervisor from "./EmbeddedSupervisor.ts"
import { FileRoom } from "./FileRoom.ts"
import { HostFiles } from "./HostFiles.ts"
import * as Installation from "./Installation.ts"
import * as PackageSet from "./PackageSet.ts"
import * as SelfTest from "./SelfTest.ts"
import * as SnapshotCache from "./SnapshotCache.ts"

/** What this tier keeps. */
const capabilitiesOf = (packages: ReadonlyArray<string>): SandboxCapabilities => ({
  isolation: "wasm",
  statefulPython: true,
  realBash: false,
  packages,
  // Loops, big numbers and sleeps stop with their variables kept; a call into compiled code that never looks up does not.
  gentleInterrupt: true,
  persistent: false,
  limits: {
    // An execution is ended by the engine's deadline; beyond that nothing bounds the processor.
    cpu: "none",
    // Python's own memory is bounded by the engine that runs it, the rest of the process by watching it.
    memory: "watchdog",
    // There are no processes to start, by any way that Deno leaves.
    processes: "hard",
    // Code that reaches JavaScript gets around the quota, and meets the watchdog; and SQLite's temporary files, which
    // only Linux refuses.
    disk: process.platform === "linux" ? "watchdog" : "none",
    network: "hard",
    time: "watchdog"
  }
})

const notWorking = (what: string, promise: EmbeddedUnavailable["promise"]) => (ended: ChildEnded) =>
  new EmbeddedUnavailable({
    promise,
    message: `${what}: ${ended.detail.slice(-1_000) || ended.reason}`,
    remedy: ended.exitCode === 126 || ended.exitCode === 127 ? "install the package `deno` anew" : ""
  })

const unavailable = (): SandboxError => failure("unavailable", "a process of the sandbox could not be started")

/** Finds what it needs, tries whether it keeps what it promises, and makes the tier. */
export const make: (options: EmbeddedOptions) => Effect.Effect<SandboxTier, EmbeddedUnavailable> = Effect.fnUntraced(
  function* (options) {
    const limits = yield* SessionLimits
    const bounds = boundsOf(options)
    const room = new FileRoom(bounds.allFileBytes)
    const installation = yield* Installation.locate
    const packages =
      options.packages === undefined
        ? PackageSet.none
        : yield* PackageSet.load(options.packages, join(installation.pyodide, "pyodide-lock.json"))
    const making = Children.snapshot({ installation, bounds, packages: PackageSet.none }).pipe(
      Effect.mapError(notWorking("no interpreter could be started", "deno"))
    )
    const providing = SnapshotCache.privateFolder(options.cache ?? SnapshotCache.defaultFolder()).pipe(
      Effect.flatMap((folder) => SnapshotCache.provide(folder, installation.digest, making))
    )
    let snapshot = yield* providing
    const turn = yield* Semaphore.make(1)
    const interpreter = Effect.suspend(() => Children.interpreter({ installation, bounds, packages, snapshot }))

    /** Systems clean their temporary folders: whoever starts an interpreter makes the snapshot anew where it has gone. */
    const again = Effect.fnUntraced(function* (ended: ChildEnded) {
      const tried = snapshot
      const look = providing.pipe(
        Effect.map((provided) => {
          if (!provided.found || provided.path !== tried.path) snapshot = provided
        })
      )
      yield* turn.withPermits(1)(Effect.suspend(() => (tried === snapshot ? look : Effect.void)))
      return yield* tried === snapshot ? ended : interpreter
    })
    const starting = interpreter.pipe(Effect.catchTag("ChildEnded", again))

    yield* interpreter.pipe(
      Effect.flatMap((child) => SelfTest.run(child, join(installation.pyodide, "pyodide.mjs"))),
      Effect.catchTag("ChildEnded", (ended) =>
        Effect.fail(notWorking("the self-test did not end", "interpreter")(ended))
      ),
      Effect.scoped
    )

    const supervisor: EmbeddedSupervisor.SupervisorOptions = {
      interpreter: starting.pipe(
        Effect.tapErrorTag("ChildEnded", ({ detail }) =>
          Effect.logError("an interpreter could not be started", detail)
        ),
        Effect.tapErrorTag("EmbeddedUnavailable", ({ message }) =>
          Effect.logError("an interpreter could not be started", message)
        ),
        Effect.mapError(unavailable)
      ),
      shell: Children.shell(installation, bounds).pipe(
        Effect.tapErrorTag("ChildEnded", ({ detail }) => Effect.logError("a shell could not be started", detail)),
        Effect.mapError(unavailable)
      ),
      python: `Pyodide ${installation.pyodideVersion}`,
      packages: packages.packages.map(({ name }) => name),
      grace: limits.grace,
      shellIdle: options.shellIdle ?? "30 seconds"
    }

    const launch = (files: HostFiles, nonce: string): Effect.Effect<SandboxProcess, SandboxError, Scope.Scope> =>
      Effect.gen(function* () {
        const scope = yield* Scope.Scope
        const within = yield* Scope.fork(scope)
        const started = yield* Scope.provide(EmbeddedSupervisor.start(supervisor, files, nonce), within).pipe(
          Effect.onError(() => Scope.close(within, Exit.void))
        )
        const process: SandboxProcess = {
          ...started,
          replaceInterpreter: Effect.andThen(
            Scope.close(within, Exit.void),
            Effect.suspend(() => Scope.provide(launch(files, nonce), scope))
          )
        }
        return process
      })

    return {
      capabilities: capabilitiesOf(packages.packages.map(({ name }) => name)),
      launch: (_spec, nonce) =>
        Effect.acquireRelease(
          Effect.sync(() => new HostFiles({ bytes: bounds.fileBytes, count: bounds.fileCount }, room)),
          (files) => Effect.sync(() => files.close())
        ).pipe(Effect.flatMap((files) => launch(files, nonce)))
    }
  }
)
