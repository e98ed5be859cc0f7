/**
 * What every store of chats and runs keeps to: isolation of organizations, at most one run of a chat at a time
 * whoever asks at once, and lists that page without a gap or a repeat.
 */
import type { Access } from "@castellan/core/access/Access"
import type { Principal } from "@castellan/core/access/Principal"
import { Chat } from "@castellan/core/chat/Chat"
import { listed as isListed } from "@castellan/core/chat/ChatPolicy"
import { type ChatQuery, ChatStore } from "@castellan/core/chat/ChatStore"
import { Feedback } from "@castellan/core/chat/Feedback"
import { Run, RunStatus } from "@castellan/core/run/Run"
import { type RunClaim, RunnerId, startedBy } from "@castellan/core/run/RunLease"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import * as SmallWorld from "../fixture/SmallWorld.ts"
import { assertSame } from "./Same.ts"

const at = (iso: string): DateTime.Utc => DateTime.makeUnsafe(iso)

const noon = at("2030-05-05T12:00:00.000Z")

const completed = (run: Run, endedAt: DateTime.Utc): Run =>
  new Run({ ...run, status: RunStatus.cases.Completed.make({ startedAt: run.createdAt, endedAt }) })

/** A chat with its first run, as `open` takes them. */
const opened = Effect.fnUntraced(function* (maker: Principal, options: Sample.ChatOptions = {}) {
  const chat = yield* Sample.chat(maker, options)
  const run = yield* Sample.run(maker, chat, { question: chat.firstQuestion, createdAt: chat.createdAt })
  yield* ChatStore.use((store) => store.open(chat, run))
  return { chat, run }
})

/** A chat whose first run has ended. */
const answered = Effect.fnUntraced(function* (maker: Principal, options: Sample.ChatOptions = {}) {
  const made = yield* opened(maker, options)
  const end = made.chat.updatedAt
  yield* ChatStore.use((store) => store.endRun(completed(made.run, end), end))
  return made
})

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

const newRunner = Effect.map(Uuid.next, (id) => RunnerId.make(id))

/** What a runner says that takes a run up a number of seconds after noon, for a minute. */
const claimAt = (runnerId: RunnerId, seconds: number): RunClaim => {
  const now = DateTime.add(noon, { seconds })
  return { runnerId, now, until: DateTime.add(now, { minutes: 1 }) }
}

/** A run that was asked at noon, taken up by a runner at that moment. */
const carried = Effect.fnUntraced(function* (maker: Principal) {
  const { chat, run } = yield* opened(maker, { createdAt: noon })
  const runnerId = yield* newRunner
  const taken = Option.getOrThrow(yield* ChatStore.use((store) => store.take(run, claimAt(runnerId, 0))))
  return { chat, run: taken.run, runnerId }
})

const started = (run: Run): Run =>
  new Run({ ...run, status: RunStatus.cases.Running.make({ startedAt: run.createdAt }) })

const used = { inputTokens: 100, outputTokens: 20, toolCalls: 3 }

const newReader = Effect.flatMap(Sample.organizationId, (organization) => Sample.principal(organization))

const sortKey = (chat: Chat, by: ChatQuery["sortBy"]): string | number =>
  by === "name" ? chat.summary : DateTime.toEpochMillis(by === "created_at" ? chat.createdAt : chat.updatedAt)

