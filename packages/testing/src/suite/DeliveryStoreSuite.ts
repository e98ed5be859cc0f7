/**
 * What every store of deliveries keeps to.
 */
import { ChatChannelId, ChatUserId, Delivery, DeliveryStatus, DeliveryTarget } from "@castellan/core/delivery/Delivery"
import { DeliveryStore } from "@castellan/core/delivery/DeliveryStore"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as AutomationSample from "../fixture/AutomationSample.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

const at = (text: string): DateTime.Utc => DateTime.makeUnsafe(text)

const channel = DeliveryTarget.cases.ChatChannel.make({
  channelId: ChatChannelId.make("C024BE91L"),
  taggedUserIds: [ChatUserId.make("U2"), ChatUserId.make("U1")]
})

/** Runs the contract of `DeliveryStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<DeliveryStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`DeliveryStore (${name})`, (it) => {
    const newReport = Effect.gen(function* () {
      const principal = yield* Sample.principal(yield* Sample.organizationId)
      const run = yield* AutomationSample.playbookRun(principal, yield* AutomationSample.playbook(principal))
      return yield* AutomationSample.report(run)
    })

    it.effect("gives back what was kept, to each target, in every status", () =>
      Effect.gen(function* () {
        const store = yield* DeliveryStore
        const report = yield* newReport
        const moment = at("2030-01-01T00:00:00.001Z")
        const { Delivered, Failed, GivenUp, Sending } = DeliveryStatus.cases
        const statuses = [
          Sending.make({ attempts: 1, startedAt: moment, until: at("2030-01-01T00:05:00.001Z") }),
          Delivered.make({ attempts: 2, deliveredAt: moment }),
          Failed.make({ attempts: 3, failedAt: moment, error: "busy", nextAt: at("2030-01-01T00:01:00Z") }),
          GivenUp.make({ attempts: 8, givenUpAt: moment, error: "gone" })
        ]
        for (const target of [AutomationSample.mailbox("Ann@example.org"), channel]) {
          const delivery = yield* AutomationSample.delivery(report, { target })
          yield* store.add([delivery])
          assertSame(yield* store.get(report.organizationId, delivery.id), Option.some(delivery))
          let current = delivery
          for (const status of statuses) {
            const next = new Delivery({ ...delivery, status })
            assert.isTrue(yield* store.replace(current, next))
            assertSame(yield* store.get(report.organizationId, delivery.id), Option.some(next))
            current = next
          }
          assert.isTrue(Option.isNone(yield* store.get(yield* Sample.organizationId, delivery.id)))
        }
      })
    )

    it.effect("is carried on by one of those that found it, and by none that found it earlier", () =>
      Effect.gen(function* () {
        const store = yield* DeliveryStore
        const report = yield* newReport
        const delivery = yield* AutomationSample.delivery(report)
        yield* store.add([delivery])
        const begun = (attempts: number, startedAt: string) =>
          new Delivery({
            ...delivery,
            status: DeliveryStatus.cases.Sending.make({
              attempts,
              startedAt: at(startedAt),
              until: at("2030-01-01T00:05:00Z")
            })
          })
        const claimed = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, index) => begun(1, `2030-01-01T00:00:0${index}Z`)),
          (next) => store.replace(delivery, next),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(claimed.filter((won) => won).length, 1)
        const current = Option.getOrThrow(yield* store.get(report.organizationId, delivery.id))
        assert.isFalse(yield* store.replace(delivery, begun(1, "2030-01-01T00:00:09Z")))
        assertSame(yield* store.get(report.organizationId, delivery.id), Option.some(current))
        const failed = new Delivery({
          ...delivery,
          status: DeliveryStatus.cases.Failed.make({
            attempts: 1,
            failedAt: at("2030-01-01T00:00:10Z"),
            error: "busy \u0000 \ud800",
            nextAt: at("2030-01-01T00:01:00Z")
          })
        })
        assert.isTrue(yield* store.replace(current, failed))
        assertSame(yield* store.get(report.organizationId, delivery.id), Option.some(failed))
        const foreign = new Delivery({ ...failed, organizationId: yield* Sample.organizationId })
        assert.isFalse(yield* store.replace(foreign, new Delivery({ ...foreign, status: current.status })))
        assertSame(yield* store.get(report.organizationId, delivery.id), Option.some(failed))
        assert.isTrue(yield* store.replace(failed, begun(2, "2030-01-01T00:01:00Z")))
        assert.isFalse(yield* store.replace(current, failed))
        const unknown = yield* AutomationSample.delivery(report, { target: channel })
        assert.isFalse(yield* store.replace(unknown, unknown))
        assert.isTrue(Option.isNone(yield* store.get(report.organizationId, unknown.id)))
      })
    )

    it.effect("keeps one delivery for each target of a run", () =>
      Effect.gen(function* () {
        const store = yield* DeliveryStore
        const [report, other] = [yield* newReport, yield* newReport]
        const to = (of: typeof report, target: DeliveryTarget) => AutomationSample.delivery(of, { target })
        const first = yield* to(report, AutomationSample.mailbox("ann@example.org"))
        const elsewhere = yield* to(other, AutomationSample.mailbox("ann@example.org"))
        const posted = yield* to(report, channel)
        yield* store.add([first, yield* to(report, AutomationSample.mailbox("ANN@example.org")), posted])
        yield* store.add([yield* to(report, AutomationSample.mailbox("ann@example.org")), elsewhere])
        assertSame(
          yield* store.ofRuns(report.organizationId, [report.runId]),
          [first, posted].toSorted((a, b) => (a.id < b.id ? -1 : 1))
        )
        assertSame(yield* store.ofRuns(other.organizationId, [other.runId, report.runId]), [elsewhere])
        assertSame(yield* store.ofRuns(report.organizationId, []), [])
      })
    )

    it.effect("finds what waits for an attempt, or whose attempt is overdue, the longest waiting first", () =>
      Effect.gen(function* () {
        const store = yield* DeliveryStore
        const report = yield* newReport
        const foreign = yield* newReport
        const { Delivered, Failed, GivenUp, Sending } = DeliveryStatus.cases
        const early = at("1949-01-01T00:00:00Z")
        const kept = (mailbox: string, status: DeliveryStatus | undefined, of = report) =>
          Effect.tap(
            AutomationSample.delivery(of, {
              target: AutomationSample.mailbox(`${mailbox}@example.org`),
              createdAt: early,
              ...(status === undefined ? {} : { status })
            }),
            (delivery) => store.add([delivery])
          )
        const failed = yield* kept(
          "a",
          Failed.make({ attempts: 1, failedAt: early, error: "busy", nextAt: at("1949-01-01T02:00:00Z") })
        )
        const overdue = yield* kept(
          "b",
          Sending.make({ attempts: 1, startedAt: early, until: at("1949-01-01T01:00:00Z") })
        )
        const pending = yield* kept("c", undefined, foreign)
        yield* kept("d", Sending.make({ attempts: 1, startedAt: early, until: at("1949-01-01T03:00:00.001Z") }))
        yield* kept("e", Delivered.make({ attempts: 1, deliveredAt: early }))
        yield* kept("f", GivenUp.make({ attempts: 1, givenUpAt: early, error: "gone" }))
        const due = (now: string, limit = 10) =>
          Effect.map(store.due(at(now), limit), (found) => found.map(({ id }) => id))
        assert.deepStrictEqual(yield* due("1948-12-31T23:59:59.999Z"), [])
        assert.deepStrictEqual(yield* due("1949-01-01T01:59:59.999Z"), [pending.id, overdue.id])
        assert.deepStrictEqual(yield* due("1949-01-01T03:00:00Z"), [pending.id, overdue.id, failed.id])
        assert.deepStrictEqual(yield* due("1949-01-01T03:00:00Z", 2), [pending.id, overdue.id])
      })
    )
  })
}
