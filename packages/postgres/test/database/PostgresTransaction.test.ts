import { StorageUnavailable } from "@castellan/core/error/StorageUnavailable"
import { Transaction } from "@castellan/core/transaction/Transaction"
import * as TransactionSuite from "@castellan/testing/suite/TransactionSuite"
import { assert, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import * as PostgresAuditStore from "../../src/audit/PostgresAuditStore.ts"
import * as PostgresTransaction from "../../src/database/PostgresTransaction.ts"
import * as Query from "../../src/database/Query.ts"
import * as PostgresOrganizationStore from "../../src/organization/PostgresOrganizationStore.ts"
import { databases } from "../support/Databases.ts"

/** A statement that ends as one does that has lost against another transaction. */
const losing = Effect.flatMap(SqlClient, (sql) =>
  Query.run(sql`DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = 'serialization_failure'; END $$`)
)

for (const { layer, name } of databases()) {
  TransactionSuite.suite(
    name,
    Layer.mergeAll(PostgresAuditStore.layer, PostgresOrganizationStore.layer, PostgresTransaction.layer).pipe(
      Layer.provide(layer)
    )
  )

  it.layer(Layer.provideMerge(PostgresTransaction.layer, layer), { timeout: "180 seconds" })(
    `a transaction that loses (${name})`,
    (it) => {
      it.effect("is run again until it wins, and answers once", () =>
        Effect.gen(function* () {
          const transaction = yield* Transaction
          let runs = 0
          const body = Effect.suspend(() => {
            runs += 1
            return runs < 4 ? Effect.as(losing, "lost") : Effect.succeed("won")
          })
          assert.strictEqual(yield* transaction.run(body), "won")
          assert.strictEqual(runs, 4)
        })
      )

      it.effect("each time is told as unavailable storage: nothing is wrong with what was asked", () =>
        Effect.gen(function* () {
          const transaction = yield* Transaction
          const exit = yield* Effect.exit(transaction.run(losing))
          assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof StorageUnavailable)
        })
      )

      it.effect("is not acknowledged where its body passes over the failure", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const transaction = yield* Transaction
          const failing = Effect.ignoreCause(Query.run(sql`SELECT 1 / 0`))
          assert.isTrue(Exit.isFailure(yield* Effect.exit(transaction.run(failing))))
        })
      )
    }
  )
}