/** Runs the contract of `ChatStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<ChatStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`ChatStore (${name})`, (it) => {
    it.effect("an opened chat is running, with its run queued", () =>
      Effect.gen(function* () {
        const store = yield* ChatStore
        const reader = yield* newReader
        const { chat, run } = yield* opened(reader)
        const kept = Option.getOrThrow(yield* store.get(reader.organizationId, chat.id))
        assertSame(kept, new Chat({ ...chat, activity: { _tag: "Running", runId: run.id }, updatedAt: run.createdAt }))
        assertSame(yield* store.run(reader.organizationId, run.id), Option.some(run))
        assertSame(yield* store.runs(reader.organizationId, chat.id), [run])
      })
    )

    it.effect("a run that goes on is kept; one that ends leaves its chat idle, updated at that moment", () =>
      Effect.gen(function* () {
        const store = yield* ChatStore
        const reader = yield* newReader
        const { chat, run } = yield* opened(reader, { createdAt: at("2030-01-01T00:00:00.000Z") })
        const running = new Run({
          ...run,
          status: RunStatus.cases.Running.make({ startedAt: at("2030-01-01T00:00:01.000Z") })
        })
        yield* store.saveRun(running)
        assertSame(yield* store.run(reader.organizationId, run.id), Option.some(running))
        const ended = new Run({
          ...completed(running, at("2030-01-01T00:00:02.345Z")),
          usage: { inputTokens: 100, outputTokens: 20, toolCalls: 3 }
        })
        yield* store.endRun(ended, at("2030-01-01T00:00:02.345Z"))
        assertSame(yield* store.run(reader.organizationId, run.id), Option.some(ended))
        const kept = Option.getOrThrow(yield* store.get(reader.organizationId, chat.id))
        assert.strictEqual(kept.activity._tag, "Idle")
        assertSame(kept.updatedAt, at("2030-01-01T00:00:02.345Z"))
        assertSame(kept.createdAt, chat.createdAt)
      })
    )

    it.effect("another question is taken when the chat is idle, and refused while a run is in progress", () =>
      Effect.gen(function* () {
        const store = yield* ChatStore
        const reader = yield* newReader
        const { chat, run: first } = yield* opened(reader, { createdAt: at("2030-01-01T00:00:00.000Z") })
        const second = yield* Sample.run(reader, chat, {
          isContinuation: true,
          createdAt: at("2030-01-02T00:00:00.000Z")
        })
        assert.strictEqual((yield* Effect.flip(store.ask(second)))._tag, "Conflict")
        assertSame(yield* store.runs(reader.organizationId, chat.id), [first])
        assert.isTrue(Option.isNone(yield* store.run(reader.organizationId, second.id)))
        const ended = completed(first, at("2030-01-01T12:00:00.000Z"))
        yield* store.endRun(ended, at("2030-01-01T12:00:00.000Z"))
        yield* store.ask(second)
        assertSame(yield* store.runs(reader.organizationId, chat.id), [ended, second])
        const kept = Option.getOrThrow(yield* store.get(reader.organizationId, chat.id))
        assertSame(kept.activity, { _tag: "Running", runId: second.id })
        assertSame(kept.updatedAt, second.createdAt)
      })
    )

    it.effect("of many questions at once, one is taken", () =>
      Effect.gen(function* () {
        const store = yield* ChatStore
        const reader = yield* newReader
        const { chat, run: first } = yield* answered(reader)
        const runs = yield* Effect.all(Array.from({ length: 20 }, () => Sample.run(reader, chat)))
        const outcomes = yield* Effect.forEach(runs, (run) => Effect.result(store.ask(run)), {
          concurrency: "unbounded"
        })
        const taken = runs.filter((_, index) => outcomes[index]?._tag === "Success")
        assert.strictEqual(taken.length, 1)
        const kept = yield* store.runs(reader.organizationId, chat.id)
        assert.deepStrictEqual(
          kept.map((run) => run.id),
          [first.id, ...taken.map((run) => run.id)]
        )
      })
    )

    it.effect("the end of an earlier run does not end the one in progress", () =>
      Effect.gen(function* () {
        const store = yield* ChatStore
        const reader = yield* newReader
        const { chat, run: first } = yield* answered(reader)
        const second = yield* Sample.run(reader, chat)
        yield* store.ask(second)
        yield* store.endRun(completed(first, noon), noon)
        const kept = Option.getOrThrow(yield* store.get(reader.organizationId, chat.id))
        assertSame(kept.activity, { _tag: "Running", runId: second.id })
      })
    )

    it.effect("of many who take a run up at once one does, and nobody else until it is no longer heard of", () =>
      Effect.gen(function* () {
        const store = yield* ChatStore
        const reader = yield* newReader
        const { run } = yield* opened(reader, { createdAt: noon })
        const runners = yield* Effect.all(Array.from({ length: 20 }, () => newRunner))
        const outcomes = yield* Effect.forEach(runners, (runner) => store.take(run, claimAt(runner, 0)), {
          concurrency: "unbounded"
        })
        const taken = outcomes.flatMap((outcome) => Option.toArray(outcome))
        assertSame(taken, [{ run: new Run({ ...run, epoch: 1 }), isCancelled: false }])
        const other = yield* newRunner
        assertSame(yield* store.take(run, claimAt(other, 59)), Option.none())
        const next = Option.getOrThrow(yield* store.take(run, claimAt(other, 60)))
        assert.strictEqual(next.run.epoch, 2)
        assertSame(yield* store.take(run, claimAt(yield* newRunner, 61)), Option.none())
      })
    )

    it.effect("a runner that has lost a run to another can write nothing of it any more", () =>
      Effect.gen(function* () {
        const store = yield* ChatStore
        const reader = yield* newReader
        const { chat, run: mine } = yield* carried(reader)
        const beat = (run: Run) => store.renew([{ ...run, usage: used }], DateTime.add(noon, { hours: 1 }))
        assert.isTrue(yield* store.saveRun(started(mine)))
        const { run: theirs } = Option.getOrThrow(yield* store.take(mine, claimAt(yield* newRunner, 60)))
        assert.strictEqual(theirs.status._tag, "Running")
        assert.isFalse(yield* store.saveRun(started(mine)))
        assert.isFalse(yield* store.endRun(completed(mine, noon), noon))
        assertSame(yield* beat(mine), [])
        yield* store.handOver(mine, noon)
        yield* store.release(mine)
        assertSame(yield* store.take(mine, claimAt(yield* newRunner, 61)), Option.none())
        assertSame(yield* store.run(reader.organizationId, mine.id), Option.some(started(mine)))
        const running = Option.getOrThrow(yield* store.get(reader.organizationId, chat.id))
        assertSame(running.activity, { _tag: "Running", runId: mine.id })
        assert.isTrue(yield* store.endRun(completed(theirs, noon), noon))
        assert.isFalse(yield* store.saveRun(started(mine)))
        assertSame(yield* store.run(reader.organizationId, mine.id), Option.some(completed(theirs, noon)))
        yield* store.release(theirs)
        assert.isFalse(yield* store.endRun(completed(mine, noon), noon))
      })
    )

    it.effect("who takes a run up finds whatever its runner could write before", () =>
      Effect.gen(function* () {
        const store = yield* ChatStore
        const reader = yield* newReader
        const runnerId = yield* newRunner
        for (const _ of Array.from({ length: 40 })) {
          const { run } = yield* carried(reader)
          const [saved, taken] = yield* Effect.all(
            [store.saveRun(started(run)), store.take(run, claimAt(runnerId, 60))],
            { concurrency: "unbounded" }
          )
          assert.strictEqual(Option.getOrThrow(taken).run.status._tag, saved ? "Running" : "Queued")
        }
      })
    )

    it.effect("a runner that is heard of keeps its runs; what it told they used is what the next one finds", () =>
      Effect.gen(function* () {
        const store = yield* ChatStore
        const reader = yield* newReader
        const stranger = yield* newReader
        const [one, other] = [yield* carried(reader), yield* carried(reader)]
        const lost = yield* carried(stranger)
        yield* store.take(lost.run, claimAt(yield* newRunner, 60))
        const beats = [one, other, lost].map(({ run }) => ({ ...run, usage: used }))
        const renewed = yield* store.renew(beats, DateTime.add(noon, { minutes: 2 }))
        assert.deepStrictEqual(renewed.map(({ id }) => id).toSorted(), [one.run.id, other.run.id].toSorted())
        const elsewhere = { ...one.run, organizationId: stranger.organizationId, usage: used }
        assertSame(yield* store.renew([elsewhere], DateTime.add(noon, { hours: 1 })), [])
        assertSame(yield* store.renew([], noon), [])
        const next = claimAt(yield* newRunner, 119)
        assertSame(yield* store.take(one.run, next), Option.none())
        const taken = yield* store.take(one.run, { ...next, now: DateTime.add(noon, { minutes: 2 }) })
        assertSame(Option.getOrThrow(taken).run.usage, used)
        // What an ended run used up is on it.
        const ended = new Run({ ...completed(other.run, noon), usage: { ...used, toolCalls: 4 } })
        assert.isTrue(yield* store.endRun(ended, noon))
        const last = yield* store.take(other.run, claimAt(yield* newRunner, 120))
        assertSame(Option.getOrThrow(last).run, new Run({ ...ended, epoch: 2 }))
      })
    )

    it.effect("that a run ended may be said again, until it is released; then nobody takes it up", () =>
      Effect.gen(function* () {
        const store = yield* ChatStore
        const reader = yield* newReader
        const { run } = yield* carried(reader)
        assert.isTrue(yield* store.endRun(completed(run, noon), noon))
        assert.isTrue(yield* store.endRun(completed(run, noon), noon))
        yield* store.release(run)
        assert.isFalse(yield* store.endRun(completed(run, noon), noon))
        assertSame(yield* store.take(run, claimAt(yield* newRunner, 3600)), Option.none())
      })
    )

    it.effect(
      "a run that is asked to stop says so to its runner and to whoever takes it up; an ended one is none",
      () =>
        Effect.gen(function* () {
          const store = yield* ChatStore
          const reader = yield* newReader
          const { run } = yield* carried(reader)
          const minute = DateTime.add(noon, { minutes: 1 })
          assert.isFalse(yield* store.requestCancel({ ...run, organizationId: (yield* newReader).organizationId }))
          assertSame(yield* store.renew([run], minute), [{ id: run.id, isCancelled: false }])
          assert.isTrue(yield* store.requestCancel(run))
          assertSame(yield* store.renew([run], minute), [{ id: run.id, isCancelled: true }])
          const taken = Option.getOrThrow(yield* store.take(run, claimAt(yield* newRunner, 60)))
          assert.isTrue(taken.isCancelled)
          assert.isTrue(yield* store.endRun(completed(taken.run, noon), noon))
          assert.isFalse(yield* store.requestCancel(run))
          assert.isFalse(yield* store.requestCancel(yield* Sample.run(reader, yield* Sample.chat(reader))))
        })
    )

    it.effect("tells the runs that nobody has, of every organization, the longest first", () =>
      Effect.gen(function* () {
        const store = yield* ChatStore
        const [reader, stranger] = [yield* newReader, yield* newReader]
        const lost = yield* carried(reader)
        const { run: unstarted } = yield* opened(stranger, { createdAt: noon })
        const handedOver = yield* carried(stranger)
        yield* store.handOver(handedOver.run, DateTime.add(noon, { seconds: 30 }))
        const released = yield* carried(reader)
        yield* store.endRun(completed(released.run, noon), noon)
        const untold = yield* carried(reader)
        yield* store.renew([untold.run], DateTime.add(noon, { seconds: 61 }))
        yield* store.endRun(completed(untold.run, noon), noon)
        yield* store.release(released.run)
        const removed = yield* carried(reader)
        yield* store.remove(reader.organizationId, removed.chat.id)
        const all = [lost.run, unstarted, handedOver.run, released.run, untold.run, removed.run]
        const made = new Set(all.map(({ id }) => id))
        const found = (seconds: number, limit = 10_000) =>
          Effect.map(store.abandoned(DateTime.add(noon, { seconds }), limit), (runs) =>
            runs.map(({ id }) => id).filter((id) => made.has(id))
          )
        assert.strictEqual(DateTime.toEpochMillis(startedBy(unstarted)), DateTime.toEpochMillis(noon) + 10_000)
        assert.deepStrictEqual(yield* found(9), [])
        assert.deepStrictEqual(yield* found(10), [unstarted.id])
        assert.deepStrictEqual(yield* found(30), [unstarted.id, handedOver.run.id])
        assert.deepStrictEqual(yield* found(60), [unstarted.id, handedOver.run.id, lost.run.id])
        assert.deepStrictEqual(yield* found(61), [unstarted.id, handedOver.run.id, lost.run.id, untold.run.id])
        assert.isAtMost((yield* store.abandoned(DateTime.add(noon, { seconds: 61 }), 2)).length, 2)
        const again = Option.getOrThrow(yield* store.take(handedOver.run, claimAt(yield* newRunner, 1)))
        assert.strictEqual(again.run.epoch, 2)
      })
    )

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
  })
}
