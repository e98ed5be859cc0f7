/**
 * What every store of sandcastles keeps to.
 */
import type { Principal } from "@castellan/core/access/Principal"
import type { Position } from "@castellan/core/page/Page"
import { Sandcastle, SandcastleStatus } from "@castellan/core/sandcastle/Sandcastle"
import { type SandcastleQuery, SandcastleStore } from "@castellan/core/sandcastle/SandcastleStore"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { sandcastle, serverId } from "../fixture/SandcastleSample.ts"
import { assertSame } from "./Same.ts"

const at = (iso: string): DateTime.Utc => DateTime.makeUnsafe(iso)

const { Running, Stale, Stopped, Unknown } = SandcastleStatus.cases

const noon = at("2030-05-05T12:00:00.000Z")
const used = (lastUsedAt: DateTime.Utc) => ({ startedAt: at("2030-05-05T08:00:00.000Z"), lastUsedAt })
const stopped = Stopped.make({ startedAt: at("2030-05-05T08:00:00.000Z"), releasedAt: noon, cause: "asked" })

const kept = (one: Sandcastle) =>
  Effect.as(
    SandcastleStore.use((store) => store.save(one)),
    one
  )

const listed = (reader: Principal, query: Partial<SandcastleQuery> = {}) =>
  SandcastleStore.use((store) => store.list({ reader, status: "all", limit: 100, ...query }))

const ids = (all: ReadonlyArray<Sandcastle>) => all.map(({ id }) => id)

