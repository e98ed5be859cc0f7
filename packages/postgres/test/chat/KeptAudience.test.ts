/** An audience is there as long as a chat of it is, whatever comes into it and goes out of it at once. */
import type { Access } from "@castellan/core/access/Access"
import type { Principal } from "@castellan/core/access/Principal"
import { Chat } from "@castellan/core/chat/Chat"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { Transaction } from "@castellan/core/transaction/Transaction"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import * as PostgresChatStore from "../../src/chat/PostgresChatStore.ts"
import * as PostgresTransaction from "../../src/database/PostgresTransaction.ts"
import { within } from "../../src/database/Tenancy.ts"
import * as RunNotifications from "../../src/run/RunNotifications.ts"
import { databases } from "../support/Databases.ts"

/** A new chat of somebody, opened. */
const opened = Effect.fnUntraced(function* (maker: Principal) {
  const chat = yield* Sample.chat(maker)
  const run = yield* Sample.run(maker, chat)
  yield* ChatStore.use((chats) => chats.open(chat, run))
  return chat
})

const listed = (reader: Principal) =>
  Effect.map(
    ChatStore.use((chats) =>
      chats.list({
        reader,
        now: DateTime.nowUnsafe(),
        limit: 10,
        offset: 0,
        sortBy: "created_at",
        sortDirection: "asc"
      })
    ),
    ({ chats, totalCount }) => {
      assert.strictEqual(chats.length, totalCount)
      return chats.map(({ id }) => id)
    }
  )

/** How many rows tell of audiences, and of how many chats they have. */
const kept = ({ organizationId }: Principal) =>
  Effect.flatMap(
    SqlClient,
    (sql) =>
      sql<{ readonly audiences: number; readonly tallies: number }>`
      SELECT (SELECT count(*)::int FROM castellan.chat_audiences WHERE ${within(sql, organizationId)}) AS audiences,
        (SELECT count(*)::int FROM castellan.chat_tallies WHERE ${within(sql, organizationId)}) AS tallies`
  ).pipe(Effect.map(([row]) => [row?.audiences, (row?.tallies ?? 0) > 0]))

const shared = (chat: Chat, access: Partial<Access>) => new Chat({ ...chat, access: { ...chat.access, ...access } })

for (const { isEmbedded, layer, name } of databases()) {
  const services = Layer.merge(PostgresChatStore.layer, PostgresTransaction.layer).pipe(
    Layer.provide(RunNotifications.layerInProcess),
    Layer.provideMerge(layer),
    Layer.provideMerge(layerCrypto)
  )
  it.layer(services, { timeout: "180 seconds", excludeTestServices: true })(`audiences (${name})`, (it) => {
    it.effect("go with the last of their chats, and come back with the next", () =>
      Effect.gen(function* () {
        const chats = yield* ChatStore
        const maker = yield* Sample.principal(yield* Sample.organizationId)
        const remove = ({ id }: Chat) => chats.remove(maker.organizationId, id)
        assert.deepStrictEqual(yield* kept(maker), [0, false])
        const first = yield* opened(maker)
        const rows = yield* kept(maker)
        const second = yield* opened(maker)
        assert.deepStrictEqual(yield* kept(maker), rows)
        yield* remove(first)
        assert.deepStrictEqual(yield* kept(maker), rows)
        assert.deepStrictEqual(yield* listed(maker), [second.id])
        yield* remove(second)
        assert.deepStrictEqual(yield* kept(maker), [0, false])
        yield* remove(second)
        const third = yield* opened(maker)
        assert.deepStrictEqual(yield* kept(maker), rows)
        assert.deepStrictEqual(yield* listed(maker), [third.id])
      })
    )

    it.effect("go when the last of their chats is shared otherwise", () =>
      Effect.gen(function* () {
        const chats = yield* ChatStore
        const maker = yield* Sample.principal(yield* Sample.organizationId)
        const chat = yield* opened(maker)
        const rows = yield* kept(maker)
        const other = yield* opened(maker)
        yield* chats.save(shared(chat, { isPublic: true }))
        yield* chats.save(shared(other, { isPublic: true }))
        // Everybody is one reader.
        assert.deepStrictEqual(yield* kept(maker), [1, true])
        assert.sameMembers(yield* listed(maker), [chat.id, other.id])
        yield* chats.save(chat)
        yield* chats.save(other)
        assert.deepStrictEqual(yield* kept(maker), rows)
        assert.sameMembers(yield* listed(maker), [chat.id, other.id])
      })
    )

    it.effect("are of one organization: what is shared with everybody in another stays", () =>
      Effect.gen(function* () {
        const chats = yield* ChatStore
        const [maker, stranger] = [
          yield* Sample.principal(yield* Sample.organizationId),
          yield* Sample.principal(yield* Sample.organizationId)
        ]
        const [chat, others] = [yield* opened(maker), yield* opened(stranger)]
        yield* chats.save(shared(chat, { isPublic: true }))
        yield* chats.save(shared(others, { isPublic: true }))
        yield* chats.remove(maker.organizationId, chat.id)
        assert.deepStrictEqual(yield* kept(maker), [0, false])
        assert.deepStrictEqual(yield* kept(stranger), [1, true])
        assert.deepStrictEqual(yield* listed(stranger), [others.id])
      })
    )

    if (isEmbedded) return

    it.effect("stay, or are brought anew, when a chat comes in while the last one goes", () =>
      Effect.gen(function* () {
        const chats = yield* ChatStore
        const transaction = yield* Transaction
        const maker = yield* Sample.principal(yield* Sample.organizationId)
        const first = yield* opened(maker)
        const [isIn, isGone] = [Latch.makeUnsafe(), Latch.makeUnsafe()]
        const coming = yield* Effect.forkChild(
          transaction.run(opened(maker).pipe(Effect.tap(() => Effect.andThen(isIn.open, isGone.await))))
        )
        yield* isIn.await
        yield* chats.remove(maker.organizationId, first.id)
        yield* isGone.open
        const second = yield* Fiber.join(coming)
        assert.deepStrictEqual(yield* listed(maker), [second.id])
      })
    )

    it.effect("are whole when chats come and go at once", () =>
      Effect.gen(function* () {
        const chats = yield* ChatStore
        const maker = yield* Sample.principal(yield* Sample.organizationId)
        let last = yield* opened(maker)
        for (let round = 0; round < 20; round++) {
          const gone = last.id
          const [next] = yield* Effect.all([opened(maker), chats.remove(maker.organizationId, gone)], {
            concurrency: "unbounded"
          })
          assert.deepStrictEqual(yield* listed(maker), [next.id], `round ${round}`)
          last = next
        }
        yield* chats.remove(maker.organizationId, last.id)
        assert.deepStrictEqual(yield* kept(maker), [0, false])
      })
    )
  })
}
