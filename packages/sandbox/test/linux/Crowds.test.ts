/** Many sessions at once, sessions that are closed while they open, and layers that close under them. */
import { OrganizationId } from "@castellan/core/organization/Organization"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { SandboxRuntime, type SandboxSession } from "@castellan/core/sandcastle/SandboxRuntime"
import { descendants } from "@castellan/testing/abuse/HostWatch"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { readdirSync } from "node:fs"
import { layerLinux, missing, sayWhatIsSkipped } from "../support/Linux.ts"

sayWhatIsSkipped("crowds of sandboxes on Linux")

const open = (runtime: SandboxRuntime["Service"], name: string) =>
  runtime.open({
    id: SandcastleId.make(name),
    organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
    library: []
  })

const said = (session: SandboxSession, code: string) =>
  Stream.runCollect(session.exec({ language: "python", code, within: "session", timeout: Duration.minutes(5) })).pipe(
    Effect.map((events) => events.map((event) => (event._tag === "Stdout" ? event.text : "")).join(""))
  )

const descriptors = () => readdirSync("/proc/self/fd").length

/** Waits for processes that end to have ended: only where some stay does it take its time. */
const settled = Effect.fnUntraced(function* (count: number) {
  for (let attempt = 0; attempt < 400 && descendants().length > count; attempt += 1) yield* Effect.sleep(50)
  return descendants().length
})

describe.skipIf(missing !== undefined)("crowds", () => {
  it.layer(layerLinux(), { timeout: "240 seconds", excludeTestServices: true })("of sessions", (it) => {
    it.effect(
      "200 open at once, more than wait in the line of a socket, and leave nothing behind",
      () =>
        Effect.gen(function* () {
          const runtime = yield* SandboxRuntime
          yield* Effect.scoped(open(runtime, "first"))
          const [processes, files] = [descendants().length, descriptors()]
          const names = Array.from({ length: 200 }, (_, index) => `crowd-${index}`)
          yield* Effect.scoped(
            Effect.gen(function* () {
              const sessions = yield* Effect.forEach(names, (name) => open(runtime, name), { concurrency: "unbounded" })
              const [one, last] = [sessions[0], sessions[199]]
              if (one === undefined || last === undefined) return assert.fail("there are fewer")
              assert.deepStrictEqual([yield* said(one, "print(1)"), yield* said(last, "print(2)")], ["1\n", "2\n"])
            })
          )
          assert.strictEqual(yield* settled(processes), processes)
          assert.isAtMost(descriptors(), files)
        }),
      300_000
    )

    it.effect(
      "40 are closed at every moment of their opening, and leave nothing behind",
      () =>
        Effect.gen(function* () {
          const runtime = yield* SandboxRuntime
          yield* Effect.scoped(open(runtime, "first"))
          const [processes, files] = [descendants().length, descriptors()]
          for (let wait = 0; wait < 40; wait += 1) {
            const fiber = yield* Effect.forkChild(
              Effect.scoped(Effect.andThen(open(runtime, `m-${wait}`), Effect.never)),
              {
                startImmediately: true
              }
            )
            yield* Effect.sleep(wait * 2)
            yield* Fiber.interrupt(fiber)
          }
          assert.strictEqual(yield* settled(processes), processes)
          assert.isAtMost(descriptors(), files)
          yield* Effect.scoped(Effect.flatMap(open(runtime, "after"), (session) => said(session, "print(3)"))).pipe(
            Effect.map((text) => assert.strictEqual(text, "3\n"))
          )
        }),
      300_000
    )
  })

  it.live(
    "a layer that closes takes its sessions along, and opens none afterwards",
    () =>
      Effect.gen(function* () {
        const before = descendants().length
        const owner = yield* Scope.make()
        const context = yield* Layer.buildWithScope(layerLinux(), owner)
        const runtime = yield* SandboxRuntime.pipe(Effect.provideContext(context))
        yield* Effect.scoped(
          Effect.gen(function* () {
            const session = yield* open(runtime, "orphan")
            const opening = yield* Effect.forkChild(Effect.exit(open(runtime, "midway")), { startImmediately: true })
            yield* Scope.close(owner, Exit.void)
            assert.strictEqual((yield* Effect.flip(session.usage)).reason, "lost")
            yield* Fiber.await(opening)
            assert.strictEqual((yield* Effect.flip(open(runtime, "late"))).reason, "unavailable")
          })
        )
        assert.strictEqual(yield* settled(before), before)
      }),
    300_000
  )
})
