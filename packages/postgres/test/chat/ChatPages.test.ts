/**
 * Long lists of chats: every page of them is what sorting all chats would give, none looks at more than it has to, and
 * what is kept of their number stays right.
 */
import type { Access } from "@castellan/core/access/Access"
import type { Principal } from "@castellan/core/access/Principal"
import { Chat, ChatId } from "@castellan/core/chat/Chat"
import { type ChatQuery, ChatStore } from "@castellan/core/chat/ChatStore"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { Run, RunStatus } from "@castellan/core/run/Run"
import { Transaction } from "@castellan/core/transaction/Transaction"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import { within } from "../../src/database/Tenancy.ts"
import * as PostgresChatStore from "../../src/chat/PostgresChatStore.ts"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import * as PostgresTransaction from "../../src/database/PostgresTransaction.ts"
import * as RunNotifications from "../../src/run/RunNotifications.ts"
import { databases } from "../support/Databases.ts"
import { asSuperuser } from "../support/PostgresServer.ts"
import { plansOf } from "../support/StatementPlans.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const now = DateTime.makeUnsafe("2030-05-05T12:00:00.000Z")

const list = Effect.fnUntraced(function* (reader: Principal, more: Partial<ChatQuery> = {}) {
  const page = yield* ChatStore.use((store) =>
    store.list({ reader, now, limit: 20, offset: 0, sortBy: "updated_at", sortDirection: "desc", ...more })
  )
  return { ids: page.chats.map(({ id }) => id), totalCount: page.totalCount }
})

/** Opens a chat, as the first of many. */
const open = Effect.fnUntraced(function* (maker: Principal, options: Sample.ChatOptions = {}) {
  const chat = yield* Sample.chat(maker, options)
  const run = yield* Sample.run(maker, chat, { createdAt: chat.createdAt })
  yield* ChatStore.use((store) => store.open(chat, run))
  return { chat, run }
})

const end = (run: Run, at: DateTime.Utc) =>
  ChatStore.use((store) =>
    store.endRun(new Run({ ...run, status: RunStatus.cases.Cancelled.make({ endedAt: at }) }), at)
  )

/** What sorting all chats of the organization would go by. */
const rows = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const sql = yield* SqlClient
  return yield* sql<{ readonly id: string; readonly audience: string; readonly name: string } & Record<Moment, Date>>`
    SELECT id, audience_id AS audience, name, created_at, updated_at
    FROM castellan.chats WHERE ${within(sql, organizationId)}`
})

type Moment = "created_at" | "updated_at"

/** Every chat becomes many, over so many days, at moments that often are the same. */
const multiply = Effect.fnUntraced(function* (organizationId: OrganizationId, times: number, days: number) {
  const sql = yield* SqlClient
  yield* sql`
    INSERT INTO castellan.chats
    SELECT organization_id, copy.id, audience_id, NULL,
      created_at + ((n * 37) % ${days}) * interval '1 day' + (n % 7) * interval '1 hour',
      updated_at + ((n * 53) % ${days}) * interval '1 day' + (n % 5) * interval '1 hour',
      md5((n % 500)::text), searched_summary, searched_question,
      replace(document::text, chats.id::text, copy.id::text)::json
    FROM castellan.chats CROSS JOIN LATERAL (
      SELECT gen_random_uuid() AS id, n FROM generate_series(1, ${times}) AS n WHERE chats.id IS NOT NULL) AS copy
    WHERE ${within(sql, organizationId)}`
})

/** The stores over connections to a database. */
const servicesOver = <E>(connections: Layer.Layer<SqlClient, E>) =>
  Layer.merge(PostgresChatStore.layer, PostgresTransaction.layer).pipe(
    Layer.provide(RunNotifications.layerInProcess),
    Layer.provideMerge(Layer.merge(connections, layerCrypto))
  )

const changed = (access: Access, more: Partial<Access>): Access => ({ ...access, ...more })

/** A reader with chats in a few audiences, or in many, and chats that it may not see. */
const scene = Effect.fnUntraced(function* (roleCount: number, times: number, days: number) {
  const organizationId = yield* Sample.organizationId
  const roles = yield* Effect.all(Array.from({ length: roleCount }, () => Sample.role(organizationId)))
  const reader = yield* Sample.principal(organizationId, { roles })
  const other = yield* Sample.principal(organizationId)
  const { access } = yield* Sample.chat(other)
  const accesses = [
    (yield* Sample.chat(reader)).access,
    changed(access, { isPublic: true }),
    ...roles.map(({ id }) => changed(access, { grants: [{ grantee: { _tag: "Role", id }, accessType: "viewer" }] }))
  ]
  const made = yield* Effect.forEach([...accesses, access], (one) => open(other, { access: one, createdAt: now }))
  for (const { run } of made) yield* end(run, now)
  yield* multiply(organizationId, times, days)
  const all = yield* rows(organizationId)
  const hidden = all.find(({ id }) => id === made.at(-1)?.chat.id)?.audience
  return { reader, other, seen: all.filter(({ audience }) => audience !== hidden) }
})

