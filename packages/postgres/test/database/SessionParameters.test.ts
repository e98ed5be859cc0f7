/** What a server is asked for each session of the service: a bound on statements, and on transactions that nobody ends. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql/SqlClient"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** What is in force in a session of the service. */
const inForce = (options: PostgresDatabase.PostgresDatabaseOptions) =>
  Effect.provide(
    Effect.flatMap(
      SqlClient,
      (sql) => sql`
        SELECT current_user AS role, current_setting('statement_timeout') AS statement,
          current_setting('idle_in_transaction_session_timeout') AS idle`
    ),
    PostgresDatabase.layer(options)
  ).pipe(Effect.map(([row]) => ({ ...row })))

for (const server of TestDatabase.servers()) {
  describe(`a session of the service (${server.name})`, () => {
    it.live("works as the application, within a time for a statement and for a transaction without any", () =>
      Effect.gen(function* () {
        const url = TestDatabase.serviceUrl(server, yield* TestDatabase.database(server))
        const role = PostgresDatabase.applicationRole
        assert.deepStrictEqual(yield* inForce({ url }), { role, statement: "20s", idle: "1min" })
        assert.deepStrictEqual(yield* inForce({ url, statementTimeout: "1500 millis" }), {
          role,
          statement: "1500ms",
          idle: "1min"
        })
      }).pipe(Effect.scoped)
    )
  })
}
