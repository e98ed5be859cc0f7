/**
 * Two servers of one deployment, each with connections of its own, that fire, deliver and sweep at the same time: what is
 * due is done once.
 */
import type { Principal } from "@castellan/core/access/Principal"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import * as Castellan from "@castellan/core/Castellan"
import * as Deliveries from "@castellan/core/delivery/Deliveries"
import { DeliveryStore } from "@castellan/core/delivery/DeliveryStore"
import type { Playbook } from "@castellan/core/playbook/Playbook"
import { isEnded } from "@castellan/core/playbook/PlaybookRun"
import { PlaybookRunner } from "@castellan/core/playbook/PlaybookRunner"
import { PlaybookRunStore } from "@castellan/core/playbook/PlaybookRunStore"
import { Playbooks } from "@castellan/core/playbook/Playbooks"
import { ReportStore } from "@castellan/core/report/ReportStore"
import { SandcastleLimits } from "@castellan/core/sandcastle/SandcastleLimits"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import { Schedules } from "@castellan/core/schedule/Schedules"
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import { as } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as ScriptedDelivery from "@castellan/testing/scripted/ScriptedDelivery"
import { says } from "@castellan/testing/scripted/ScriptedModel"
import * as ScriptedSandbox from "@castellan/testing/scripted/ScriptedSandbox"
import { assert, describe, it } from "@effect/vitest"
import { type Context, DateTime, Duration, Effect, Layer, Redacted } from "effect"
import { Base64 } from "effect/encoding"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import * as PostgresStores from "../../src/PostgresStores.ts"
import * as RunNotifications from "../../src/run/RunNotifications.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const secretKeys = SecretKeys.layer({
  current: Redacted.make(`k1:${Base64.encode(new Uint8Array(32).fill(1))}`),
  former: []
})

/** One server over a database, with the mail and chat services that all of them share. */
const server = <Services>(url: Redacted.Redacted<string>, services: Context.Context<Services>) => {
  const database = PostgresDatabase.layer({ url })
  const stores = PostgresStores.layer.pipe(
    Layer.provide(RunNotifications.layer),
    Layer.provide(secretKeys),
    Layer.provide(Deployment.layerCrypto),
    Layer.provide(database)
  )
  const sandbox = ScriptedSandbox.layer({})
  return Deliveries.layer.pipe(
    Layer.provideMerge(Castellan.layer({ sandbox, sweeps: false, purges: false })),
    Layer.provideMerge(
      Layer.mergeAll(
        stores,
        Deployment.layerPorts({ script: () => says("Up **4 %**.") }),
        Deployment.layerCrypto,
        Layer.succeedContext(services)
      )
    ),
    // Every sandcastle is idle as soon as nobody uses it.
    Layer.provide(
      Layer.effect(
        SandcastleLimits,
        Effect.map(SandcastleLimits, (limits) => ({ ...limits, idle: Duration.zero }))
      )
    ),
    Layer.fresh
  )
}

const count = 10

const deployed = Effect.fnUntraced(function* (principal: Principal, name: string) {
  const playbooks = yield* Playbooks
  const { id } = yield* as(principal)(playbooks.create)
  const playbook = yield* as(principal)(
    playbooks.update(id, {
      name,
      prompt: "How did sales go?",
      cronString: "@hourly",
      emailAddresses: ["ann@example.org", "bob@example.org"]
    })
  )
  yield* as(principal)(playbooks.deploy(id))
  return playbook
})

