/** The server over a PostgreSQL server: what it keeps is there after a restart, and it says when the database is gone. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { asSuperuser } from "../../../packages/postgres/test/support/PostgresServer.ts"
import * as TestDatabase from "../../../packages/postgres/test/support/TestDatabase.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "castellan-server-test-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)

const started = async (environment: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../src/main.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...environment, PORT: "0" }
  })
  const url = await new Promise<string>((resolve, reject) => {
    let output = ""
    child.once("exit", () => reject(new Error(output)))
    child.stdout.on("data", (chunk) => {
      output += String(chunk)
      const found = /listening on (http:\/\/[\w.:]+)/.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
  const stop = async () => {
    const ended = once(child, "exit")
    child.kill("SIGTERM")
    await ended
  }
  return { url, stop }
}

const server = (environment: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.promise(() => started(environment)),
    ({ stop }) => Effect.promise(stop)
  )

for (const postgres of TestDatabase.servers()) {
  describe(`the server over ${postgres.name}`, () => {
    it.live(
      "keeps everything there, and is not ready while the database is read-only, nor once it is gone",
      () =>
        Effect.gen(function* () {
          const data = yield* folder
          mkdirSync(join(data, "files"))
          writeFileSync(join(data, "files", "orders.csv"), "x,y\n1,2\n")
          const database = yield* TestDatabase.database(postgres, "template1")
          const environment = {
            CASTELLAN_DATA_DIR: join(data, "kept"),
            CASTELLAN_FILES: join(data, "files"),
            CASTELLAN_DATABASE_URL: Redacted.value(TestDatabase.serviceUrl(postgres, database)),
            CASTELLAN_DATABASE_OWNER_URL: `${postgres.url}/${database}`
          }
          const asked = (url: string, path: string, init: RequestInit = {}) =>
            Effect.promise(async () => {
              const key = readFileSync(join(data, "kept", "admin.key"), "utf8").trim()
              const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
              const response = await fetch(`${url}${path}`, { ...init, headers })
              return { status: response.status, text: await response.text() }
            })

          yield* Effect.scoped(
            Effect.gen(function* () {
              const { url } = yield* server(environment)
              const answer = yield* asked(url, "/v2/chats", {
                method: "POST",
                body: JSON.stringify({ question: "How many rows?" })
              })
              assert.strictEqual(answer.status, 200, answer.text)
            })
          )
          assert.notInclude(readdirSync(join(data, "kept")), "database")

          const { CASTELLAN_DATABASE_OWNER_URL: _, ...withoutOwner } = environment
          const { url } = yield* server(withoutOwner)
          assert.include((yield* asked(url, "/v2/chats")).text, "How many rows?")
          assert.strictEqual((yield* asked(url, "/readyz")).status, 200)
          const administered = (change: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError>) =>
            asSuperuser(postgres, "postgres", Effect.flatMap(SqlClient.SqlClient, change))
          const ready = Effect.map(asked(url, "/readyz"), ({ status }) => status === 200)
          /** What is set for a database holds for connections that begin after it. */
          const reconnected = (change: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError>) =>
            administered((sql) =>
              Effect.andThen(
                change(sql),
                sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${database}`
              )
            )

          yield* reconnected((sql) => sql`ALTER DATABASE ${sql(database)} SET default_transaction_read_only = on`)
          // The first may have met a connection that was ended; those after it meet a database that answers.
          assert.deepStrictEqual(yield* Effect.all([ready, ready, ready, ready]), [false, false, false, false])
          yield* reconnected((sql) => sql`ALTER DATABASE ${sql(database)} RESET default_transaction_read_only`)
          yield* Effect.repeat(ready, { until: (isReady) => isReady })

          yield* administered((sql) => sql`DROP DATABASE ${sql(database)} WITH (FORCE)`)
          assert.isFalse(yield* ready)
          assert.strictEqual((yield* asked(url, "/healthz")).status, 200)
          assert.strictEqual((yield* asked(url, "/v2/chats")).status, 503)
        }).pipe(Effect.scoped),
      240_000
    )
  })
}
