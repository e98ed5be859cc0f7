/**
 * The remote tier under abuse, over a local server that speaks E2B's protocol: what the host makes of a hostile sandbox,
 * and of a provider that fails. The walls of a microVM are E2B's, and the local server has none: what tries them is not
 * run here, above all what would do harm to this machine.
 */
import * as AbuseSuite from "@castellan/testing/abuse/AbuseSuite"
import { failingProvider, type ProviderFailure } from "@castellan/testing/abuse/cases/FailingProvider"
import type { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as DuckDbSqlExecutor from "../../src/sql/DuckDbSqlExecutor.ts"
import { type E2bServer, type Fault, type Route, serve } from "../remote/support/E2bServer.ts"
import { python } from "../remote/support/Python.ts"
import { adapter, LocalE2b } from "../remote/support/Remote.ts"

const mebibyte = 1024 * 1024

let running: E2bServer | undefined

/** The server that the suite's runtime has. */
const server = Effect.sync(() => {
  if (running === undefined) throw new Error("there is no server yet")
  return running
})

const local: Layer.Layer<LocalE2b> = Layer.effect(
  LocalE2b,
  Effect.tap(serve(python ?? "python3"), (started) =>
    Effect.sync(() => {
      running = started
    })
  )
)

// Deadlines that are waited for where the provider hangs, and that nothing else reaches.
const layer: Layer.Layer<SandboxRuntime> = adapter({ callTimeout: "10 seconds", createTimeout: "10 seconds" }).pipe(
  Layer.provide(local),
  Layer.provide(DuckDbSqlExecutor.layer())
)

const failing = (what: string, route: Route, fault: Fault, reason: ProviderFailure["reason"]): ProviderFailure => ({
  what,
  reason,
  during: (effect) =>
    Effect.gen(function* () {
      const { misbehave } = yield* server
      misbehave((asked) => (asked === route ? fault : undefined))
      return yield* Effect.ensuring(
        effect,
        Effect.sync(() => misbehave(undefined))
      )
    })
})

const microvm = "the walls of the microVM are E2B's, and the local server that speaks its protocol has none"
const withoutWalls = [
  6, 7, 9, 10, 11, 12, 13, 14, 17, 18, 19, 20, 21, 22, 23, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 39, 40, 41,
  42, 43, 46, 48, 50
]

describe.skipIf(python === undefined)("remote", () => {
  AbuseSuite.suite("remote", layer, {
    kind: { isolation: "microvm", realBash: true },
    bounds: { folders: [], memoryBytes: 4_608 * mebibyte, diskBytes: mebibyte, processes: 120 },
    own: [
      failingProvider({
        failures: [
          failing("500 to creating", "create", { status: 500 }, "unavailable"),
          failing("a quota that is used up", "create", { status: 429 }, "exhausted"),
          failing("a key that is not accepted", "create", { status: 401 }, "unavailable"),
          failing("500 to looking for the session", "list", { status: 500 }, "unavailable"),
          failing("500 to commands", "start", { status: 500 }, "unavailable"),
          failing("no answer to creating", "create", "hang", "unavailable"),
          failing("no answer to commands", "start", "hang", "unavailable"),
          failing("no answer to what is typed", "input", "hang", "unavailable")
        ],
        deadline: 120_000,
        lose: Effect.map(server, ({ lose, sandboxes }) => {
          for (const id of sandboxes()) lose(id)
        }),
        left: Effect.map(server, ({ processes, sandboxes }) => sandboxes().length + processes().length)
      })
    ],
    absent: {
      ...Object.fromEntries(withoutWalls.map((number) => [number, microvm])),
      37: "its sessions outlive their host by design, for their lease: Faults.test.ts",
      49: "it starts nothing on the host; a session that E2B does not open is case 51"
    }
  })
})
