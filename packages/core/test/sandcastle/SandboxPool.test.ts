import { LibraryPath } from "@castellan/core/library/LibraryPath"
import { OrganizationId } from "@castellan/core/organization/Organization"
import * as SandboxPool from "@castellan/core/sandcastle/SandboxPool"
import { SandboxError, SandboxRuntime, type SandboxSpec } from "@castellan/core/sandcastle/SandboxRuntime"
import { SandboxPath } from "@castellan/core/sandcastle/SandboxPath"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { CurrentPrincipal } from "@castellan/core/access/Principal"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as ScriptedSandboxModule from "@castellan/testing/scripted/ScriptedSandbox"
import * as SandboxRuntimeSuite from "@castellan/testing/suite/SandboxRuntimeSuite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Scope, Exit } from "effect"
import { TestClock } from "effect/testing"

const { ScriptedSandbox } = ScriptedSandboxModule

type Scripted = Parameters<typeof ScriptedSandboxModule.layer>[0]

/** A pool over scripted sandboxes, which a test sees as well. */
const pool = (size: number, scripted: Scripted = {}) =>
  SandboxPool.layer({ size }).pipe(
    Layer.provideMerge(ScriptedSandboxModule.layer(scripted)),
    Layer.provide(Deployment.layerCrypto)
  )

const spec = (id: string, more: Partial<SandboxSpec> = {}): SandboxSpec => ({
  id: SandcastleId.make(id),
  organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
  library: [{ path: LibraryPath.make("guide.md"), content: new TextEncoder().encode("# Guide\n") }],
  ...more
})

const opened = (given: SandboxSpec) => SandboxRuntime.use((runtime) => runtime.open(given))

const ready = SandboxPool.SandboxPool.use((one) => one.ready)

/** Long enough for whatever can go on to have gone on. */
const settled = Effect.repeat(Effect.yieldNow, { times: 200 })

const openIds = ScriptedSandbox.use((sandbox) => sandbox.open)

const specs = ScriptedSandbox.use((sandbox) => sandbox.opened)

