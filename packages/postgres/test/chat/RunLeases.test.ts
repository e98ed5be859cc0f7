/** Two servers that write one run at the same moment: whoever comes second finds what the first has done. */
import * as Uuid from "@castellan/core/identifier/Uuid"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { Run, RunStatus } from "@castellan/core/run/Run"
import { RunnerId } from "@castellan/core/run/RunLease"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import * as PostgresChatStore from "../../src/chat/PostgresChatStore.ts"
import * as RunNotifications from "../../src/run/RunNotifications.ts"
import { asSuperuser, type TestServer } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** A run that a runner has taken up at a moment, for a minute. */
const carried = Effect.gen(function* () {
  const maker = yield* Sample.principal(yield* Sample.organizationId)
  const chat = yield* Sample.chat(maker)
  const run = yield* Sample.run(maker, chat)
  const store = yield* ChatStore
  yield* store.open(chat, run)
  return Option.getOrThrow(yield* store.take(run, yield* claim(run, 0))).run
})

const claim = Effect.fnUntraced(function* (run: Run, minutes: number) {
  const now = DateTime.add(run.createdAt, { minutes })
  return { runnerId: RunnerId.make(yield* Uuid.next), now, until: DateTime.add(now, { minutes: 1 }) }
})

const begun = (run: Run): Run => new Run({ ...run, status: RunStatus.cases.Running.make({ startedAt: run.createdAt }) })

/** Carries something out and keeps its rows until something else, which is started then, waits for them or is done. */
const meeting = Effect.fnUntraced(function* <A, B>(
  server: TestServer,
  first: Effect.Effect<A, never, ChatStore>,
  second: Effect.Effect<B, never, ChatStore>
) {
  const sql = yield* SqlClient
  const [database] = yield* sql<{ readonly name: string }>`SELECT current_database() AS name`
  const name = database?.name ?? ""
  const written = yield* Deferred.make<void>()
  const met = yield* Deferred.make<void>()
  const one = yield* Effect.forkChild(
    sql.withTransaction(
      Effect.tap(first, () => Effect.andThen(Deferred.succeed(written, undefined), Deferred.await(met)))
    )
  )
  yield* Deferred.await(written)
  const other = yield* Effect.forkChild(second)
  // Over a connection of its own: the other one's may be taken up by what waits.
  const waits = Effect.map(
    asSuperuser(
      server,
      name,
      Effect.flatMap(
        SqlClient,
        (own) => own`SELECT 1 FROM pg_stat_activity WHERE datname = ${name} AND wait_event_type = 'Lock'`
      )
    ),
    (rows) => rows.length > 0 || other.pollUnsafe() !== undefined
  )
  yield* Effect.repeat(waits, { until: (so) => so, schedule: Schedule.spaced("5 millis") })
  yield* Deferred.succeed(met, undefined)
  return [yield* Fiber.join(one), yield* Fiber.join(other)] as const
})

for (const server of TestDatabase.servers()) {
  const services = PostgresChatStore.layer.pipe(
    Layer.provide(RunNotifications.layerInProcess),
    Layer.provideMerge(Layer.merge(TestDatabase.layer(server), layerCrypto))
  )
  describe(`leases of runs (${server.name})`, () => {
    it.live("a runner that writes while another takes the run up is refused", () =>
      Effect.gen(function* () {
        const store = yield* ChatStore
        for (const write of [store.saveRun, (run: Run) => store.endRun(run, run.createdAt)]) {
          const run = yield* carried
          const [taken, isKept] = yield* meeting(server, store.take(run, yield* claim(run, 1)), write(begun(run)))
          assert.strictEqual(Option.getOrThrow(taken).run.epoch, 2)
          assert.isFalse(isKept)
          assert.deepStrictEqual(
            Option.map(yield* store.run(run.organizationId, run.id), ({ status }) => status._tag),
            Option.some("Queued" as const)
          )
        }
      }).pipe(Effect.provide(services))
    )

    it.live("a runner that takes a run up while it is written finds it as it was written", () =>
      Effect.gen(function* () {
        const store = yield* ChatStore
        const run = yield* carried
        const [isKept, taken] = yield* meeting(server, store.saveRun(begun(run)), store.take(run, yield* claim(run, 1)))
        assert.isTrue(isKept)
        assert.strictEqual(Option.getOrThrow(taken).run.status._tag, "Running")
      }).pipe(Effect.provide(services))
    )

    it.live("of two that take a run up at once, the second finds it taken", () =>
      Effect.gen(function* () {
        const store = yield* ChatStore
        const run = yield* carried
        const [first, second] = yield* meeting(
          server,
          store.take(run, yield* claim(run, 1)),
          store.take(run, yield* claim(run, 1))
        )
        assert.isTrue(Option.isSome(first))
        assert.isTrue(Option.isNone(second))
      }).pipe(Effect.provide(services))
    )
  })
}
