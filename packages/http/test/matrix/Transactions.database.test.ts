/**
 * Whatever an operation of the contract changes, it changes in one transaction, with its audit event in it. Every
 * operation is served once, and each row that it wrote is asked for the transaction that wrote it.
 *
 * Source: issue "Everything kept" §1 ("A use case is one transaction with its audit event"); decisions.md §3.
 */
import type { OrganizationId } from "@castellan/core/organization/Organization"
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import * as PostgresDatabase from "@castellan/postgres/database/PostgresDatabase"
import * as PostgresStores from "@castellan/postgres/PostgresStores"
import * as RunNotifications from "@castellan/postgres/run/RunNotifications"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import { says } from "@castellan/testing/scripted/ScriptedModel"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { asSuperuser, type TestServer } from "../../../postgres/test/support/PostgresServer.ts"
import * as TestDatabase from "../../../postgres/test/support/TestDatabase.ts"
import * as Expectations from "./Expectations.ts"
import { manySandcastles } from "./MatrixSuite.ts"
import { operations } from "./Operations.ts"
import { requestWith } from "./Refusals.ts"
import { requestsOf } from "./Requests.ts"
import { anonymous, rules } from "./Rules.ts"
import * as Served from "./Served.ts"
import * as World from "./World.ts"

/** What is written beside the transactions of use cases, and why it may be: no resource changes by it. */
const beside: ReadonlyArray<readonly [change: RegExp, why: string]> = [
  [/^api_keys last_used_at, version$/, "a use is noted once a minute, whatever becomes of the request"],
  [/^rate_limits /, "a request takes a token, whatever becomes of it"],
  [/^(run_events|run_logs|run_leases|usage_records) /, "a run that was asked for goes on by itself"],
  [/^runs document$/, "a run that was asked for begins and ends by itself"],
  [/^chats running_run_id, updated_at$/, "a run that has ended leaves its chat"],
  [/^sandcastles document, last_used_at$/, "each use of a sandcastle keeps it from being idle"],
  [/^executions document, is_running$/, "an execution that is on the record has ended"],
  [/^model_numbers insert$/, "models have their numbers from the first that asks for one"]
]

/** What goes on by itself once it was answered, in use cases of its own, each with its own event. */
const goesOn: { readonly [operation: string]: string } = { "webhook.trigger": "the run that was queued begins" }

/** A transaction that wrote something: what it changed, audit events aside, and how many of those are in it. */
interface Written {
  readonly changes: ReadonlyArray<string>
  readonly events: number
}

/** Tells which transactions wrote what of an organization since it was asked about it last. */
class Ledger extends Context.Service<
  Ledger,
  { readonly written: (organization: OrganizationId) => Effect.Effect<ReadonlyArray<Written>> }
>()("@castellan/http/test/matrix/Ledger") {}

/** Notes each row that is written, with its transaction: the columns that changed, where it was there before. */
const noted = [
  `CREATE SCHEMA ledger`,
  `CREATE TABLE ledger.rows (id bigserial PRIMARY KEY, organization text, transaction text, name text, change text)`,
  `CREATE FUNCTION ledger.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
     INSERT INTO ledger.rows (organization, transaction, name, change) SELECT
       CASE TG_OP WHEN 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END ->> 'organization_id',
       txid_current()::text, TG_TABLE_NAME, TG_TABLE_NAME || ' ' || CASE TG_OP WHEN 'UPDATE' THEN (
         SELECT coalesce(string_agg(is_now.key, ', ' ORDER BY is_now.key), 'as it was')
         FROM jsonb_each(to_jsonb(NEW)) is_now JOIN jsonb_each(to_jsonb(OLD)) was USING (key)
         WHERE is_now.value <> was.value) ELSE lower(TG_OP) END;
     RETURN NULL;
   END $$`,
  `DO $$ DECLARE one text; BEGIN
     FOR one IN SELECT relname FROM pg_class WHERE relnamespace = 'castellan'::regnamespace AND relkind = 'r' LOOP
       EXECUTE format('CREATE TRIGGER ledger AFTER INSERT OR UPDATE OR DELETE ON castellan.%I
         FOR EACH ROW EXECUTE FUNCTION ledger.note()', one);
     END LOOP;
   END $$`
]

