import { AuditStore } from "@castellan/core/audit/AuditStore"
import { Chats } from "@castellan/core/chat/Chats"
import * as ChatSandcastlesModule from "@castellan/core/sandcastle/ChatSandcastles"
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { type Sandcastle, SandcastleId, SandcastleStatus } from "@castellan/core/sandcastle/Sandcastle"
import { SandcastleLimits } from "@castellan/core/sandcastle/SandcastleLimits"
import * as SandcastlesModule from "@castellan/core/sandcastle/Sandcastles"
import * as SandcastleSessions from "@castellan/core/sandcastle/SandcastleSessions"
import { SandcastleStore } from "@castellan/core/sandcastle/SandcastleStore"
import { as, refused, words } from "@castellan/testing/fixture/Acting"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { sandcastle } from "@castellan/testing/fixture/SandcastleSample"
import { says } from "@castellan/testing/scripted/ScriptedModel"
import * as ScriptedSandboxModule from "@castellan/testing/scripted/ScriptedSandbox"
import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"

const { Sandcastles } = SandcastlesModule
const { ChatSandcastles } = ChatSandcastlesModule
const { ScriptedSandbox } = ScriptedSandboxModule

const script = () => says("Three.")

/** Long enough for whoever else is about to do something to have done it. */
const aWhile = Effect.repeat(Effect.yieldNow, { times: 100 })

/** A deployment with bounds of its own, where a session takes a while to open. */
const bounded = (bounds: Partial<SandcastleLimits>) =>
  Deployment.layer({ script, opensAfter: aWhile }).pipe(
    // For another server as well.
    Layer.provideMerge(
      Layer.effect(
        SandcastleLimits,
        Effect.map(SandcastleLimits, (limits) => ({ ...limits, ...bounds }))
      )
    )
  )

const deployment = bounded({})

/** Another server of the same deployment. One that does nothing any more is to the others like one that crashed. */
const anotherServer = Effect.map(
  Layer.build(
    ChatSandcastlesModule.layer.pipe(
      Layer.provideMerge(SandcastlesModule.layer),
      Layer.provide(SandcastleSessions.layer),
      Layer.provideMerge(ScriptedSandboxModule.layer({ opensAfter: aWhile })),
      Layer.fresh
    )
  ),
  (context) => ({
    sandcastles: Context.get(context, Sandcastles),
    chats: Context.get(context, ChatSandcastles),
    sandbox: Context.get(context, ScriptedSandbox)
  })
)

const someone = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  return { tenant, member: yield* Fixture.someone(tenant, { fullMemberAccess: true }) }
})

const statusOf = (id: SandcastleId) =>
  Effect.map(
    Sandcastles.use((sandcastles) => sandcastles.get(id)),
    ({ sandcastle: { status } }) => (status._tag === "Stopped" ? status.cause : status._tag)
  )

const openHere = ScriptedSandbox.use((sandbox) => sandbox.open)

