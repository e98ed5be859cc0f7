/**
 * What every store of playbooks' runs keeps to.
 */
import { PlaybookRun, PlaybookRunStatus, PlaybookRunTrigger } from "@castellan/core/playbook/PlaybookRun"
import { PlaybookRunStore } from "@castellan/core/playbook/PlaybookRunStore"
import { ReportId } from "@castellan/core/report/Report"
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
const dueAt = (text: string) => PlaybookRunTrigger.cases.Schedule.make({ dueAt: at(text) })

/** Runs the contract of `PlaybookRunStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<PlaybookRunStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`PlaybookRunStore (${name})`, (it) => {
    const newWorld = Effect.gen(function* () {
      const organizationId = yield* Sample.organizationId
      const role = yield* Sample.role(organizationId, { permissions: ["playbook:run"] })
      const principal = yield* Sample.principal(organizationId, {
        roles: [role],
        clientMetadata: { text: '{"region":"north"}', attributes: { region: "north" } }
      })
      return { principal, playbook: yield* AutomationSample.playbook(principal) }
    })

    it.effect("gives back what was kept, in every status", () =>
      Effect.gen(function* () {
        const store = yield* PlaybookRunStore
        const { playbook, principal } = yield* newWorld
        const asked = { chatId: yield* Sample.chatId, runId: yield* Sample.runId }
        const [startedAt, endedAt] = [at("2030-01-01T00:00:00.001Z"), at("2030-01-01T00:00:01.999Z")]
        const { Cancelled, Completed, Failed, Running } = PlaybookRunStatus.cases
        const run = yield* AutomationSample.playbookRun(principal, playbook)
        assert.isTrue(yield* store.open(run))
        assertSame(yield* store.get(run.organizationId, run.id), Option.some(run))
        const statuses = [
          Running.make({ ...asked, startedAt }),
          Completed.make({ ...asked, startedAt, endedAt, reportId: ReportId.make(yield* Sample.chatId) }),
          Failed.make({ asked, endedAt, failure: "no_report", error: "nothing" }),
          Failed.make({ endedAt, failure: "rate_limit_exceeded", error: "the budget is used up" }),
          Cancelled.make({ asked, endedAt }),
          Cancelled.make({ endedAt })
        ]
        for (const status of statuses) {
          const next = new PlaybookRun({ ...run, status })
          yield* store.save(next)
          assertSame(yield* store.get(run.organizationId, run.id), Option.some(next))
        }
        assert.isTrue(Option.isNone(yield* store.get(yield* Sample.organizationId, run.id)))
      })
    )

    it.effect("keeps one run for each due time of a playbook, and as many as are asked for by hand", () =>
      Effect.gen(function* () {
        const store = yield* PlaybookRunStore
        const { playbook, principal } = yield* newWorld
        const other = yield* AutomationSample.playbook(principal)
        const open = (of: typeof playbook, trigger?: PlaybookRunTrigger) =>
          Effect.flatMap(
            AutomationSample.playbookRun(principal, of, trigger === undefined ? {} : { trigger }),
            store.open
          )
        assert.isTrue(yield* open(playbook, dueAt("2030-01-01T08:00:00Z")))
        assert.isFalse(yield* open(playbook, dueAt("2030-01-01T08:00:00Z")))
        assert.isTrue(yield* open(playbook, dueAt("2030-01-01T09:00:00Z")))
        assert.isTrue(yield* open(other, dueAt("2030-01-01T08:00:00Z")))
        assert.isTrue(yield* open(playbook))
        assert.isTrue(yield* open(playbook))
        const page = { limit: 100, offset: 0 }
        assert.strictEqual((yield* store.ofPlaybook(principal, playbook.id, page)).totalCount, 4)
        const raced = yield* Effect.all(
          Array.from({ length: 8 }, () => open(playbook, dueAt("2030-01-01T10:00:00Z"))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(raced.filter((won) => won).length, 1)
      })
    )

    it.effect("lists the runs of a playbook newest first, and pages without a gap or a repeat", () =>
      Effect.gen(function* () {
        const store = yield* PlaybookRunStore
        const { playbook, principal } = yield* newWorld
        const made = yield* Effect.forEach([1, 2, 2, 3, 1], (day) =>
          Effect.tap(
            AutomationSample.playbookRun(principal, playbook, { createdAt: at(`2030-01-0${day}T00:00:00Z`) }),
            store.open
          )
        )
        const expected = made
          .toSorted((a, b) => DateTime.Order(b.createdAt, a.createdAt) || (a.id < b.id ? 1 : -1))
          .map((run) => run.id)
        const paged: Array<string> = []
        for (const offset of [0, 2, 4]) {
          const page = yield* store.ofPlaybook(principal, playbook.id, { limit: 2, offset })
          assert.strictEqual(page.totalCount, 5)
          paged.push(...page.items.map((run) => run.id))
        }
        assert.deepStrictEqual(paged, expected)
        const first = { limit: 2, offset: 0 }
        const stranger = yield* Sample.principal(yield* Sample.organizationId)
        assert.deepStrictEqual(yield* store.ofPlaybook(stranger, playbook.id, first), { items: [], totalCount: 0 })
      })
    )

    it.effect("shows no run that another end user made", () =>
      Effect.gen(function* () {
        const store = yield* PlaybookRunStore
        const { playbook, principal } = yield* newWorld
        const of = (region: string) =>
          Sample.principal(principal.organizationId, {
            clientMetadata: { text: `{"region":"${region}"}`, attributes: { region } }
          })
        const [east, west] = yield* Effect.all([of("east"), of("west")])
        const theirs = yield* AutomationSample.playbookRun(east, playbook)
        const ours = yield* AutomationSample.playbookRun(principal, playbook)
        yield* Effect.forEach([theirs, ours], store.open)
        const seen = (reader: typeof east) =>
          Effect.map(store.ofPlaybook(reader, playbook.id, { limit: 10, offset: 0 }), ({ items, totalCount }) => [
            totalCount,
            ...items.map(({ id }) => id)
          ])
        assert.deepStrictEqual(yield* seen(east), [1, theirs.id])
        assert.deepStrictEqual(yield* seen(west), [0])
        assert.deepStrictEqual(yield* seen(principal), [1, ours.id])
      })
    )

    it.effect("finds the runs that have not ended, of every organization, oldest first", () =>
      Effect.gen(function* () {
        const store = yield* PlaybookRunStore
        const [ours, theirs] = [yield* newWorld, yield* newWorld]
        const run = (world: typeof ours, createdAt: string, status?: PlaybookRunStatus) =>
          Effect.tap(
            AutomationSample.playbookRun(world.principal, world.playbook, {
              createdAt: at(createdAt),
              ...(status === undefined ? {} : { status })
            }),
            store.open
          )
        const asked = { chatId: yield* Sample.chatId, runId: yield* Sample.runId }
        const second = yield* run(ours, "1949-01-02T00:00:00Z")
        const first = yield* run(
          theirs,
          "1949-01-01T00:00:00Z",
          PlaybookRunStatus.cases.Running.make({ ...asked, startedAt: at("1949-01-01T00:00:01Z") })
        )
        yield* run(
          ours,
          "1949-01-01T12:00:00Z",
          PlaybookRunStatus.cases.Cancelled.make({ endedAt: at("1949-01-01T13:00:00Z") })
        )
        yield* run(ours, "1949-01-03T00:00:00Z")
        const found = (limit: number) =>
          Effect.map(store.unfinished(at("1949-01-03T00:00:00Z"), limit), (runs) => runs.map(({ id }) => id))
        assert.deepStrictEqual(yield* found(10), [first.id, second.id])
        assert.deepStrictEqual(yield* found(1), [first.id])
      })
    )
  })
}