/** Runs the contract of `SandcastleStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<SandcastleStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`SandcastleStore (${name})`, (it) => {
    const newMaker = Effect.flatMap(Sample.organizationId, (organization) => Sample.principal(organization))

    it.effect("keeps a sandcastle in each state, and replaces it", () =>
      Effect.gen(function* () {
        const store = yield* SandcastleStore
        const maker = yield* newMaker
        const chatId = yield* Sample.chatId
        for (const status of [Running.make(used(noon)), Stale.make(used(noon)), Unknown.make(used(noon)), stopped]) {
          const one = yield* kept(yield* sandcastle(maker, { status, chatId }))
          assertSame(yield* store.get(maker.organizationId, one.id), Option.some(one))
          assertSame(yield* store.get((yield* newMaker).organizationId, one.id), Option.none())
        }
        assert.strictEqual((yield* listed(maker)).items.length, 4)
      })
    )

    it.effect("lists the reader's own, by state", () =>
      Effect.gen(function* () {
        const maker = yield* newMaker
        const colleague = yield* Sample.principal(maker.organizationId)
        const client = { text: '{"tenant":"a"}', attributes: { tenant: "a" } }
        const endUser = yield* Sample.principal(maker.organizationId, {
          memberId: maker.memberId,
          restricted: true,
          clientMetadata: client
        })
        const [running, stale, unknown, gone] = yield* Effect.all([
          sandcastle(maker, { status: Running.make(used(noon)), createdAt: at("2030-01-04T00:00:00.000Z") }),
          sandcastle(maker, { status: Stale.make(used(noon)), createdAt: at("2030-01-03T00:00:00.000Z") }),
          sandcastle(maker, { status: Unknown.make(used(noon)), createdAt: at("2030-01-02T00:00:00.000Z") }),
          sandcastle(maker, { status: stopped, createdAt: at("2030-01-01T00:00:00.000Z") })
        ])
        const theirs = yield* sandcastle(endUser)
        yield* Effect.forEach([gone, unknown, stale, running, theirs], kept)
        assert.deepStrictEqual(ids((yield* listed(maker)).items), ids([running, stale, unknown, gone]))
        const alive = yield* listed(maker, { status: "running" })
        assert.deepStrictEqual(ids(alive.items), ids([running, stale, unknown]))
        assert.deepStrictEqual(ids((yield* listed(maker, { status: "stopped" })).items), ids([gone]))
        assert.deepStrictEqual(ids((yield* listed(colleague)).items), [])
        // The same member, for an end user: only what was made for that end user.
        assert.deepStrictEqual(ids((yield* listed(endUser)).items), ids([theirs]))
      })
    )

    it.effect("pages by position: what arrives meanwhile neither repeats nor hides another", () =>
      Effect.gen(function* () {
        const maker = yield* newMaker
        const made = yield* Effect.forEach(Array.from({ length: 7 }), (_, index) =>
          Effect.flatMap(sandcastle(maker, { createdAt: at(`2030-01-0${1 + (index % 3)}T00:00:00.000Z`) }), kept)
        )
        const seen: Array<string> = []
        let after: Position | undefined
        do {
          const page = yield* listed(maker, { limit: 3, ...(after === undefined ? {} : { after }) })
          seen.push(...ids(page.items))
          after = page.next
          yield* Effect.flatMap(sandcastle(maker, { createdAt: at("2031-01-01T00:00:00.000Z") }), kept)
        } while (after !== undefined)
        const expected = made.toSorted(
          (a, b) => DateTime.toEpochMillis(b.createdAt) - DateTime.toEpochMillis(a.createdAt) || (a.id < b.id ? 1 : -1)
        )
        assert.deepStrictEqual(seen, ids(expected))
      })
    )

    it.effect("is stopped by one of those that found it idle, and by none where it was used since", () =>
      Effect.gen(function* () {
        const store = yield* SandcastleStore
        const maker = yield* newMaker
        const idle = yield* sandcastle(maker, { status: Stale.make(used(noon)) })
        assert.isFalse(yield* store.replace(idle, new Sandcastle({ ...idle, status: stopped })))
        assertSame(yield* store.get(maker.organizationId, idle.id), Option.none())
        yield* kept(idle)
        const late = new Sandcastle({ ...idle, status: Running.make(used(at("2030-05-05T12:00:00.001Z"))) })
        assert.isTrue(yield* store.replace(idle, late))
        assert.isFalse(yield* store.replace(idle, new Sandcastle({ ...idle, status: stopped })))
        assertSame(yield* store.get(maker.organizationId, idle.id), Option.some(late))
        const elsewhere = new Sandcastle({ ...late, organizationId: (yield* newMaker).organizationId })
        assert.isFalse(yield* store.replace(elsewhere, new Sandcastle({ ...elsewhere, status: stopped })))
        const ended = new Sandcastle({ ...late, status: stopped })
        const won = yield* Effect.all(
          Array.from({ length: 8 }, () => store.replace(late, ended)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(won.filter((one) => one).length, 1)
        assertSame(yield* store.get(maker.organizationId, idle.id), Option.some(ended))
        assert.isTrue(yield* store.replace(ended, late))
      })
    )

    it.effect("tells the sweep which were not used since a moment, that moment included, and not stopped", () =>
      Effect.gen(function* () {
        const store = yield* SandcastleStore
        const maker = yield* newMaker
        const other = yield* newMaker
        const late = at("2030-05-05T12:00:00.001Z")
        const [idle, stale, unknown, busy, gone] = yield* Effect.all([
          sandcastle(maker, { status: Running.make(used(noon)) }),
          sandcastle(other, { status: Stale.make(used(noon)) }),
          sandcastle(maker, { status: Unknown.make(used(at("2030-05-05T11:00:00.000Z"))) }),
          sandcastle(maker, { status: Running.make(used(late)) }),
          sandcastle(maker, { status: stopped })
        ])
        yield* Effect.forEach([idle, stale, unknown, busy, gone], kept)
        const ours = new Set<string>(ids([idle, stale, unknown, busy, gone]))
        const found = ids(yield* store.idleSince(noon)).filter((id) => ours.has(id))
        assert.deepStrictEqual(found.toSorted(), ids([idle, stale, unknown]).toSorted())
      })
    )

    it.effect("tells what an organization runs, unused for longest first", () =>
      Effect.gen(function* () {
        const store = yield* SandcastleStore
        const maker = yield* newMaker
        const colleague = yield* Sample.principal(maker.organizationId)
        const [late, early, gone] = yield* Effect.all([
          sandcastle(maker, { status: Running.make(used(noon)) }),
          sandcastle(colleague, { status: Unknown.make(used(at("2030-05-05T11:00:00.000Z"))) }),
          sandcastle(maker, { status: stopped })
        ])
        const theirs = yield* sandcastle(yield* newMaker, { status: Running.make(used(noon)) })
        yield* Effect.forEach([late, early, gone, theirs], kept)
        assertSame(yield* store.running(maker.organizationId, 10), [early, late])
        assertSame(yield* store.running(maker.organizationId, 1), [early])
      })
    )

    it.effect("tells which of those that run serve a chat, however many run beside them", () =>
      Effect.gen(function* () {
        const store = yield* SandcastleStore
        const maker = yield* newMaker
        const colleague = yield* Sample.principal(maker.organizationId)
        const stranger = yield* newMaker
        const [chatId, otherId] = [yield* Sample.chatId, yield* Sample.chatId]
        // What says the chat's id elsewhere does not serve it.
        const endUser = yield* Sample.principal(maker.organizationId, {
          clientMetadata: { text: `{"chatId":"${chatId}"}`, attributes: { chatId } }
        })
        yield* Effect.forEach(Array.from({ length: 25 }), () =>
          Effect.flatMap(sandcastle(maker, { status: Running.make(used(at("2030-05-05T09:00:00.000Z"))) }), kept)
        )
        const [late, early, unknown, gone, other, theirs, named] = yield* Effect.all([
          sandcastle(maker, { chatId, status: Running.make(used(at("2030-05-05T13:00:00.000Z"))) }),
          sandcastle(colleague, { chatId, status: Stale.make(used(at("2030-05-05T11:00:00.000Z"))) }),
          sandcastle(endUser, { chatId, status: Unknown.make(used(noon)) }),
          sandcastle(maker, { chatId, status: stopped }),
          sandcastle(maker, { chatId: otherId }),
          sandcastle(stranger, { chatId }),
          sandcastle(endUser, { chatId: otherId })
        ])
        yield* Effect.forEach([late, early, unknown, gone, other, theirs, named], kept)
        assertSame(yield* store.ofChat(maker.organizationId, chatId), [early, unknown, late])
        assertSame(yield* store.ofChat(stranger.organizationId, chatId), [theirs])
        assertSame(yield* store.ofChat(maker.organizationId, yield* Sample.chatId), [])
      })
    )

    it.effect("tells which were left by a server that is not there any more", () =>
      Effect.gen(function* () {
        const store = yield* SandcastleStore
        const maker = yield* newMaker
        const other = yield* newMaker
        const [here, there] = [yield* serverId, yield* serverId]
        // Earlier than anything that another test of a shared adapter keeps is held until.
        const now = at("1980-01-01T00:00:00.000Z")
        const before = at("1979-12-31T23:59:59.999Z")
        const after = at("1980-01-01T00:00:00.001Z")
        const running = Running.make({ startedAt: before, lastUsedAt: before })
        const [mine, mineToo, theirs, unheld, gone] = yield* Effect.all([
          sandcastle(maker, { status: running, serverId: here }),
          sandcastle(other, { status: Unknown.make({ startedAt: before, lastUsedAt: now }), serverId: here }),
          sandcastle(maker, { status: running, serverId: there }),
          sandcastle(maker, { status: running }),
          sandcastle(maker, { status: stopped, serverId: here })
        ])
        const ours = new Set<string>(ids([mine, mineToo, theirs, unheld, gone]))
        const abandoned = Effect.map(store.abandoned(now, 100_000), (found) =>
          ids(found)
            .filter((id) => ours.has(id))
            .toSorted()
        )
        yield* Effect.forEach([mine, mineToo, theirs], (one) => store.save(one, after), { discard: true })
        yield* Effect.forEach([unheld, gone], kept)
        const isHeld = (one: Sandcastle) => store.isHeld(one.organizationId, one.id, now)
        assert.deepStrictEqual(yield* abandoned, ids([unheld]))
        assert.isTrue(yield* isHeld(mine))
        assert.isFalse(yield* store.isHeld(other.organizationId, mine.id, now))
        assert.isFalse(yield* isHeld(unheld))
        // What is kept of a sandcastle beside that leaves it as it is.
        yield* kept(new Sandcastle({ ...mine, status: Stale.make({ startedAt: before, lastUsedAt: before }) }))
        assert.isTrue(yield* isHeld(mine))
        // To that very moment, and no longer.
        yield* store.renew(here, now)
        assert.isFalse(yield* isHeld(mine))
        assert.deepStrictEqual(yield* abandoned, ids([mine, mineToo, unheld]).toSorted())
        yield* store.renew(here, after)
        yield* store.renew(there, before)
        assert.deepStrictEqual(yield* abandoned, ids([theirs, unheld]).toSorted())
        // Taken over: the server that had it before is not heard of any more.
        yield* store.save(new Sandcastle({ ...theirs, serverId: here }), after)
        yield* store.renew(there, before)
        assert.deepStrictEqual(yield* abandoned, ids([unheld]))
        yield* store.save(new Sandcastle({ ...unheld, status: stopped }))
        assert.deepStrictEqual(yield* abandoned, [])
      })
    )
  })
}