for (const one of TestDatabase.servers()) {
  describe(`Two servers (${one.name})`, () => {
    it.live(
      "fire each due time once, carry each run out once, and deliver each report once",
      () =>
        Effect.gen(function* () {
          const url = TestDatabase.serviceUrl(one, yield* TestDatabase.database(one))
          const delivery = yield* Layer.build(ScriptedDelivery.layer())
          const first = yield* Layer.build(server(url, delivery))
          const second = yield* Layer.build(server(url, delivery))
          type Services = typeof first extends Context.Context<infer S> ? S : never
          const here = <A, E>(effect: Effect.Effect<A, E, Services>) => Effect.provideContext(effect, first)
          const there = <A, E>(effect: Effect.Effect<A, E, Services>) => Effect.provideContext(effect, second)
          const both = <A, E>(effect: Effect.Effect<A, E, Services>) =>
            Effect.all([here(effect), there(effect)], { concurrency: "unbounded" })

          const admin = Fixture.adminOf(yield* here(Fixture.tenant()))
          const playbooks = yield* here(
            Effect.forEach(
              Array.from({ length: count }, (_, index) => `Sales ${index}`),
              (name) => deployed(admin, name)
            )
          )
          const runsOf = (playbook: Playbook) =>
            PlaybookRunStore.use((store) => store.ofPlaybook(admin, playbook.id, { limit: 100, offset: 0 }))

          const now = yield* DateTime.now
          for (const round of [1, 2]) {
            const due = DateTime.add(now, { hours: 2 * round })
            const [ours, theirs] = yield* both(Schedules.use((schedules) => schedules.fireDue(due)))
            assert.strictEqual(ours.runs.length + theirs.runs.length, count)
            for (const playbook of playbooks) {
              assert.strictEqual((yield* here(runsOf(playbook))).totalCount, round)
            }
          }

          // Each run is taken up by both, as after a restart.
          for (const playbook of playbooks) {
            const { items } = yield* there(runsOf(playbook))
            yield* both(
              Effect.forEach(items, (run) => Effect.flatten(PlaybookRunner.use((runner) => runner.start(run))), {
                concurrency: "unbounded"
              })
            )
            const ended = (yield* here(runsOf(playbook))).items
            assert.deepStrictEqual(
              ended.map((run) => [isEnded(run), run.status._tag]),
              [
                [true, "Completed"],
                [true, "Completed"]
              ]
            )
            const reports = yield* here(
              ReportStore.use((store) => store.list({ reader: admin, playbookId: playbook.id, limit: 10, offset: 0 }))
            )
            assert.strictEqual(reports.totalCount, 2, "one report for a run")
            const sent = yield* here(
              DeliveryStore.use((store) =>
                store.ofRuns(
                  admin.organizationId,
                  ended.map(({ id }) => id)
                )
              )
            )
            assert.strictEqual(sent.length, 4, "one delivery for a mailbox of a run")
          }

          // A delivery that lost its race too often waits for a later round, as it would by the clock.
          let delivered = 0
          for (let turn = 0; turn < 10 && delivered < 4 * count; turn += 1) {
            const rounds = yield* both(
              Effect.flatMap(DateTime.now, (at) => Deliveries.Deliveries.use((deliveries) => deliveries.deliverDue(at)))
            )
            delivered += rounds.reduce((sum, round) => sum + round.delivered, 0)
          }
          const attempts = yield* Effect.provideContext(
            ScriptedDelivery.ScriptedDelivery.use((services) => services.attempts),
            delivery
          )
          assert.strictEqual(attempts.length, 4 * count)
          assert.strictEqual(delivered, 4 * count)
        }).pipe(Effect.scoped),
      180_000
    )

    it.live(
      "stop each idle sandcastle once",
      () =>
        Effect.gen(function* () {
          const url = TestDatabase.serviceUrl(one, yield* TestDatabase.database(one))
          const delivery = yield* Layer.build(ScriptedDelivery.layer())
          const first = yield* Layer.build(server(url, delivery))
          const second = yield* Layer.build(server(url, delivery))
          const admin = Fixture.adminOf(yield* Effect.provideContext(Fixture.tenant(), first))
          const { organizationId } = admin
          yield* Effect.provideContext(
            Effect.forEach(Array.from({ length: count }), () =>
              Sandcastles.use((sandcastles) => as(admin)(sandcastles.start()))
            ),
            first
          )
          const sweep = Effect.flatMap(Sandcastles, (sandcastles) => sandcastles.sweep)
          const swept = yield* Effect.all([Effect.provideContext(sweep, first), Effect.provideContext(sweep, second)], {
            concurrency: "unbounded"
          })
          assert.strictEqual(
            swept.reduce((sum, { stopped }) => sum + stopped, 0),
            count
          )
          const told = yield* Effect.provideContext(
            AuditStore.use((store) => store.list(organizationId, { limit: 100, action: "stop" })),
            second
          )
          assert.strictEqual(told.items.length, count)
          assert.strictEqual(new Set(told.items.map(({ target }) => target.id)).size, count)
        }).pipe(Effect.scoped),
      180_000
    )
  })
}
