/**
 * What is left of sessions: nothing, however they end.
 */
import { layer } from "@castellan/sandbox/embedded"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { patience } from "./support/Patience.ts"
import { childrenOf, runs, until, withoutProc } from "./support/Processes.ts"
import { all, bash, opened } from "./support/Sessions.ts"

describe.skipIf(withoutProc !== "")(`what is left of sessions ${withoutProc}`, () => {
  it.live(
    "nothing, when the host is killed while they run",
    () =>
      Effect.gen(function* () {
        const program = fileURLToPath(new URL("support/EmbeddedHost.ts", import.meta.url))
        const host = yield* Effect.acquireRelease(
          Effect.sync(() => spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] })),
          (child) => Effect.sync(() => child.kill("SIGKILL"))
        )
        let said = ""
        host.stdout.on("data", (chunk) => {
          said += String(chunk)
        })
        yield* until(() => said.includes("ready"))
        const { pid = 0 } = host
        yield* until(() => childrenOf(pid).length === 2)
        const left = childrenOf(pid)
        host.kill("SIGKILL")
        yield* until(() => !left.some(runs))
      }).pipe(Effect.scoped),
    patience
  )

  it.live(
    "nothing, when they are closed while they run",
    () =>
      Effect.gen(function* () {
        const before = childrenOf(process.pid)
        const scope = yield* Scope.make()
        const session = yield* Scope.provide(opened(), scope)
        yield* all(session, "x = 1")
        yield* bash(session, "echo hi")
        const started = childrenOf(process.pid).filter((pid) => !before.includes(pid))
        assert.lengthOf(started, 2)
        yield* Scope.close(scope, Exit.void)
        // The scope is closed when they are gone, and not some time later.
        assert.deepStrictEqual(started.filter(runs), [])
      }).pipe(Effect.provide(layer())),
    patience
  )

  it.live(
    "no shell, once nobody needed it for a while; the next command has another",
    () =>
      Effect.gen(function* () {
        const session = yield* opened()
        const before = childrenOf(process.pid)
        yield* bash(session, "echo kept > outputs/kept.txt")
        yield* until(() => childrenOf(process.pid).length === before.length)
        const events = yield* bash(session, "cat outputs/kept.txt")
        assert.deepInclude(events[1], { _tag: "Stdout", text: "kept\n" })
      }).pipe(Effect.scoped, Effect.provide(layer({ shellIdle: "200 millis" }))),
    patience
  )
})
