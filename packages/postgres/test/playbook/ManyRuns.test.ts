/**
 * Many runs of one playbook: a page is read from an index in its order, and all of them are counted without looking at
 * any of them.
 */
import { PlaybookRun } from "@castellan/core/playbook/PlaybookRun"
import { PlaybookRunStore } from "@castellan/core/playbook/PlaybookRunStore"
import * as AutomationSample from "@castellan/testing/fixture/AutomationSample"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../../src/database/Document.ts"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import * as PostgresPlaybookRunStore from "../../src/playbook/PostgresPlaybookRunStore.ts"
import { plansOf } from "../support/StatementPlans.ts"
import { asSuperuser } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const document = Document.make(PlaybookRun)

for (const server of TestDatabase.servers()) {
  describe(`Many runs (${server.name})`, () => {
    it.live(
      "a page is a stretch of one index, and the total is counted in it",
      () =>
        Effect.gen(function* () {
          const count = 50_000
          const name = yield* TestDatabase.database(server)
          const reader = yield* Sample.principal(yield* Sample.organizationId)
          const playbook = yield* AutomationSample.playbook(reader)
          const run = yield* AutomationSample.playbookRun(reader, playbook)
          yield* asSuperuser(
            server,
            name,
            Effect.gen(function* () {
              const sql = yield* SqlClient
              yield* sql`
                INSERT INTO castellan.playbook_runs (organization_id, id, playbook_id, client, is_ended, created_at,
                  document)
                SELECT ${reader.organizationId}::uuid, gen_random_uuid(), ${playbook.id}::uuid, '', true,
                  now() - n * interval '1 second', ${document.encode(run)}::json
                FROM generate_series(1, ${count}) AS n`
              yield* sql`VACUUM ANALYZE castellan.playbook_runs`
            })
          )
          const connections = PostgresDatabase.layer({ url: TestDatabase.serviceUrl(server, name) })
          yield* Effect.gen(function* () {
            const store = yield* PlaybookRunStore
            const page = store.ofPlaybook(reader, playbook.id, { limit: 20, offset: 40 })
            assert.strictEqual((yield* page).totalCount, count)
            const [plan, ...others] = yield* plansOf("auto", page)
            assert.isDefined(plan)
            assert.deepStrictEqual(others, [], "one statement")
            assert.sameDeepMembers(
              plan.scans.filter(({ index }) => index !== undefined),
              [
                { kind: "Index Scan", index: "playbook_runs_newest", rows: 60 },
                { kind: "Index Only Scan", index: "playbook_runs_newest", rows: count }
              ]
            )
          }).pipe(Effect.provide(PostgresPlaybookRunStore.layer.pipe(Layer.provideMerge(connections))))
        }).pipe(Effect.scoped, Effect.provide(layerCrypto)),
      180_000
    )
  })
}
