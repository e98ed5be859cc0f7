import type { Principal } from "@castellan/core/access/Principal"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import { Deliveries } from "@castellan/core/delivery/Deliveries"
import type { Delivery } from "@castellan/core/delivery/Delivery"
import { maximumAttempts } from "@castellan/core/delivery/DeliveryState"
import { Outbox } from "@castellan/core/delivery/Outbox"
import type { PlaybookId } from "@castellan/core/playbook/Playbook"
import { Playbooks } from "@castellan/core/playbook/Playbooks"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { sales } from "@castellan/testing/scripted/ScriptedDriver"
import { ScriptedDelivery } from "@castellan/testing/scripted/ScriptedDelivery"
import { calls, says } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { as, ready, run, runsOf, world } from "../playbook/PlaybookWorld.ts"

const deliver = Effect.flatMap(DateTime.now, (now) => Deliveries.use((deliveries) => deliveries.deliverDue(now)))

const follow = (script: Parameters<ScriptedDelivery["Service"]["follow"]>[0]) =>
  ScriptedDelivery.use((services) => services.follow(script))

const attempts = ScriptedDelivery.use((services) => services.attempts)

const statuses = (principal: Principal, id: PlaybookId) =>
  Effect.map(runsOf(principal, id), ({ items }) =>
    items.flatMap(({ deliveries }) => deliveries.map(({ status }): Delivery["status"] => status))
  )

/** A playbook with one mailbox, which has run once. */
const reported = Effect.fnUntraced(function* () {
  const admin = Fixture.adminOf(yield* Fixture.tenant())
  const playbook = yield* ready(admin, { emailAddresses: ["ann@example.org"], chatChannelId: "" })
  yield* run(admin, playbook.id)
  return { admin, playbook }
})