describe("Sandcastles: servers that stop", () => {
  it.effect("what a server left behind is stopped as lost, and what it was running has failed", () =>
    Effect.gen(function* () {
      const here = yield* Sandcastles
      const there = yield* anotherServer
      const { member, tenant } = yield* someone
      const { id } = yield* as(member)(there.sandcastles.start())
      yield* as(member)(there.sandcastles.execute(id, { code: "x = 1", source: "platform_api" }))
      const code = 'print("begun")\nwhile True: pass'
      const running = yield* Effect.forkChild(
        as(member)(there.sandcastles.execute(id, { code, source: "platform_api" })),
        { startImmediately: true }
      )
      yield* there.sandbox.stuck(1)
      for (const minute of [1, 2]) {
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(yield* here.sweep, { stopped: 0 }, `minute ${minute}`)
      }
      // It was heard of for the last time.
      yield* there.sandcastles.sweep
      yield* TestClock.adjust("179 seconds")
      assert.deepStrictEqual(yield* here.sweep, { stopped: 0 })
      assert.strictEqual(yield* as(member)(statusOf(id)), "Running")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* here.sweep, { stopped: 1 })
      assert.strictEqual(yield* as(member)(statusOf(id)), "lost")
      const endings = Effect.map(as(member)(here.executions(id, { limit: 10 })), ({ items }) =>
        items.map(({ status }) => (status._tag === "Failed" ? status.error : status._tag))
      )
      const ended = ["the server that ran it, or its session, ended before it did", "Completed"]
      assert.deepStrictEqual(yield* endings, ended)
      assert.deepStrictEqual(yield* here.sweep, { stopped: 0 })
      const { items } = yield* AuditStore.use((store) =>
        store.list(tenant.organizationId, { limit: 10, action: "stop" })
      )
      assert.deepStrictEqual(
        items.map(({ actor, after }) => [actor.credential, after]),
        [
          [
            { _tag: "System", name: "sandcastle-sweep" },
            { status: "stopped", cause: "lost" }
          ]
        ]
      )
      // It wakes up after all: its session is closed, and the end that others have read stays what it was.
      yield* there.sandcastles.sweep
      assert.deepStrictEqual(yield* there.sandbox.open, [])
      yield* Fiber.await(running)
      assert.deepStrictEqual(yield* endings, ended)
    }).pipe(Effect.provide(deployment))
  )

  it.effect(
    "a server that ends says that its sandcastles end with it, and leaves alone what another has taken over",
    () =>
      Effect.gen(function* () {
        const here = yield* Sandcastles
        const { member } = yield* someone
        const scope = yield* Scope.make()
        const there = yield* Scope.provide(anotherServer, scope)
        const [one, two] = [yield* as(member)(there.sandcastles.start()), yield* as(member)(there.sandcastles.start())]
        yield* TestClock.adjust("1 second")
        yield* as(member)(here.start({ id: two.id }))
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(yield* as(member)(statusOf(one.id)), "lost")
        assert.strictEqual(yield* as(member)(statusOf(two.id)), "Running")
        assert.deepStrictEqual(yield* openHere, [two.id])
      }).pipe(Effect.provide(deployment))
  )

  it.effect("of two servers that sweep at once, one stops what a third left behind", () =>
    Effect.gen(function* () {
      const here = yield* Sandcastles
      const [dead, other] = [yield* anotherServer, yield* anotherServer]
      const { member } = yield* someone
      yield* as(member)(dead.sandcastles.start())
      yield* TestClock.adjust("4 minutes")
      const swept = yield* Effect.all([here.sweep, other.sandcastles.sweep, here.sweep], { concurrency: "unbounded" })
      assert.strictEqual(
        swept.reduce((sum, { stopped }) => sum + stopped, 0),
        1
      )
    }).pipe(Effect.provide(deployment))
  )

  it.effect(
    "one whose server is there is running to the others, and is not used by them until it is started there",
    () =>
      Effect.gen(function* () {
        const here = yield* Sandcastles
        const there = yield* anotherServer
        const { member } = yield* someone
        const { id } = yield* as(member)(there.sandcastles.start())
        const elsewhere =
          "conflict: the sandcastle's session is on another server: start it again to have one here, without its variables and files"
        assert.strictEqual(
          yield* refused(as(member)(here.execute(id, { code: "x = 1", source: "platform_api" }))),
          elsewhere
        )
        assert.deepStrictEqual(Object.keys(yield* as(member)(here.get(id))), ["sandcastle"])
        assert.strictEqual(yield* as(member)(statusOf(id)), "Running")
        assert.isDefined((yield* as(member)(there.sandcastles.get(id))).usage)
        yield* TestClock.adjust("1 minute")
        yield* as(member)(here.start({ id }))
        yield* as(member)(here.execute(id, { code: "x = 1", source: "platform_api" }))
        assert.deepStrictEqual(yield* there.sandbox.open, [id])
        yield* there.sandcastles.sweep
        assert.deepStrictEqual(yield* there.sandbox.open, [])
        yield* here.sweep
        assert.deepStrictEqual(yield* openHere, [id])
        yield* TestClock.adjust("4 minutes")
        const noSession = "conflict: the sandcastle's session does not answer: start it again"
        const again = there.sandcastles.execute(id, { code: "x = 1", source: "platform_api" })
        assert.strictEqual(yield* refused(as(member)(again)), noSession)
      }).pipe(Effect.provide(deployment))
  )

  it.effect("that of a chat follows the chat to the server that works for it, and says that its state is gone", () =>
    Effect.gen(function* () {
      const here = yield* ChatSandcastles
      const there = yield* anotherServer
      const { member } = yield* someone
      const run = yield* Conversation.ask(member, "How many?")
      yield* Conversation.events(run)
      const first = yield* (yield* there.chats.of(run)).execute("x = 1")
      yield* TestClock.adjust("10 seconds")
      const second = yield* (yield* here.of(run)).execute("x = 2")
      assert.deepStrictEqual([second.sandcastleId, second.stateLost], [first.sandcastleId, true])
      assert.isFalse((yield* (yield* here.of(run)).execute("x = 3")).stateLost)
      yield* there.sandcastles.sweep
      assert.deepStrictEqual(yield* there.sandbox.open, [])
      assert.deepStrictEqual(yield* openHere, [first.sandcastleId])
    }).pipe(Effect.provide(deployment))
  )
})

