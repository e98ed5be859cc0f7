/** A purge waits for nobody: what somebody else holds at that moment is passed over, and left to the next purge. */
import { AttemptId, IdempotentRequestId, RequestFingerprint } from "@castellan/core/idempotency/IdempotentRequest"
import { IdempotencyStore } from "@castellan/core/idempotency/IdempotencyStore"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { ExecutionStore } from "@castellan/core/sandcastle/ExecutionStore"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as SandcastleSample from "@castellan/testing/fixture/SandcastleSample"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Latch, Layer } from "effect"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import { SqlClient } from "effect/sql/SqlClient"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import * as PostgresIdempotencyStore from "../../src/idempotency/PostgresIdempotencyStore.ts"
import * as PostgresExecutionStore from "../../src/sandcastle/PostgresExecutionStore.ts"
import { asSuperuser } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const old = DateTime.makeUnsafe("2030-01-01T00:00:00.000Z")
const now = DateTime.add(old, { days: 31 })

interface Kind {
  readonly table: string
  /** Keeps three that are old. */
  readonly keep: Effect.Effect<unknown, unknown, ExecutionStore | IdempotencyStore | SecureRandom.SecureRandom>
  readonly purge: Effect.Effect<number, unknown, ExecutionStore | IdempotencyStore>
}

const kinds: ReadonlyArray<Kind> = [
  {
    table: "executions",
    keep: Effect.gen(function* () {
      const store = yield* ExecutionStore
      const maker = yield* Sample.principal(yield* Sample.organizationId)
      const sandcastle = yield* SandcastleSample.sandcastle(maker)
      for (let count = 0; count < 3; count++) {
        yield* store.save(yield* SandcastleSample.execution(sandcastle, { createdAt: old }))
      }
    }),
    purge: ExecutionStore.use((store) => store.purge(now, 100))
  },
  {
    table: "idempotent_requests",
    keep: Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const organizationId = yield* Sample.organizationId
      for (const digit of ["1", "2", "3"]) {
        yield* store.claim({
          organizationId,
          id: IdempotentRequestId.make(digit.repeat(64)),
          fingerprint: RequestFingerprint.make(digit.repeat(64)),
          attempt: AttemptId.make(yield* Uuid.next),
          now: old,
          leaseUntil: DateTime.add(old, { minutes: 1 })
        })
      }
    }),
    purge: IdempotencyStore.use((store) => store.purge(now, 100))
  }
]

for (const server of TestDatabase.servers()) {
  describe(`purges (${server.name})`, () => {
    it.live.each(kinds.map((kind) => [kind.table, kind] as const))(
      "pass over what somebody else holds: %s",
      ([, { keep, purge, table }]) =>
        Effect.gen(function* () {
          const database = yield* TestDatabase.database(server)
          const [isHeld, mayEnd] = [yield* Latch.make(), yield* Latch.make()]
          const held = asSuperuser(
            server,
            database,
            Effect.flatMap(SqlClient, (sql) =>
              sql.withTransaction(
                sql`SELECT FROM castellan.${sql(table)} LIMIT 1 FOR UPDATE`.pipe(
                  Effect.andThen(isHeld.open),
                  Effect.andThen(mayEnd.await)
                )
              )
            )
          )
          yield* Effect.gen(function* () {
            yield* keep
            const holding = yield* Effect.forkChild(held)
            yield* isHeld.await
            assert.strictEqual(yield* purge, 2)
            yield* mayEnd.open
            yield* Fiber.join(holding)
            assert.strictEqual(yield* purge, 1)
            assert.strictEqual(yield* purge, 0)
          }).pipe(
            Effect.provide(
              Layer.mergeAll(PostgresExecutionStore.layer, PostgresIdempotencyStore.layer).pipe(
                Layer.provide(PostgresDatabase.layer({ url: TestDatabase.serviceUrl(server, database) }))
              )
            )
          )
        }).pipe(Effect.scoped, Effect.provide(layerCrypto)),
      180_000
    )
  })
}
