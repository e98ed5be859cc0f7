/**
 * Many executions: a page costs the same wherever it is, and those that are purged are in nobody's way.
 */
import * as Retention from "@castellan/core/retention/Retention"
import { Execution, purgedBefore } from "@castellan/core/sandcastle/Execution"
import { ExecutionStore } from "@castellan/core/sandcastle/ExecutionStore"
import type { Sandcastle } from "@castellan/core/sandcastle/Sandcastle"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as SandcastleSample from "@castellan/testing/fixture/SandcastleSample"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../../src/database/Document.ts"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import * as PostgresIdempotencyStore from "../../src/idempotency/PostgresIdempotencyStore.ts"
import * as PostgresExecutionStore from "../../src/sandcastle/PostgresExecutionStore.ts"
import { plansOf } from "../support/StatementPlans.ts"
import { asSuperuser } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const document = Document.make(Execution)

const newSandcastle = Effect.flatMap(Sample.organizationId, (organization) =>
  Effect.flatMap(Sample.principal(organization), (maker) => SandcastleSample.sandcastle(maker))
)

/** The id of the execution with a number. */
const idOf = (number: number) => `00000000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`

/** Fills a sandcastle with executions, one a millisecond up to a moment, the last of which has the number `count`. */
const fill = Effect.fnUntraced(function* (sandcastle: Sandcastle, count: number, until: DateTime.Utc) {
  const sql = yield* SqlClient
  const sample = yield* SandcastleSample.execution(sandcastle, { createdAt: until })
  yield* sql`
    INSERT INTO castellan.executions (organization_id, id, sandcastle_id, created_at, recorded_at, document)
    SELECT ${sandcastle.organizationId}::uuid, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
      ${sandcastle.id}, moment, moment, ${document.encode(sample)}::json
    FROM generate_series(1, ${count}) AS n,
      LATERAL (SELECT ${DateTime.toDateUtc(until)} - (${count} - n) * interval '1 millisecond') AS made (moment)`
}, Effect.provide(layerCrypto))

