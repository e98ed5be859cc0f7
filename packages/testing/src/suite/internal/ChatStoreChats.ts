/**
 * How a store of chats keeps and lists them: to those who may read them, within their organization, page by page.
 */
import type { Access } from "@castellan/core/access/Access"
import type { Principal } from "@castellan/core/access/Principal"
import { Chat } from "@castellan/core/chat/Chat"
import { listed as isListed } from "@castellan/core/chat/ChatPolicy"
import { type ChatQuery, ChatStore } from "@castellan/core/chat/ChatStore"
import { Feedback } from "@castellan/core/chat/Feedback"
import { assert, type Vitest } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Sample from "../../fixture/Sample.ts"
import * as SmallWorld from "../../fixture/SmallWorld.ts"
import { assertSame } from "../Same.ts"
import { answered, at, newReader, noon, opened, type ChatStoreNeeds } from "./ChatStoreWords.ts"

const query = (reader: Principal, more: Partial<ChatQuery> = {}): ChatQuery => ({
  reader,
  now: noon,
  limit: 100,
  offset: 0,
  sortBy: "updated_at",
  sortDirection: "desc",
  ...more
})

const listed = Effect.fnUntraced(function* (reader: Principal, more: Partial<ChatQuery> = {}) {
  const page = yield* ChatStore.use((store) => store.list(query(reader, more)))
  return { ids: page.chats.map((chat) => chat.id), totalCount: page.totalCount }
})

const sortKey = (chat: Chat, by: ChatQuery["sortBy"]): string | number =>
  by === "name" ? chat.summary : DateTime.toEpochMillis(by === "created_at" ? chat.createdAt : chat.updatedAt)