describe("Sandcastles: sessions that outlive their host", () => {
  it.effect("those that no sandcastle has any more are ended, at the start and every ten minutes", () => {
    const asked: Array<readonly [string, boolean]> = []
    let reaps = 0
    const remote = Layer.effect(
      SandboxRuntime,
      Effect.map(SandboxRuntime, (runtime) =>
        SandboxRuntime.of({
          ...runtime,
          reap: (isAlive) =>
            Effect.gen(function* () {
              reaps += 1
              for (const { id, organizationId } of tags) asked.push([id, yield* isAlive({ id, organizationId })])
              return 0
            })
        })
      )
    ).pipe(Layer.provide(ScriptedSandboxModule.layer()))
    const tags: Array<Pick<Sandcastle, "id" | "organizationId">> = []
    return Effect.gen(function* () {
      const here = yield* Sandcastles
      const { member } = yield* someone
      const [running, stopped] = [yield* as(member)(here.start()), yield* as(member)(here.start())]
      yield* as(member)(here.stop(stopped.id))
      const unknown = { id: SandcastleId.make("unknown"), organizationId: member.organizationId }
      const elsewhere = { id: running.id, organizationId: (yield* someone).member.organizationId }
      tags.push(running, stopped, unknown, elsewhere)
      yield* here.sweep
      assert.deepStrictEqual(asked, [
        [running.id, true],
        [stopped.id, false],
        ["unknown", false],
        [running.id, false]
      ])
      yield* TestClock.adjust("599 seconds")
      yield* here.sweep
      assert.strictEqual(reaps, 1)
      yield* TestClock.adjust("1 second")
      yield* here.sweep
      assert.strictEqual(reaps, 2)
    }).pipe(Effect.provide(Deployment.layer({ script, sandbox: remote })))
  })
})

const fullOrganization =
  "conflict: this organization runs 3 sandcastles, as many as it may: stop one, or wait until one has been idle for long enough to be stopped"
const fullServer =
  "rate_limit_exceeded: this server has 2 sandcastles open, as many as it may: stop one, or try again in a minute"

