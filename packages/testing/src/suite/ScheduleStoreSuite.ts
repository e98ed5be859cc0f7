/**
 * What every store of schedules keeps to.
 */
import { Schedule } from "@castellan/core/schedule/Schedule"
import { ScheduleStore } from "@castellan/core/schedule/ScheduleStore"
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

/** Runs the contract of `ScheduleStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<ScheduleStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`ScheduleStore (${name})`, (it) => {
    const made = Effect.fnUntraced(function* (nextDueAt: string) {
      const principal = yield* Sample.principal(yield* Sample.organizationId, {
        clientMetadata: { text: '{"region":"north"}', attributes: { region: "north" } }
      })
      const playbook = yield* AutomationSample.playbook(principal)
      return AutomationSample.schedule(principal, playbook, at(nextDueAt))
    })

    it.effect("gives back what was saved, one for a playbook, and removes it", () =>
      Effect.gen(function* () {
        const store = yield* ScheduleStore
        const schedule = yield* made("2030-01-01T08:00:00Z")
        const { organizationId, playbookId } = schedule
        assert.isTrue(Option.isNone(yield* store.get(organizationId, playbookId)))
        yield* store.save(schedule)
        assertSame(yield* store.get(organizationId, playbookId), Option.some(schedule))
        const next = new Schedule({ ...schedule, nextDueAt: at("2030-01-01T09:00:00Z") })
        yield* store.save(next)
        assertSame(yield* store.get(organizationId, playbookId), Option.some(next))
        const elsewhere = yield* Sample.organizationId
        assert.isTrue(Option.isNone(yield* store.get(elsewhere, playbookId)))
        yield* store.remove(elsewhere, playbookId)
        assertSame(yield* store.get(organizationId, playbookId), Option.some(next))
        yield* store.remove(organizationId, playbookId)
        yield* store.remove(organizationId, playbookId)
        assert.isTrue(Option.isNone(yield* store.get(organizationId, playbookId)))
      })
    )

    it.effect("a due time is taken by one of those that found it, and the schedule moves on, or ends", () =>
      Effect.gen(function* () {
        const store = yield* ScheduleStore
        const schedule = yield* made("2030-01-01T08:00:00Z")
        const { organizationId, playbookId } = schedule
        assert.isFalse(yield* store.take(schedule, Option.none()))
        assert.isFalse(yield* store.take(schedule, Option.some(schedule)))
        assert.isTrue(Option.isNone(yield* store.get(organizationId, playbookId)))
        yield* store.save(schedule)
        const next = new Schedule({ ...schedule, nextDueAt: at("2030-01-01T09:00:00Z") })
        const taken = yield* Effect.all(
          Array.from({ length: 8 }, () => store.take(schedule, Option.some(next))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(taken.filter((won) => won).length, 1)
        assertSame(yield* store.get(organizationId, playbookId), Option.some(next))
        assert.isFalse(yield* store.take(schedule, Option.none()))
        const elsewhere = new Schedule({ ...next, organizationId: yield* Sample.organizationId })
        assert.isFalse(yield* store.take(elsewhere, Option.none()))
        assertSame(yield* store.get(organizationId, playbookId), Option.some(next))
        assert.isTrue(yield* store.take(next, Option.none()))
        assert.isTrue(Option.isNone(yield* store.get(organizationId, playbookId)))
      })
    )

    it.effect("finds what is due at a moment, of every organization, the longest due first", () =>
      Effect.gen(function* () {
        const store = yield* ScheduleStore
        const second = yield* made("1949-01-02T00:00:00Z")
        const first = yield* made("1949-01-01T00:00:00Z")
        const third = yield* made("1949-01-02T00:00:00.001Z")
        yield* Effect.forEach([second, first, third], store.save)
        const due = (now: string, limit = 10) =>
          Effect.map(store.due(at(now), limit), (found) => found.map(({ playbookId }) => playbookId))
        assert.deepStrictEqual(yield* due("1948-12-31T23:59:59.999Z"), [])
        assert.deepStrictEqual(yield* due("1949-01-02T00:00:00Z"), [first.playbookId, second.playbookId])
        assert.deepStrictEqual(yield* due("1949-01-02T00:00:00Z", 1), [first.playbookId])
        assert.deepStrictEqual(yield* due("1949-01-03T00:00:00Z"), [
          first.playbookId,
          second.playbookId,
          third.playbookId
        ])
      })
    )
  })
}
