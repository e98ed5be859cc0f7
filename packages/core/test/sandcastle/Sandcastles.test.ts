import type { CurrentPrincipal } from "@castellan/core/access/Principal"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import { ConnectorId } from "@castellan/core/connector/Connector"
import { layerUnavailable } from "@castellan/core/sandcastle/SandboxRuntime"
import { Sandcastle, SandcastleId, SandcastleStatus } from "@castellan/core/sandcastle/Sandcastle"
import { SandcastleLimits } from "@castellan/core/sandcastle/SandcastleLimits"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import * as SandcastlesModule from "@castellan/core/sandcastle/Sandcastles"
import * as SandcastleSessions from "@castellan/core/sandcastle/SandcastleSessions"
import { SandcastleStore } from "@castellan/core/sandcastle/SandcastleStore"
import { as, refused, type words } from "@castellan/testing/fixture/Acting"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { says } from "@castellan/testing/scripted/ScriptedModel"
import { ScriptedSandbox } from "@castellan/testing/scripted/ScriptedSandbox"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { castle, execute, noSession, recorded, statusOf } from "./Castle.ts"

/** A deployment that sweeps by itself, where an execution may take longer than a sandcastle may be idle. */
const sweeping = Deployment.layer({ sweeps: true }).pipe(
  Layer.provide(
    Layer.effect(
      SandcastleLimits,
      Effect.map(SandcastleLimits, (limits) => ({ ...limits, executionTimeout: Duration.hours(1) }))
    )
  )
)

