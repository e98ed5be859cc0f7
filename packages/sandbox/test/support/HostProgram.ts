/**
 * A host of its own, for tests that kill it: opens a session, leaves a program behind that ignores what can be ignored,
 * says so on standard output, and waits. Its argument is the folder for its private one.
 */
import { OrganizationId } from "@castellan/core/organization/Organization"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { layer } from "../../src/linux.ts"

const daemon = `
import os, signal
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        while True:
            signal.pause()
    os._exit(0)
print("left")
`

const [, , folder = "/tmp"] = process.argv

const program = Effect.gen(function* () {
  const runtime = yield* SandboxRuntime
  const session = yield* runtime.open({
    id: SandcastleId.make("host-program"),
    organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
    library: []
  })
  yield* Stream.runDrain(
    session.exec({ language: "python", code: daemon, within: "session", timeout: Duration.minutes(1) })
  )
  console.log("ready")
  return yield* Effect.never
})

Effect.runFork(Effect.scoped(program).pipe(Effect.provide(layer({ folder }))))