const ledger = (server: TestServer, database: string) =>
  Layer.effect(
    Ledger,
    Effect.gen(function* () {
      const watching = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
        Effect.orDie(asSuperuser(server, database, effect))
      const sql = SqlClient.SqlClient
      yield* watching(Effect.flatMap(sql, (run) => Effect.forEach(noted, (statement) => run.unsafe(statement))))
      const read = new Map<OrganizationId, number>()
      return Ledger.of({
        written: Effect.fnUntraced(function* (organization) {
          const last = read.get(organization) ?? 0
          const rows = yield* watching(
            Effect.flatMap(
              sql,
              (run) => run<Written & { readonly last: number }>`
                SELECT coalesce(array_agg(DISTINCT change) FILTER (WHERE name <> 'audit_events'), '{}') AS changes,
                  count(*) FILTER (WHERE name = 'audit_events')::int AS events, max(id)::int AS last
                FROM ledger.rows WHERE organization = ${organization} AND id > ${last}
                GROUP BY transaction ORDER BY min(id)`
            )
          )
          read.set(organization, Math.max(last, ...rows.map((row) => row.last)))
          return rows
        })
      })
    })
  )

const keys = SecretKeys.layer({ current: Redacted.make(`matrix:${btoa("k".repeat(32))}`), former: [] }).pipe(
  Layer.provide(Deployment.layerCrypto)
)

const site = (server: TestServer) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const database = yield* TestDatabase.database(server)
      const connections = PostgresDatabase.layer({ url: TestDatabase.serviceUrl(server, database) })
      const stores = PostgresStores.layer.pipe(
        Layer.provide(Layer.mergeAll(RunNotifications.layer, keys, Deployment.layerCrypto)),
        Layer.provide(connections),
        Layer.orDie
      )
      return Served.layer.pipe(
        Layer.provideMerge(Deployment.layer({ script: () => says("The answer is 42."), stores })),
        Layer.provide(manySandcastles),
        Layer.merge(ledger(server, database))
      )
    })
  )

const changing = operations.filter(({ method, name }) => method !== "GET" && anonymous[name] === undefined)

for (const server of TestDatabase.servers()) {
  layer(site(server), { timeout: "180 seconds", excludeTestServices: true })(
    `transactions of operations (${server.name})`,
    (it) => {
      it.effect.each(changing.map((operation) => [operation.name, operation] as const))("%s", ([, operation]) =>
        Effect.gen(function* () {
          const { written } = yield* Ledger
          const rule = rules[operation.name]
          if (rule === undefined) return assert.fail("Rules.ts does not know it")
          const proper = Expectations.exactly(rule)
          const first = yield* World.make
          for (const [index, { variant }] of requestsOf(operation, first.filling).entries()) {
            const world = index === 0 ? first : yield* World.make
            const request = requestsOf(operation, world.filling)[index]
            if (request === undefined) return assert.fail(`there is no request${variant}`)
            const key = proper === "everything" ? world.keys.maker : yield* world.keyWith(proper)
            yield* written(world.tenant.organizationId)
            const { status, text } = yield* Served.send(requestWith(request, key))
            assert.include(operation.successes, status, text)
            const transactions = yield* written(world.tenant.organizationId)
            const unaudited = transactions.filter(({ events }) => events === 0).flatMap(({ changes }) => changes)
            assert.deepStrictEqual(
              unaudited.filter((change) => !beside.some(([known]) => known.test(change))),
              [],
              `${variant}: without an audit event`
            )
            if (goesOn[operation.name] !== undefined) continue
            assert.isAtMost(transactions.filter(({ events }) => events > 0).length, 1, `${variant}: in pieces`)
          }
        })
      )
    }
  )
}