describe("Deliveries.deliverDue", () => {
  it.effect("sends a report to each of its targets, once", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* ready(admin)
      const { report } = yield* run(admin, playbook.id)
      assert.deepStrictEqual(yield* deliver, { delivered: 3, failed: 0, givenUp: 0 })
      assert.deepStrictEqual(yield* deliver, { delivered: 0, failed: 0, givenUp: 0 })
      yield* TestClock.adjust("2 days")
      assert.deepStrictEqual(yield* deliver, { delivered: 0, failed: 0, givenUp: 0 })
      const outbox = yield* Outbox
      const mails = yield* outbox.mails
      assert.sameMembers(
        mails.map(({ to }) => String(to)),
        ["ann@example.org", "bob@example.org"]
      )
      for (const mail of mails) {
        assert.strictEqual(mail.subject, "Weekly sales")
        assert.include(mail.html, "<strong>4 %</strong>")
        assert.strictEqual(mail.text, "Weekly sales\n\nUp **4 %**.\n")
      }
      const [post, ...others] = yield* outbox.posts
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual([post?.channelId, post?.text, ...(post?.taggedUserIds ?? [])].map(String), [
        "C024BE91L",
        "Weekly sales\n\nUp **4 %**.\n",
        "U1"
      ])
      assert.deepStrictEqual(post?.report, report)
      assert.strictEqual((yield* attempts).length, 3)
    }).pipe(Effect.provide(world()))
  )

  it.effect("a mail carries its pictures within it", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      yield* Fixture.connector(tenant.organizationId)
      const playbook = yield* ready(admin)
      const { assets } = yield* run(admin, playbook.id)
      yield* deliver
      const [mail] = yield* Outbox.use((outbox) => outbox.mails)
      const [image, ...others] = mail?.images ?? []
      assert.deepStrictEqual(others, [])
      assert.strictEqual(image?.contentId, assets[0]?.id)
      assert.isAbove(image?.content.length ?? 0, 0)
      assert.include(mail?.html ?? "", `<img src="cid:${assets[0]?.id}"`)
    }).pipe(
      Effect.provide(
        world({
          tables: [sales],
          script: [
            calls("run_sql", { title: "All", connector: "warehouse", sql: "select * from sales" }, "one"),
            calls("make_chart", { name: "Chart", result: "result_1", specification: { mark: "bar" } }, "two"),
            says("Here it is.")
          ]
        })
      )
    )
  )

  it.effect("tries again what failed, after a minute, two, four, and so on, and gives up at last", () =>
    Effect.gen(function* () {
      const { admin, playbook } = yield* reported()
      yield* follow(Array.from({ length: 20 }, () => "retryable" as const))
      const pauses: Array<number> = []
      for (let attempt = 1; attempt < maximumAttempts; attempt++) {
        assert.deepStrictEqual(yield* deliver, { delivered: 0, failed: 1, givenUp: 0 })
        const [status] = yield* statuses(admin, playbook.id)
        if (status?._tag !== "Failed") return assert.fail(`it is ${status?._tag}`)
        assert.strictEqual(status.attempts, attempt)
        assert.strictEqual(status.error, "the service refused: retryable")
        const now = yield* DateTime.now
        const pause = DateTime.toEpochMillis(status.nextAt) - DateTime.toEpochMillis(now)
        pauses.push(pause / 60_000)
        yield* TestClock.adjust(pause - 1)
        assert.deepStrictEqual(yield* deliver, { delivered: 0, failed: 0, givenUp: 0 })
        yield* TestClock.adjust(1)
      }
      assert.deepStrictEqual(pauses, [1, 2, 4, 8, 16, 32, 60])
      assert.deepStrictEqual(yield* deliver, { delivered: 0, failed: 0, givenUp: 1 })
      yield* TestClock.adjust("30 days")
      assert.deepStrictEqual(yield* deliver, { delivered: 0, failed: 0, givenUp: 0 })
      assert.strictEqual((yield* attempts).length, maximumAttempts)
    }).pipe(Effect.provide(world()))
  )

  it.effect("an attempt that succeeds later is delivered, and one that never can is given up at once", () =>
    Effect.gen(function* () {
      const { admin, playbook } = yield* reported()
      yield* follow(["retryable", "taken"])
      yield* deliver
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* deliver, { delivered: 1, failed: 0, givenUp: 0 })
      yield* follow(["permanent"])
      yield* run(admin, playbook.id)
      assert.deepStrictEqual(yield* deliver, { delivered: 0, failed: 0, givenUp: 1 })
      assert.deepStrictEqual(
        (yield* statuses(admin, playbook.id)).map((status) => [status._tag, "attempts" in status && status.attempts]),
        [
          ["GivenUp", 1],
          ["Delivered", 2]
        ]
      )
    }).pipe(Effect.provide(world()))
  )

  for (const deduplicates of [true, false]) {
    const how = deduplicates ? "sent again to a service that drops repeats" : "never sent again elsewhere"
    it.effect(`what may have arrived is ${how}`, () =>
      Effect.gen(function* () {
        const { admin, playbook } = yield* reported()
        yield* follow(["lost"])
        yield* deliver
        yield* TestClock.adjust("1 day")
        yield* deliver
        const [status] = yield* statuses(admin, playbook.id)
        assert.strictEqual(status?._tag, deduplicates ? "Delivered" : "GivenUp")
        assert.strictEqual((yield* attempts).length, deduplicates ? 2 : 1)
        assert.strictEqual((yield* Outbox.use((outbox) => outbox.mails)).length, 1)
      }).pipe(Effect.provide(world({ script: () => says("Fine."), deduplicates })))
    )

    it.effect(`what a server had begun when it stopped is ${how}`, () =>
      Effect.gen(function* () {
        const { admin, playbook } = yield* reported()
        yield* follow(["stalled"])
        const server = yield* Effect.forkChild(deliver)
        yield* Effect.yieldNow
        while ((yield* attempts).length === 0) yield* Effect.yieldNow
        // Another server finds it under way, and leaves it alone.
        assert.deepStrictEqual(yield* deliver, { delivered: 0, failed: 0, givenUp: 0 })
        yield* Fiber.interrupt(server)
        yield* TestClock.adjust("1 day")
        yield* deliver
        yield* TestClock.adjust("1 day")
        yield* deliver
        const [status] = yield* statuses(admin, playbook.id)
        assert.strictEqual(status?._tag, deduplicates ? "Delivered" : "GivenUp")
        if (status?._tag === "GivenUp") assert.match(status.error, /^it may have arrived, and is not sent again/)
        assert.strictEqual((yield* Outbox.use((outbox) => outbox.mails)).length, 1)
      }).pipe(Effect.provide(world({ script: () => says("Fine."), deduplicates })))
    )
  }

  it.effect("a service that does not answer is given up on in time", () =>
    Effect.gen(function* () {
      const { admin, playbook } = yield* reported()
      yield* follow(["stalled"])
      const round = yield* Effect.forkChild(deliver)
      while ((yield* attempts).length === 0) yield* Effect.yieldNow
      yield* TestClock.adjust("4 minutes")
      assert.deepStrictEqual(yield* Fiber.join(round), { delivered: 0, failed: 0, givenUp: 1 })
      const [status] = yield* statuses(admin, playbook.id)
      assert.strictEqual(status?._tag, "GivenUp")
    }).pipe(Effect.provide(world()))
  )

  it.effect("an attempt that began late in a round has its own time, and is not taken for lost", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const emailAddresses = Array.from({ length: 9 }, (_, number) => `reader${number}@example.org`)
      const playbook = yield* ready(admin, { emailAddresses, chatChannelId: "" })
      yield* run(admin, playbook.id)
      yield* follow(emailAddresses.map(() => "stalled" as const))
      const round = yield* Effect.forkChild(deliver)
      while ((yield* attempts).length < 8) yield* Effect.yieldNow
      yield* TestClock.adjust("4 minutes")
      while ((yield* attempts).length < 9) yield* Effect.yieldNow
      // The ninth is two minutes old; the round is six.
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* deliver, { delivered: 0, failed: 0, givenUp: 0 })
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* Fiber.join(round), { delivered: 0, failed: 0, givenUp: 9 })
    }).pipe(Effect.provide(world()))
  )

  it.effect("of many that try at once, one sends", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* ready(admin)
      yield* run(admin, playbook.id)
      yield* Effect.all(
        Array.from({ length: 10 }, () => deliver),
        { concurrency: "unbounded" }
      )
      assert.strictEqual((yield* attempts).length, 3)
    }).pipe(Effect.provide(world()))
  )

  it.effect("nothing more is sent of a playbook that was deleted", () =>
    Effect.gen(function* () {
      const { admin, playbook } = yield* reported()
      yield* Playbooks.use((playbooks) => as(admin)(playbooks.delete(playbook.id)))
      assert.deepStrictEqual(yield* deliver, { delivered: 0, failed: 0, givenUp: 1 })
      assert.deepStrictEqual(yield* attempts, [])
    }).pipe(Effect.provide(world()))
  )

  it.effect("is on the record, target by target", () =>
    Effect.gen(function* () {
      const { admin } = yield* reported()
      yield* follow(["retryable"])
      yield* deliver
      yield* TestClock.adjust("1 minute")
      yield* deliver
      const { items } = yield* AuditStore.use((audit) =>
        audit.list(admin.organizationId, { limit: 100, action: "deliver" })
      )
      assert.deepStrictEqual(
        items
          .map(({ actor, after }) => [actor.credential._tag, after])
          .map(([tag, after]) => [
            tag,
            typeof after === "object" && after !== null && "to" in after && "status" in after
              ? [after.to, after.status]
              : after
          ]),
        [
          ["System", ["email:ann@example.org", "Delivered"]],
          ["System", ["email:ann@example.org", "Failed"]]
        ]
      )
    }).pipe(Effect.provide(world()))
  )
})