describe("Sandcastles: how many run at once", () => {
  it.effect("an organization runs as many as it may, however many are started at once, on all servers together", () =>
    Effect.gen(function* () {
      const here = yield* Sandcastles
      const there = yield* anotherServer
      const { member } = yield* someone
      const started = yield* Effect.forEach(
        Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? here : there.sandcastles)),
        (sandcastles) => Effect.exit(Effect.mapError(as(member)(sandcastles.start()), words)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(started.filter(({ _tag }) => _tag === "Success").length, 3)
      const running = yield* SandcastleStore.use((store) => store.running(member.organizationId, 100))
      assert.strictEqual(running.length, 3)
      // No session stays of one that was not kept.
      const open = [...(yield* openHere), ...(yield* there.sandbox.open)]
      assert.deepStrictEqual(open.toSorted(), running.map(({ id }) => id).toSorted())
      assert.strictEqual(yield* refused(as(member)(here.start())), fullOrganization)
      const [one] = running
      if (one === undefined) return assert.fail("none runs")
      // One that runs takes no further place when it is started again.
      yield* as(member)(here.start({ id: one.id }))
      yield* as(member)(here.stop(one.id))
      yield* as(member)(here.start())
      // Another organization has room of its own.
      const other = yield* someone
      yield* as(other.member)(here.start())
    }).pipe(Effect.provide(bounded({ perOrganization: 3 })))
  )

  it.effect("a server has as many open as it may, of all organizations together", () =>
    Effect.gen(function* () {
      const here = yield* Sandcastles
      const [one, two, three] = [yield* someone, yield* someone, yield* someone]
      const { id } = yield* as(one.member)(here.start())
      yield* as(two.member)(here.start())
      assert.strictEqual(yield* refused(as(three.member)(here.start())), fullServer)
      assert.deepStrictEqual((yield* as(three.member)(here.list({ status: "all", limit: 10 }))).items, [])
      yield* as(one.member)(here.start({ id }))
      yield* as(one.member)(here.stop(id))
      const started = yield* Effect.forEach(
        [one, two, three],
        ({ member }) => Effect.exit(Effect.mapError(as(member)(here.start()), words)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(started.filter(({ _tag }) => _tag === "Success").length, 1)
      assert.strictEqual((yield* openHere).length, 2)
    }).pipe(Effect.provide(bounded({ perServer: 2 })))
  )

  it.effect("a chat that is deleted takes its sandcastle with it, also where more run than may", () =>
    Effect.gen(function* () {
      const { member } = yield* someone
      const run = yield* Conversation.ask(member, "How many?")
      yield* Conversation.events(run)
      const { sandcastleId } = yield* ChatSandcastles.use((chats) =>
        Effect.flatMap(chats.of(run), (castle) => castle.execute("x = 1"))
      )
      // Of before the bound was made lower, and unused for longer.
      const startedAt = DateTime.makeUnsafe("1969-12-31T23:59:00.000Z")
      const status = SandcastleStatus.cases.Running.make({ startedAt, lastUsedAt: startedAt })
      for (const one of yield* Effect.forEach([1, 2, 3, 4], () => sandcastle(member, { status }))) {
        yield* SandcastleStore.use((store) => store.save(one))
      }
      yield* as(member)(Chats.use((chats) => chats.delete(run.chatId)))
      assert.strictEqual(yield* as(member)(statusOf(sandcastleId)), "asked")
      assert.deepStrictEqual(yield* openHere, [])
      const running = yield* SandcastleStore.use((store) => store.running(member.organizationId, 10))
      assert.strictEqual(running.length, 4)
    }).pipe(Effect.provide(bounded({ perOrganization: 3 })))
  )

  it.effect("a chat that is deleted while a sandcastle is started for it leaves none", () => {
    const [opening, mayOpen] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
    const opensAfter = Effect.andThen(Deferred.succeed(opening, undefined), Deferred.await(mayOpen))
    return Effect.gen(function* () {
      const here = yield* Sandcastles
      const { member } = yield* someone
      const run = yield* Conversation.ask(member, "How many?")
      yield* Conversation.events(run)
      const starting = yield* Effect.forkChild(refused(as(member)(here.start({ chatId: run.chatId }))))
      yield* Deferred.await(opening)
      yield* as(member)(Chats.use((chats) => chats.delete(run.chatId)))
      yield* Deferred.succeed(mayOpen, undefined)
      assert.strictEqual(yield* Fiber.join(starting), "not_found: chat not found")
      assert.deepStrictEqual(yield* openHere, [])
      assert.deepStrictEqual((yield* as(member)(here.list({ status: "all", limit: 10 }))).items, [])
    }).pipe(Effect.provide(Deployment.layer({ script, opensAfter })))
  })

  for (const bound of ["perOrganization", "perServer"] as const) {
    it.effect(`where there is no room (${bound}), a chat's that is idle makes some, and starts again by itself`, () =>
      Effect.gen(function* () {
        const here = yield* Sandcastles
        const chats = yield* ChatSandcastles
        const { member } = yield* someone
        const newChat = Effect.gen(function* () {
          const run = yield* Conversation.ask(member, "How many?")
          yield* Conversation.events(run)
          return yield* chats.of(run)
        })
        const [first, second] = [yield* newChat, yield* newChat]
        const direct = yield* as(member)(here.start())
        const idle = yield* first.execute("x = 1")
        // In use: an execution that takes longer than a chat's may be idle.
        const running = yield* Effect.forkChild(second.execute("while True: pass"), { startImmediately: true })
        yield* ScriptedSandbox.use((sandbox) => sandbox.stuck(1))
        const full = /as many as it may: stop one/u
        assert.match(yield* refused(as(member)(here.start())), full)
        yield* TestClock.adjust("179 seconds")
        assert.match(yield* refused(as(member)(here.start())), full)
        yield* TestClock.adjust("1 second")
        const started = yield* as(member)(here.start())
        assert.strictEqual(yield* as(member)(statusOf(idle.sandcastleId)), "idle")
        for (const id of [direct.id, started.id]) assert.strictEqual(yield* as(member)(statusOf(id)), "Running")
        // Nothing else can be spared: the first is in use, the others were started by somebody.
        assert.match(yield* refused(first.execute("print(x)")), full)
        yield* Fiber.interrupt(running)
        yield* TestClock.adjust("3 minutes")
        const again = yield* first.execute("print(x)")
        assert.isTrue(again.stateLost)
        assert.strictEqual((yield* openHere).length, 3)
      }).pipe(Effect.provide(bounded({ [bound]: 3 })))
    )
  }
})