for (const { layer, name } of databases()) {
  it.layer(servicesOver(layer), { timeout: "180 seconds" })(`pages of chats (${name})`, (it) => {
    for (const [roles, times] of [
      [0, 1500],
      [9, 300]
    ] as const) {
      it.effect(`every page is what sorting all would give, near and far, of ${roles + 2} audiences`, () =>
        Effect.gen(function* () {
          const { reader, seen } = yield* scene(roles, times, 40)
          const total = seen.length
          assert.isAbove(total, 3000)
          for (const sortBy of ["updated_at", "created_at", "name"] as const) {
            const sorted = seen.toSorted((a, b) => {
              const [left, right] = [a[sortBy], b[sortBy]]
              return left < right ? -1 : left > right ? 1 : a.id < b.id ? -1 : 1
            })
            for (const sortDirection of ["asc", "desc"] as const) {
              const ids = (sortDirection === "asc" ? sorted : sorted.toReversed()).map(({ id }) => id)
              for (const offset of [
                0,
                999,
                1000,
                1001,
                1017,
                1404,
                1500,
                2000,
                total - 1005,
                total - 20,
                total - 3,
                total
              ]) {
                assert.deepStrictEqual(
                  yield* list(reader, { sortBy, sortDirection, offset }),
                  { ids: ids.slice(offset, offset + 20).map((id) => ChatId.make(id)), totalCount: total },
                  `${sortBy} ${sortDirection} after ${offset}`
                )
              }
            }
          }
        })
      )
    }

    it.effect("what is kept of the number of chats is what counting them gives, whatever becomes of them", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient
        const store = yield* ChatStore
        const { other, reader, seen } = yield* scene(1, 3, 2)
        const { organizationId } = reader
        const counts = Effect.map(
          sql`
            (SELECT audience_id, kind, day::text, sum(chats)::int FROM castellan.chat_tallies
              WHERE ${within(sql, organizationId)} GROUP BY 1, 2, 3 HAVING sum(chats) <> 0)
            EXCEPT ALL
            (SELECT audience_id, counted.kind, counted.day::text, count(*)::int
              FROM castellan.chats CROSS JOIN LATERAL (VALUES ('all', date 'epoch'),
                ('created_at', castellan.day(created_at)), ('updated_at', castellan.day(updated_at))
              ) AS counted (kind, day)
              WHERE ${within(sql, organizationId)} GROUP BY 1, 2, 3)`,
          (different) => assert.deepStrictEqual(different, [])
        )
        yield* counts
        const days = (count: number) => DateTime.add(now, { days: count })
        for (let index = 0; index < 6; index++) {
          const { chat, run } = yield* open(reader, { createdAt: days(index) })
          yield* end(run, days(index + (index % 3)))
          yield* counts
          const shared = changed(chat.access, { isPublic: index % 2 === 0 })
          yield* store.save(new Chat({ ...chat, access: shared, summary: "Renamed" }))
          yield* counts
          if (index % 2 === 0) {
            const again = yield* Sample.run(reader, chat, { isContinuation: true, createdAt: days(index + 9) })
            yield* store.ask(again)
            yield* counts
            yield* end(again, days(index + 10))
          }
          if (index > 3) yield* store.remove(organizationId, chat.id)
          yield* counts
        }
        assert.strictEqual((yield* list(reader)).totalCount, seen.length + 4)
        // Some of them were shared with everybody.
        assert.strictEqual((yield* list(other)).totalCount, seen.length + 2)
      })
    )

    it.effect("many who open chats at once, in transactions, are all counted, by whoever lists meanwhile too", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient
        const transaction = yield* Transaction
        const organizationId = yield* Sample.organizationId
        const reader = yield* Sample.principal(organizationId)
        yield* Effect.all(
          [
            Effect.forEach(Array.from({ length: 150 }), () => transaction.run(open(reader)), {
              concurrency: 10,
              discard: true
            }),
            Effect.forEach(Array.from({ length: 20 }), () => list(reader), { concurrency: 3, discard: true })
          ],
          { concurrency: "unbounded" }
        )
        assert.strictEqual((yield* list(reader)).totalCount, 150)
        assert.strictEqual((yield* list(reader)).totalCount, 150)
        const [kept] = yield* sql<{ readonly changes: number }>`
          SELECT count(*)::int AS changes FROM castellan.chat_tallies WHERE ${within(sql, organizationId)}`
        assert.isAtMost(kept?.changes ?? 0, 3 * 65)
      })
    )
  })
}

for (const server of TestDatabase.servers()) {
  it.effect(
    `a page far into a list looks at hardly more than the first one, and neither at the whole (${server.name})`,
    () =>
      Effect.gen(function* () {
        const database = yield* TestDatabase.database(server)
        const services = yield* Layer.build(
          servicesOver(PostgresDatabase.layer({ url: TestDatabase.serviceUrl(server, database) }))
        )
        yield* Effect.gen(function* () {
          const { reader, seen } = yield* scene(0, 10_000, 200)
          const total = seen.length
          const analyze = Effect.flatMap(SqlClient, (sql) => sql`ANALYZE castellan.chats`)
          yield* asSuperuser(server, database, analyze)
          // Counts that were changed are added up once.
          yield* list(reader)
          const examined = Effect.fnUntraced(function* (more: Partial<ChatQuery>) {
            const modes = ["force_custom_plan", "force_generic_plan"] as const
            const found = yield* Effect.forEach(modes, (mode) =>
              Effect.map(plansOf(mode, list(reader, more)), (plans) =>
                plans.reduce((sum, plan) => sum + plan.examined, 0)
              )
            )
            return Math.max(...found)
          })
          for (const sortBy of ["updated_at", "created_at"] as const) {
            assert.isAtMost(yield* examined({ sortBy }), 100)
            assert.isAtMost(yield* examined({ sortBy, offset: total - 20 }), 100)
            // The days of two audiences, and what comes before the page on its day.
            assert.isAtMost(yield* examined({ sortBy, offset: total / 2 }), 2 * 200 + 2 * 220)
          }
          assert.isAtMost(yield* examined({ sortBy: "name" }), 100)
        }).pipe(Effect.provide(services))
      })
  )
}
