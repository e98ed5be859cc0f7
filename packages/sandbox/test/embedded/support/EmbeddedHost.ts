/**
 * A host of its own, for tests that kill it: opens a session, leaves programs running in it that never end, says so on
 * standard output, and waits. Its argument is the folder of the memory that interpreters start with, if it has one.
 */
import { layer } from "@castellan/sandbox/embedded"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Stream from "effect/Stream"
import { opened } from "./Sessions.ts"

const busy = `
print("running")
while True:
    try:
        while True: pass
    except BaseException: pass
`

const program = Effect.gen(function* () {
  const session = yield* opened()
  const running = yield* Latch.make()
  const options = { within: "session", timeout: Duration.minutes(10) } as const
  yield* session.exec({ language: "python", code: busy, ...options }).pipe(
    Stream.runForEach((event) => (event._tag === "Stdout" ? running.open : Effect.void)),
    Effect.forkChild
  )
  yield* running.await
  yield* session
    .exec({ language: "bash", code: "sleep 600", ...options, within: "process" })
    .pipe(Stream.runDrain, Effect.forkChild)
  console.log("ready")
  return yield* Effect.never
})

const [, , cache] = process.argv

Effect.runFork(Effect.scoped(program).pipe(Effect.provide(layer(cache === undefined ? {} : { cache }))))