describe("SandboxPool", () => {
  it.effect("opens as many in advance as it is told, hands each to one, and opens others in their place", () =>
    Effect.gen(function* () {
      yield* settled
      assert.strictEqual(yield* ready, 2)
      assert.isTrue((yield* openIds).every(SandboxPool.isInAdvance))
      const session = yield* opened(spec("one"))
      assert.isFalse(session.resumed)
      assert.strictEqual(yield* ready, 1)
      const guide = yield* session.download(SandboxPath.make("library/guide.md"))
      assert.strictEqual(new TextDecoder().decode(guide), "# Guide\n")
      yield* settled
      assert.strictEqual(yield* ready, 2)
      // Nothing was opened for the one that asked.
      assert.isTrue((yield* specs).every(({ id }) => SandboxPool.isInAdvance(id)))
    }).pipe(Effect.provide(pool(2)))
  )

  it.effect("however many ask at once, no two have the same one; those that find none have one opened", () =>
    Effect.gen(function* () {
      yield* settled
      const sessions = yield* Effect.forEach(
        Array.from({ length: 8 }, (_, index) => spec(`asker-${index}`)),
        (given, index) =>
          Effect.tap(opened(given), (session) =>
            session.upload(SandboxPath.make(`${index}.txt`), new TextEncoder().encode("mine"))
          ),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(sessions).size, 8)
      for (const [index, session] of sessions.entries()) {
        assert.deepStrictEqual(
          (yield* session.list()).map(({ path }) => path),
          [`${index}.txt`, "library"]
        )
      }
      const own = (yield* specs).filter(({ id }) => !SandboxPool.isInAdvance(id))
      assert.strictEqual(own.length, 5)
    }).pipe(Effect.provide(pool(3)))
  )

  it.effect("one that is broken is discarded, and whoever asked has another", () =>
    Effect.gen(function* () {
      const sandbox = yield* ScriptedSandbox
      yield* settled
      const [first] = yield* openIds
      if (first === undefined) return assert.fail("none was opened")
      yield* sandbox.lose(first)
      const session = yield* opened(spec("one"))
      yield* session.list()
      assert.notInclude(yield* openIds, first)
      yield* settled
      assert.strictEqual(yield* ready, 2)
    }).pipe(Effect.provide(pool(2)))
  )

  it.effect("a session of it ends with whoever asked for it; what is left ends with the pool", () =>
    Effect.gen(function* () {
      const whole = yield* Scope.make()
      const context = yield* Layer.buildWithScope(pool(1), whole)
      const seen = Effect.provide(openIds, context)
      yield* settled
      const scope = yield* Scope.make()
      yield* opened(spec("one")).pipe(Effect.provide(context), Scope.provide(scope))
      yield* settled
      assert.strictEqual((yield* seen).length, 2)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* seen).length, 1)
      yield* Scope.close(whole, Exit.void)
      assert.deepStrictEqual(yield* seen, [])
    })
  )

  it.effect("what the runtime cannot keep is refused as it is without a pool, and takes nothing out of it", () =>
    Effect.gen(function* () {
      yield* settled
      const refused = yield* Effect.flip(opened(spec("one", { require: { isolation: "microvm" } })))
      assert.strictEqual(refused.reason, "unavailable")
      assert.strictEqual(yield* ready, 1)
    }).pipe(Effect.provide(pool(1)))
  )

  it.effect("where none can be opened it is tried again, later and later, and each asker is told why", () => {
    let attempts = 0
    const refusing = Layer.succeed(SandboxRuntime, {
      capabilities: {
        isolation: "none",
        statefulPython: true,
        realBash: false,
        packages: [],
        gentleInterrupt: true,
        persistent: false,
        limits: { cpu: "none", memory: "none", processes: "none", disk: "none", network: "none", time: "none" }
      },
      open: () =>
        Effect.suspend(() => {
          attempts += 1
          return Effect.fail(new SandboxError({ reason: "unavailable", message: "no room" }))
        })
    })
    return Effect.gen(function* () {
      yield* settled
      assert.strictEqual(attempts, 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(attempts, 2)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(attempts, 2)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(attempts, 3)
      // Once a minute in the end.
      yield* TestClock.adjust("10 minutes")
      const before = attempts
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(attempts - before, 10)
      assert.strictEqual((yield* Effect.flip(opened(spec("one")))).message, "no room")
    }).pipe(
      Effect.provide(
        SandboxPool.layer({ size: 3 }).pipe(Layer.provideMerge(refusing), Layer.provide(Deployment.layerCrypto))
      )
    )
  })

  it.effect("where sessions outlive the host, none is given that could not be found again, and none is kept", () =>
    Effect.gen(function* () {
      yield* settled
      assert.deepStrictEqual(yield* openIds, [])
      yield* opened(spec("again"))
      yield* opened(spec("new", { isNew: true }))
      yield* settled
      assert.strictEqual(yield* ready, 0)
      assert.deepStrictEqual(yield* openIds, [SandcastleId.make("again"), SandcastleId.make("new")])
      // What is found out with one is not tried again.
      assert.lengthOf(
        (yield* specs).filter(({ id }) => SandboxPool.isInAdvance(id)),
        1
      )
    }).pipe(Effect.provide(pool(2, { capabilities: { persistent: true } })))
  )

  it.effect("where sessions outlive the host, one that can be told whose it is goes to a new sandcastle alone", () =>
    Effect.gen(function* () {
      yield* settled
      yield* opened(spec("again"))
      assert.strictEqual(yield* ready, 1)
      yield* opened(spec("new", { isNew: true }))
      assert.strictEqual(yield* ready, 0)
      assert.deepStrictEqual(yield* openIds, [SandcastleId.make("again"), SandcastleId.make("new")])
    }).pipe(Effect.provide(pool(1, { capabilities: { persistent: true }, rebinds: true })))
  )
})

describe("SandboxPool in a deployment", () => {
  it.effect("sandcastles are started from it, and what is left of it is nobody's", () =>
    Effect.gen(function* () {
      yield* settled
      const tenant = yield* Fixture.tenant()
      const member = yield* Fixture.someone(tenant)
      const [one, other] = yield* Effect.forEach([1, 2], () =>
        Effect.provideService(
          Sandcastles.use((sandcastles) => sandcastles.start()),
          CurrentPrincipal,
          member
        )
      )
      assert.notStrictEqual(one?.id, other?.id)
      yield* settled
      assert.isTrue((yield* specs).every(({ id }) => SandboxPool.isInAdvance(id)))
      assert.strictEqual((yield* openIds).length, 4)
    }).pipe(Effect.provide(Layer.fresh(Deployment.layer({ sandboxPool: 2 }))))
  )
})

SandboxRuntimeSuite.suite(
  "a pool over scripted ones",
  SandboxPool.layer({ size: 2 }).pipe(
    Layer.provide(ScriptedSandboxModule.layer()),
    Layer.provide(Deployment.layerCrypto)
  )
)