/** Chats are kept, judged, removed, searched and listed, each organization's by themselves. */
export const keepsChats = (it: Vitest.MethodsNonLive<ChatStoreNeeds>): void => {
  it.effect("nothing of one organization is seen, asked or listed from another", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const ours = yield* newReader
      const theirs = yield* newReader
      const { chat, run } = yield* answered(ours, { access: Sample.everyone })
      assert.isTrue(Option.isNone(yield* store.get(theirs.organizationId, chat.id)))
      assert.isTrue(Option.isNone(yield* store.run(theirs.organizationId, run.id)))
      assert.deepStrictEqual(yield* store.runs(theirs.organizationId, chat.id), [])
      assert.deepStrictEqual(yield* listed(theirs), { ids: [], totalCount: 0 })
      const intruder = yield* Sample.run(theirs, chat)
      assert.strictEqual((yield* Effect.flip(store.ask(intruder)))._tag, "Conflict")
      assert.strictEqual(Option.getOrThrow(yield* store.get(ours.organizationId, chat.id)).activity._tag, "Idle")
    })
  )

  it.effect("lists, finds and counts an organization's own, where others share with everybody too", () =>
    Effect.gen(function* () {
      const ours = yield* newReader
      const theirs = yield* newReader
      const shared = { access: Sample.everyone, question: "What is new?" }
      const own = yield* answered(ours, shared)
      yield* answered(theirs, shared)
      yield* answered(theirs, shared)
      for (const sortBy of ["name", "created_at", "updated_at"] as const) {
        for (const more of [{}, { searchTerm: "what" }]) {
          assert.deepStrictEqual(yield* listed(ours, { sortBy, ...more }), { ids: [own.chat.id], totalCount: 1 })
        }
      }
    })
  )

  it.effect("lists what the reader may read, and counts nothing else", () =>
    Effect.gen(function* () {
      const organization = yield* Sample.organizationId
      const role = yield* Sample.role(organization)
      const reader = yield* Sample.principal(organization, { roles: [role] })
      const other = yield* Sample.principal(organization)
      const restricted = yield* Sample.principal(organization, {
        memberId: reader.memberId,
        roles: [role],
        restricted: true
      })
      const shared = (grants: Access["grants"]): Access => ({ isPublic: false, grants })
      const forReader = { grantee: { _tag: "Member", id: reader.memberId }, accessType: "viewer" } as const
      const own = yield* answered(reader)
      const open = yield* answered(other, { access: Sample.everyone })
      const byRole = yield* answered(other, {
        access: shared([{ grantee: { _tag: "Role", id: role.id }, accessType: "viewer" }])
      })
      const direct = yield* answered(other, { access: shared([forReader]) })
      const until = yield* answered(other, {
        access: shared([{ ...forReader, expiresAt: at("2030-05-05T12:00:00.001Z") }])
      })
      // At the very moment of its expiry a grant is over.
      yield* answered(other, { access: shared([{ ...forReader, expiresAt: noon }]) })
      yield* answered(other)

      const seen = (one: { readonly ids: ReadonlyArray<string> }) => one.ids.toSorted()
      const ids = (...made: ReadonlyArray<{ readonly chat: Chat }>) => made.map(({ chat }) => chat.id).toSorted()
      const all = yield* listed(reader)
      assert.deepStrictEqual(seen(all), ids(own, open, byRole, direct, until))
      assert.strictEqual(all.totalCount, 5)
      // A restricted key sees neither the owner's own items nor direct shares.
      const limited = yield* listed(restricted)
      assert.deepStrictEqual(seen(limited), ids(open, byRole))
      assert.strictEqual(limited.totalCount, 2)
    })
  )

  it.effect("keeps what was changed of a chat, and leaves to its runs whether it runs and when it was updated", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const stranger = yield* newReader
      const { chat, run } = yield* opened(reader)
      const changed = new Chat({ ...chat, summary: "Renamed", updatedAt: at("2031-01-01T00:00:00.000Z") })
      const kept = Effect.map(store.get(reader.organizationId, chat.id), Option.getOrThrow)
      yield* store.save(changed)
      assertSame(
        yield* kept,
        new Chat({
          ...chat,
          summary: "Renamed",
          activity: { _tag: "Running", runId: run.id },
          updatedAt: run.createdAt
        })
      )
      yield* store.save(new Chat({ ...changed, organizationId: stranger.organizationId, summary: "Stolen" }))
      assert.strictEqual((yield* kept).summary, "Renamed")
      const gone = yield* Sample.chat(reader)
      yield* store.save(gone)
      assert.isTrue(Option.isNone(yield* store.get(reader.organizationId, gone.id)))
    })
  )

  it.effect("keeps the latest opinion of each member, and none of another organization", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const other = yield* Sample.principal(reader.organizationId)
      const { chat } = yield* answered(reader)
      const opinion = (of: Principal, rating: Feedback["rating"], comment?: string) =>
        new Feedback({
          organizationId: of.organizationId,
          chatId: chat.id,
          memberId: of.memberId,
          rating,
          ...(comment === undefined ? {} : { comment }),
          createdAt: noon,
          updatedAt: noon
        })
      assertSame(yield* store.feedback(reader.organizationId, chat.id), [])
      yield* store.saveFeedback(opinion(reader, "up", "well done"))
      yield* store.saveFeedback(opinion(other, "up"))
      yield* store.saveFeedback(opinion(reader, "down"))
      const expected = [opinion(reader, "down"), opinion(other, "up")].toSorted((a, b) =>
        a.memberId < b.memberId ? -1 : 1
      )
      assertSame(yield* store.feedback(reader.organizationId, chat.id), expected)
      assertSame(yield* store.feedback((yield* newReader).organizationId, chat.id), [])
    })
  )

  it.effect("removes a chat with its runs and opinions, and no other", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const gone = yield* answered(reader)
      const other = yield* answered(reader)
      yield* store.saveFeedback(
        new Feedback({
          organizationId: reader.organizationId,
          chatId: gone.chat.id,
          memberId: reader.memberId,
          rating: "up",
          createdAt: noon,
          updatedAt: noon
        })
      )
      yield* store.remove((yield* newReader).organizationId, gone.chat.id)
      assert.isTrue(Option.isSome(yield* store.get(reader.organizationId, gone.chat.id)))
      yield* store.remove(reader.organizationId, gone.chat.id)
      assert.isTrue(Option.isNone(yield* store.get(reader.organizationId, gone.chat.id)))
      assert.isTrue(Option.isNone(yield* store.run(reader.organizationId, gone.run.id)))
      assertSame(yield* store.runs(reader.organizationId, gone.chat.id), [])
      assertSame(yield* store.feedback(reader.organizationId, gone.chat.id), [])
      assert.deepStrictEqual((yield* listed(reader)).ids, [other.chat.id])
      assert.strictEqual((yield* store.runs(reader.organizationId, other.chat.id)).length, 1)
    })
  )

  it.effect.prop(
    "lists exactly what the rules let a reader read, whoever it is and whatever is shared with whom",
    {
      chats: Schema.Array(SmallWorld.DrawnAccess).check(Schema.isMaxLength(12)),
      readers: Schema.Array(SmallWorld.DrawnPrincipal).check(Schema.isMinLength(1), Schema.isMaxLength(4))
    },
    ({ chats, readers }) =>
      Effect.gen(function* () {
        const world = yield* SmallWorld.make
        const maker = yield* Sample.principal(world.organizationId)
        const made = yield* Effect.forEach(chats, (drawn) =>
          answered(maker, { access: SmallWorld.accessOf(world, drawn) })
        )
        for (const drawn of readers) {
          const reader = SmallWorld.principalOf(world, drawn)
          const expected = made.filter(({ chat }) => isListed(reader, chat, SmallWorld.now))
          const page = yield* listed(reader, { now: SmallWorld.now, sortBy: "created_at", sortDirection: "asc" })
          assert.deepStrictEqual(
            page.ids,
            expected.map(({ chat }) => chat.id)
          )
          assert.strictEqual(page.totalCount, expected.length)
        }
      }),
    { arbitrary: { runs: 40 } }
  )

  it.effect("searches the summary and the first question, whatever the case, and takes every sign for itself", () =>
    Effect.gen(function* () {
      const reader = yield* newReader
      const percent = yield* answered(reader, { question: "What is 100% of sales_total?", summary: "Share" })
      const plain = yield* answered(reader, { question: "What is 1000 of salesXtotal?", summary: "Plain" })
      const quoted = yield* answered(reader, { question: "Path C:\\data and O'Brien", summary: "Übersicht ÄÖ" })
      const find = (searchTerm: string) => Effect.map(listed(reader, { searchTerm }), ({ ids }) => ids.toSorted())
      const ids = (...made: ReadonlyArray<{ readonly chat: Chat }>) => made.map(({ chat }) => chat.id).toSorted()
      assert.deepStrictEqual(yield* find("WHAT IS"), ids(percent, plain))
      assert.deepStrictEqual(yield* find("plain"), ids(plain))
      assert.deepStrictEqual(yield* find("100%"), ids(percent))
      assert.deepStrictEqual(yield* find("sales_total"), ids(percent))
      assert.deepStrictEqual(yield* find("c:\\DATA"), ids(quoted))
      assert.deepStrictEqual(yield* find("o'brien"), ids(quoted))
      assert.deepStrictEqual(yield* find("übersicht äö"), ids(quoted))
      assert.deepStrictEqual(yield* find("%"), ids(percent))
      assert.deepStrictEqual(yield* find("nothing like it"), [])
      assert.strictEqual((yield* listed(reader, { searchTerm: "what", limit: 1 })).totalCount, 2)
    })
  )

  it.effect("sorts by each key in each direction, breaks ties by id, and pages without a gap or a repeat", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const made = yield* Effect.forEach(
        Array.from({ length: 23 }, (_, index) => index),
        (index) =>
          answered(reader, {
            summary: ["beta", "Alpha", "alpha", "gamma", "alpha"][index % 5] ?? "",
            createdAt: at(`2030-01-0${1 + (index % 3)}T00:00:00.00${index % 2}Z`),
            updatedAt: at(`2030-02-0${1 + (index % 4)}T00:00:00.000Z`)
          })
      )
      const chats = yield* Effect.forEach(made, ({ chat }) =>
        Effect.map(store.get(reader.organizationId, chat.id), Option.getOrThrow)
      )
      for (const sortBy of ["name", "created_at", "updated_at"] as const) {
        const ascending = chats
          .toSorted((a, b) => {
            const [left, right] = [sortKey(a, sortBy), sortKey(b, sortBy)]
            return left < right ? -1 : left > right ? 1 : a.id < b.id ? -1 : 1
          })
          .map((chat) => chat.id)
        for (const sortDirection of ["asc", "desc"] as const) {
          const expected = sortDirection === "asc" ? ascending : ascending.toReversed()
          for (const limit of [1, 5, 23, 100]) {
            const paged: Array<string> = []
            for (let offset = 0; offset < 30; offset += limit) {
              const page = yield* listed(reader, { sortBy, sortDirection, limit, offset })
              assert.strictEqual(page.totalCount, 23)
              paged.push(...page.ids)
            }
            assert.deepStrictEqual(paged, expected, `${sortBy} ${sortDirection} by ${limit}`)
          }
        }
      }
    })
  )
}