describe("Sandcastles: their life", () => {
  it.effect("one is started, listed, looked at, stopped, and started again", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member, sandcastle, tenant } = yield* castle
      assert.strictEqual(sandcastle.status._tag, "Running")
      const list = (status: "running" | "stopped" | "all") =>
        Effect.map(as(member)(sandcastles.list({ status, limit: 10 })), ({ items }) => items.map((one) => one.id))
      assert.deepStrictEqual(yield* list("running"), [id])
      const view = yield* as(member)(sandcastles.get(id))
      assert.deepStrictEqual(view.usage?.dataframes, [])
      yield* as(member)(sandcastles.stop(id))
      assert.deepStrictEqual(yield* ScriptedSandbox.use((sandbox) => sandbox.open), [])
      assert.deepStrictEqual([yield* list("running"), yield* list("stopped")], [[], [id]])
      assert.deepStrictEqual(Object.keys(yield* as(member)(sandcastles.get(id))), ["sandcastle"])
      assert.strictEqual(
        yield* refused(as(member)(sandcastles.stop(id))),
        "conflict: cannot stop a sandcastle that is stopped"
      )
      assert.strictEqual(
        yield* refused(as(member)(execute(id, "print(1)"))),
        "conflict: cannot use a sandcastle that is stopped"
      )
      const again = yield* as(member)(sandcastles.start({ id }))
      assert.deepStrictEqual([again.id, again.status._tag], [id, "Running"])
      assert.deepStrictEqual((yield* as(member)(execute(id, "print(1)"))).output, ["1\n"])
      const { items } = yield* AuditStore.use((store) =>
        store.list(tenant.organizationId, { limit: 100, targetType: "sandcastle" })
      )
      assert.deepStrictEqual(items.map(({ action, target }) => [action, target.id === id]).toReversed(), [
        ["create", true],
        ["stop", true],
        ["update", true]
      ])
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("to start one needs leave; another's is not there, but for an administrator who stops it", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, tenant } = yield* castle
      const powerless = yield* Fixture.someone(tenant, { roles: [] })
      const colleague = yield* Fixture.someone(tenant)
      assert.strictEqual(
        yield* refused(as(powerless)(sandcastles.start())),
        "permission_denied: permission denied: sandcastle:execute is required"
      )
      const unknown = SandcastleId.make("nobody")
      for (const [principal, of] of [
        [colleague, id],
        [colleague, unknown],
        [powerless, id]
      ] as const) {
        const doors: ReadonlyArray<
          Effect.Effect<unknown, Parameters<typeof words>[0], CurrentPrincipal | Sandcastles>
        > = [
          sandcastles.start({ id: of }),
          sandcastles.get(of),
          sandcastles.stop(of),
          execute(of, "print(1)"),
          sandcastles.exec(of, { command: "echo", kind: "bash", source: "platform_api" }),
          sandcastles.interrupt(of),
          recorded(of),
          sandcastles.listFiles(of),
          sandcastles.upload(of, { name: "a.txt", content: new Uint8Array() }),
          sandcastles.download(of, "a.txt"),
          sandcastles.removeFile(of, "a.txt"),
          sandcastles.libraryDiff(of),
          sandcastles.query(of, {
            connectorId: ConnectorId.make(1),
            text: { _tag: "Statement", query: "select * from sales" },
            source: "platform_api"
          })
        ]
        for (const door of doors) {
          assert.strictEqual(yield* refused(as(principal)(Effect.asVoid(door))), "not_found: sandcastle not found")
        }
      }
      yield* as(Fixture.adminOf(tenant))(sandcastles.stop(id))
      assert.deepStrictEqual(yield* ScriptedSandbox.use((sandbox) => sandbox.open), [])
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("where no session opens, nothing is kept", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const tenant = yield* Fixture.tenant()
      const member = yield* Fixture.someone(tenant)
      assert.strictEqual(
        yield* refused(as(member)(sandcastles.start())),
        "execution_failed: this deployment has no sandboxes"
      )
      assert.deepStrictEqual((yield* as(member)(sandcastles.list({ status: "all", limit: 10 }))).items, [])
    }).pipe(Effect.provide(Deployment.layer({ sandbox: layerUnavailable })))
  )

  it.effect("one serves a chat that its maker may go on with", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const tenant = yield* Fixture.tenant()
      const member = yield* Fixture.someone(tenant)
      const run = yield* Conversation.ask(member, "How many?")
      yield* Conversation.events(run)
      const started = yield* as(member)(sandcastles.start({ chatId: run.chatId }))
      assert.strictEqual(started.chatId, run.chatId)
      const other = yield* Fixture.someone(tenant)
      assert.strictEqual(
        yield* refused(as(other)(sandcastles.start({ chatId: run.chatId }))),
        "not_found: chat not found"
      )
    }).pipe(Effect.provide(Deployment.layer({ script: () => says("Three.") })))
  )

  it.effect("an idle one is stopped by the sweep, at the very moment; a used one is not", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member, tenant } = yield* castle
      const busy = yield* as(member)(sandcastles.start())
      yield* TestClock.adjust("10 minutes")
      yield* as(member)(execute(busy.id, "x = 1"))
      yield* TestClock.adjust("299 seconds")
      assert.strictEqual(yield* as(member)(statusOf(id)), "Running")
      yield* TestClock.adjust("1 second")
      yield* sandcastles.sweep
      assert.strictEqual(yield* as(member)(statusOf(id)), "Stopped")
      assert.strictEqual(yield* as(member)(statusOf(busy.id)), "Running")
      assert.deepStrictEqual(yield* ScriptedSandbox.use((sandbox) => sandbox.open), [busy.id])
      const { items } = yield* AuditStore.use((store) =>
        store.list(tenant.organizationId, { limit: 1, action: "stop" })
      )
      assert.deepStrictEqual(items[0]?.actor.credential, { _tag: "System", name: "sandcastle-sweep" })
      assert.strictEqual(items[0]?.actor.memberId, member.memberId)
      yield* TestClock.adjust("14 minutes")
      assert.deepStrictEqual(yield* sandcastles.sweep, { stopped: 1 })
      assert.deepStrictEqual(yield* sandcastles.sweep, { stopped: 0 })
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("the session of one that another server stopped is closed here, and none that was opened since", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member, sandcastle } = yield* castle
      const open = ScriptedSandbox.use((sandbox) => sandbox.open)
      yield* TestClock.adjust("1 minute")
      const releasedAt = yield* DateTime.now
      const startedAt = sandcastle.createdAt
      const stopped = new Sandcastle({
        ...sandcastle,
        status: SandcastleStatus.cases.Stopped.make({ startedAt, releasedAt, cause: "asked" })
      })
      yield* SandcastleStore.use((store) => store.save(stopped))
      assert.deepStrictEqual(yield* open, [id])
      assert.deepStrictEqual(yield* sandcastles.sweep, { stopped: 0 })
      assert.deepStrictEqual(yield* open, [])
      yield* TestClock.adjust("1 minute")
      yield* as(member)(sandcastles.start({ id }))
      // As it is kept while its new session is being opened.
      yield* SandcastleStore.use((store) => store.save(stopped))
      yield* sandcastles.sweep
      assert.deepStrictEqual(yield* open, [id])
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("a deployment sweeps by itself, and leaves alone what runs", () =>
    Effect.gen(function* () {
      const sandbox = yield* ScriptedSandbox
      const { id, member } = yield* castle
      const busy = yield* as(member)(Sandcastles.use((sandcastles) => sandcastles.start()))
      yield* Effect.forkChild(as(member)(execute(busy.id, "while True: pass")), { startImmediately: true })
      yield* sandbox.stuck(1)
      yield* TestClock.adjust("16 minutes")
      assert.strictEqual(yield* as(member)(statusOf(id)), "Stopped")
      assert.strictEqual(yield* as(member)(statusOf(busy.id)), "Running")
    }).pipe(Effect.provide(sweeping))
  )

  it.effect("another server's sweep leaves alone what is in use here for longer than a sandcastle may be idle", () =>
    Effect.gen(function* () {
      const { id, member } = yield* castle
      const elsewhere = yield* Layer.build(
        SandcastlesModule.layer.pipe(
          Layer.provide(SandcastleSessions.layer),
          Layer.provide(layerUnavailable),
          Layer.fresh
        )
      )
      const sweepElsewhere = Effect.flatMap(Effect.provide(Sandcastles, elsewhere), (sandcastles) => sandcastles.sweep)
      yield* Effect.forkChild(as(member)(execute(id, "while True: pass")), { startImmediately: true })
      yield* ScriptedSandbox.use((sandbox) => sandbox.stuck(1))
      for (let minute = 0; minute < 20; minute++) {
        yield* TestClock.adjust("1 minute")
        yield* sweepElsewhere
      }
      assert.strictEqual(yield* as(member)(statusOf(id)), "Running")
    }).pipe(Effect.provide(sweeping))
  )

  it.effect("one whose session is gone is unknown, refuses work, and is started again", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member } = yield* castle
      yield* as(member)(execute(id, "x = 1"))
      yield* ScriptedSandbox.use((sandbox) => sandbox.lose(id))
      assert.strictEqual(yield* refused(as(member)(execute(id, "print(x)"))), noSession)
      assert.strictEqual(yield* as(member)(statusOf(id)), "Unknown")
      yield* as(member)(sandcastles.start({ id }))
      const answer = yield* as(member)(execute(id, "print(x)"))
      assert.include(answer.error ?? "", "NameError")
      // The one that met the lost session is recorded as well.
      const { items } = yield* as(member)(recorded(id))
      assert.deepStrictEqual(
        items.map(({ status }) => status._tag),
        ["Failed", "Failed", "Completed"]
      )
    }).pipe(Effect.provide(Deployment.layer()))
  )
})