for (const server of TestDatabase.servers()) {
  describe(`Many executions (${server.name})`, () => {
    it.live(
      "page 10,000 looks at as much as the first page does: a stretch of one index, in its order",
      () =>
        Effect.gen(function* () {
          const limit = 20
          const count = limit * 10_000
          const until = DateTime.makeUnsafe("2030-01-01T00:00:00.000Z")
          const name = yield* TestDatabase.database(server)
          const sandcastle = yield* newSandcastle
          const other = yield* newSandcastle
          yield* asSuperuser(
            server,
            name,
            Effect.gen(function* () {
              const sql = yield* SqlClient
              yield* fill(sandcastle, count, until)
              yield* fill(other, 2000, until)
              yield* sql`VACUUM ANALYZE castellan.executions`
            })
          )
          const connections = PostgresDatabase.layer({ url: TestDatabase.serviceUrl(server, name) })
          yield* Effect.gen(function* () {
            const store = yield* ExecutionStore
            const page = (from: number) =>
              store.list(sandcastle.organizationId, sandcastle.id, {
                limit,
                ...(from === count
                  ? {}
                  : {
                      after: { at: DateTime.subtract(until, { milliseconds: count - from - 1 }), id: idOf(from + 1) }
                    })
              })
            const first = yield* page(count)
            const last = yield* page(limit)
            assert.strictEqual(first.items.length, limit)
            assert.isDefined(first.next)
            assert.strictEqual(last.items.length, limit)
            assert.isUndefined(last.next)
            const plans = yield* Effect.forEach([count, count - limit, count / 2, limit * 2], (from) =>
              plansOf("auto", page(from))
            )
            const costs = plans.map(([plan, ...others]) => {
              assert.isDefined(plan)
              assert.deepStrictEqual(others, [], "one statement")
              assert.deepStrictEqual(plan.scans, [{ kind: "Index Scan", index: "executions_newest", rows: limit + 1 }])
              assert.isFalse(plan.steps.some((step) => step.includes("Sort")))
              return plan.pages
            })
            assert.isAtMost(Math.max(...costs), Math.min(...costs) + 3, costs.join(", "))
            const [purge] = yield* plansOf("auto", store.purge(DateTime.subtract(until, { days: 1 }), 1000))
            assert.isDefined(purge)
            assert.include(purge.indexes, "executions_oldest")
            assert.isAtMost(purge.pages, 10, "what is not old is not looked at")
            const [left] = yield* plansOf("auto", store.unfinished(until, 1000))
            assert.isDefined(left)
            assert.deepStrictEqual(left.indexes, ["executions_running"])
            assert.isAtMost(left.pages, 3, "what has ended is not looked at")
          }).pipe(Effect.provide(PostgresExecutionStore.layer.pipe(Layer.provideMerge(connections))))
        }).pipe(Effect.scoped, Effect.provide(layerCrypto)),
      180_000
    )

    it.live(
      "two servers purge 100,000, and whoever writes meanwhile waits for no lock",
      () =>
        Effect.gen(function* () {
          const old = 100_000
          const now = yield* DateTime.now
          const name = yield* TestDatabase.database(server)
          const sandcastle = yield* newSandcastle
          const young = yield* newSandcastle
          const ends = DateTime.subtract(purgedBefore(now), { minutes: 1 })
          yield* asSuperuser(server, name, fill(sandcastle, old, ends))
          const connections = Layer.fresh(PostgresDatabase.layer({ url: TestDatabase.serviceUrl(server, name) }))
          const stores = Layer.mergeAll(PostgresExecutionStore.layer, PostgresIdempotencyStore.layer)
          const purge = Effect.provide(
            Retention.Retention.use((retention) => retention.purge),
            Retention.layer.pipe(Layer.provide(stores), Layer.provide(connections))
          )

          /** Records an execution, and ends the oldest that is left until last: each in a moment, or not at all. */
          const write = Effect.gen(function* () {
            const sql = yield* SqlClient
            const store = yield* ExecutionStore
            const made = yield* SandcastleSample.execution(young, { createdAt: now })
            yield* sql.withTransaction(
              Effect.gen(function* () {
                yield* sql`SET LOCAL lock_timeout = '250ms'`
                yield* sql`SET LOCAL statement_timeout = '1s'`
                yield* store.save(made)
                yield* sql`
                  UPDATE castellan.executions SET document = document
                  WHERE (SELECT castellan.enter(${sandcastle.organizationId}))
                    AND organization_id = ${sandcastle.organizationId} AND id = ${idOf(old)}`
              })
            )
          })

          let writes = 0
          const writing = yield* Effect.forkChild(
            write.pipe(
              Effect.tap(() => Effect.sync(() => (writes += 1))),
              Effect.forever,
              Effect.provide(Layer.provideMerge(PostgresExecutionStore.layer, connections))
            )
          )
          const purged = yield* Effect.raceFirst(
            Effect.all([purge, purge], { concurrency: "unbounded" }),
            Effect.flatMap(Fiber.join(writing), () => Effect.never)
          )
          yield* Fiber.interrupt(writing)
          // What the writer held at the very end was passed over, for the next purge.
          const rest = yield* purge
          assert.isAtMost(rest.executions, 1)
          assert.strictEqual(
            [...purged, rest].reduce((sum, { executions }) => sum + executions, 0),
            old
          )
          assert.isAbove(writes, 20)
          const left = yield* asSuperuser(
            server,
            name,
            Effect.flatMap(
              SqlClient,
              (sql) => sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM castellan.executions`
            )
          )
          assert.isAtLeast(left[0]?.count ?? 0, writes)
          assert.isAtMost(left[0]?.count ?? 0, writes + 1)
        }).pipe(Effect.scoped, Effect.provide(layerCrypto)),
      180_000
    )
  })
}
