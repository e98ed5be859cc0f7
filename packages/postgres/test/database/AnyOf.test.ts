import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { anyOf } from "../../src/database/AnyOf.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

interface Kept {
  readonly generic: number
  readonly custom: number
}

/** The names of tables that are among those named. */
const named = (sql: SqlClient.SqlClient, names: ReadonlyArray<string>) =>
  sql<{ readonly name: string }>`
    SELECT relname::text AS name FROM pg_class WHERE relname::text ${anyOf(sql, names, "text")} ORDER BY relname`

for (const server of TestDatabase.servers()) {
  describe(`anyOf (${server.name})`, () => {
    it.layer(TestDatabase.layer(server))((run) => {
      run.effect("finds what is one of the values, and nothing among none", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const found = yield* named(sql, ["pg_class", "pg_type", "nothing"])
          assert.deepStrictEqual(
            found.map(({ name }) => name),
            ["pg_class", "pg_type"]
          )
          assert.deepStrictEqual(yield* named(sql, []), [])
        })
      )

      run.effect("is carried out under a plan that is kept, however many values there are", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          // Plans are kept by the connection; a transaction has one.
          const kept = yield* sql.withTransaction(
            Effect.gen(function* () {
              for (let count = 1; count <= 12; count++) {
                yield* named(
                  sql,
                  Array.from({ length: count % 3 }, (_, index) => `name ${index}`)
                )
              }
              return yield* sql<Kept>`
                SELECT generic_plans::int AS generic, custom_plans::int AS custom FROM pg_prepared_statements
                WHERE statement LIKE '%pg_class WHERE relname::text%' AND statement NOT LIKE '%pg_prepared_statements%'`
            })
          )
          // The first five are planned with their values, to know what that would gain.
          assert.strictEqual(kept.length, 1)
          assert.strictEqual(kept[0]?.custom, 5)
          assert.isAtLeast(kept[0]?.generic ?? 0, 7)
        })
      )
    })
  })
}
