/** A host that may have few open files: as many sessions as they are enough for, and a refusal in words for the next. */
import { OrganizationId } from "@castellan/core/organization/Organization"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { SandboxRuntime, type SandboxSession } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layerLinux, missing, sayWhatIsSkipped } from "../support/Linux.ts"

sayWhatIsSkipped("what sandboxes on Linux do without file descriptors")

/** Milliseconds that only what hangs takes. */
const patience = 240_000

/** Open files of the fork-server, for which the limit of a host stands. */
const limit = 80

/** A bubblewrap that may have no more of them. */
const restricted = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = await mkdtemp(join(tmpdir(), "castellan-test-"))
    const path = join(folder, "bwrap")
    await chmod(folder, 0o755)
    await writeFile(path, `#!/bin/sh\nulimit -n ${limit}\nexec /usr/bin/bwrap "$@"\n`, { mode: 0o755 })
    return { folder, path }
  }),
  ({ folder }) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

const open = (name: string) =>
  SandboxRuntime.use((runtime) =>
    runtime.open({
      id: SandcastleId.make(name),
      organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
      library: []
    })
  )

const said = (session: SandboxSession) =>
  Stream.runCollect(
    session.exec({ language: "python", code: "print(42)", within: "session", timeout: Duration.minutes(2) })
  ).pipe(Effect.map((events) => events.map((event) => (event._tag === "Stdout" ? event.text : "")).join("")))

describe.skipIf(missing !== undefined)("a limit of open files", { timeout: patience }, () => {
  it.live("refuses the session that there are none for, names itself, and the others go on", () =>
    Effect.gen(function* () {
      const { folder, path } = yield* restricted
      const context = yield* Layer.build(layerLinux({ bubblewrap: path, folder }))
      yield* Effect.gen(function* () {
        const sessions: Array<SandboxSession> = []
        const scopes: Array<Scope.Closeable> = []
        const next = Effect.gen(function* () {
          const scope = yield* Scope.make()
          scopes.push(scope)
          sessions.push(yield* Scope.provide(open(`crowd-${scopes.length}`), scope))
        })
        const refused = yield* Effect.flip(Effect.forever(next))
        assert.strictEqual(refused.reason, "unavailable")
        assert.include(refused.message, `${limit} open files are the limit (RLIMIT_NOFILE)`)
        assert.isAtLeast(sessions.length, 8)
        // All of them are there, and are looked after: their memory is asked for by the fork-server.
        for (const session of sessions) {
          assert.strictEqual(yield* said(session), "42\n")
          assert.isAbove((yield* session.usage).memoryBytes ?? 0, 0)
        }
        // Again and again: a refusal costs nothing that lasts.
        for (let attempt = 0; attempt < 20; attempt += 1) {
          assert.strictEqual((yield* Effect.flip(Effect.scoped(open(`more-${attempt}`)))).reason, "unavailable")
        }
        const [first] = scopes
        if (first !== undefined) yield* Scope.close(first, Exit.void)
        yield* next
        const last = sessions.at(-1)
        if (last !== undefined) assert.strictEqual(yield* said(last), "42\n")
        yield* Effect.forEach(scopes, (scope) => Scope.close(scope, Exit.void))
      }).pipe(Effect.provideContext(context))
    })
  )
})
