import { StorageUnavailable } from "@castellan/core/error/StorageUnavailable"
import * as Stores from "@castellan/core/memory/Stores"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { create, idOf, isReplay, newKey, playbooks } from "../support/Keyed.ts"
import * as Site from "../support/Site.ts"

/** Which stores are away; and whether what follows the run log is cut off. */
const outage: { of: (store: string) => boolean; cutsStreams: boolean } = { of: () => false, cutsStreams: false }

const during = (of: (store: string) => boolean) => {
  const before = outage.of
  return <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        outage.of = of
      }),
      () => effect,
      () =>
        Effect.sync(() => {
          outage.of = before
        })
    )
}

const gone = Effect.die(new StorageUnavailable({ cause: new Error("connection refused at 10.0.0.5") }))

/** A store that dies of every call while it is away. */
const failing = <Store extends object>(key: string, store: Store): Store =>
  new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== "function") return member
      return (...given: ReadonlyArray<unknown>) => {
        const answer: unknown = Reflect.apply(member, target, given)
        if (Effect.isEffect(answer)) return Effect.suspend(() => (outage.of(key) ? gone : answer))
        if (!Stream.isStream(answer)) return answer
        return Stream.mapEffect(answer, (entry) => (outage.cutsStreams ? gone : Effect.succeed(entry)))
      }
    }
  })

/** Every store, each of which can go away. */
const stores: Layer.Layer<Stores.Stores> = Layer.effectContext(
  Effect.map(Layer.build(Stores.layerMemory), (context) =>
    Context.makeUnsafe<Stores.Stores>(
      new Map(
        [...context.mapUnsafe].map(([key, store]) => [key, typeof store === "object" ? failing(key, store) : store])
      )
    )
  )
)

const unavailable = (reply: Site.Reply) => {
  assert.strictEqual(reply.status, 503, reply.text.slice(0, 300))
  assert.deepStrictEqual(Site.envelopeOf(reply), {
    code: "internal",
    message: "the service's storage is unavailable, try again"
  })
  assert.match(reply.headers["retry-after"] ?? "", /^[1-9]$/)
  assert.match(reply.headers["x-request-id"] ?? "", /./)
  assert.notInclude(reply.text, "10.0.0.5")
}

layer(Site.layer({ deployment: { stores } }), { timeout: "180 seconds" })("a storage that is away", (it) => {
  it.effect("is 503, whatever is asked, and the server is well as soon as it is back", () =>
    Effect.gen(function* () {
      const before = yield* playbooks
      for (const [path, call] of [
        ["/v2/chats", {}],
        ["/v2/playbooks", { method: "POST" }],
        ["/v2/playbooks", { method: "POST", headers: { "idempotency-key": newKey() } }],
        [
          "/v2/chats/stream",
          { method: "POST", body: '{"question":"a"}', headers: { "content-type": "application/json" } }
        ]
      ] as const) {
        unavailable(yield* during(() => true)(Site.call(path, call)))
      }
      assert.strictEqual(yield* playbooks, before)
      assert.strictEqual((yield* Site.call("/v2/chats")).status, 200)
      assert.strictEqual((yield* Site.call("/openapi.json", { key: "" })).status, 200)
    })
  )

  for (const store of ["RateLimitStore", "IdempotencyStore", "Transaction", "PlaybookStore"]) {
    it.effect(`leaves a keyed request open where it is the ${store} that is away`, () =>
      Effect.gen(function* () {
        const key = newKey()
        const before = yield* playbooks
        // Past the tokens that a server holds for the next requests.
        yield* TestClock.adjust("600 millis")
        unavailable(yield* during((name) => name.endsWith(`/${store}`))(create(key)))
        const made = yield* create(key)
        assert.deepStrictEqual([made.status, isReplay(made)], [201, false], made.text)
        const again = yield* create(key)
        assert.deepStrictEqual([isReplay(again), idOf(again)], [true, idOf(made)])
        assert.strictEqual(yield* playbooks, before + 1)
      })
    )
  }

  it.effect("is told in the terms of Connect to who speaks it", () =>
    Effect.gen(function* () {
      const reply = yield* during(() => true)(
        Site.post("/v1/agents/webhook/trigger", "{}", { headers: { "connect-protocol-version": "1" } })
      )
      assert.deepStrictEqual([reply.status, JSON.parse(reply.text).code], [503, "unavailable"])
      assert.match(reply.headers["retry-after"] ?? "", /^[1-9]$/)
    })
  )

  it.effect("ends streams without an end of the run, so that clients resume", () =>
    Effect.gen(function* () {
      const run = yield* Site.stalledRun
      const path = `/v2/chats/${run.chatId}/stream`
      const reading = yield* Site.read(path)
      yield* reading.until((text) => text.includes('"metadata"'))
      outage.cutsStreams = true
      yield* Site.tell(run, Site.text("lost"))
      const { complete, text } = yield* reading.end
      outage.cutsStreams = false
      assert.isTrue(complete)
      assert.notInclude(text, '"done"')
      assert.notInclude(text, "lost")
      const last = Site.framesOf(text).at(-1)?.id ?? ""
      yield* Site.tell(run, Site.text("found"), Site.done)
      const resumed = yield* Site.call(path, { headers: { "last-event-id": last } })
      const frames = Site.framesOf(resumed.text)
      assert.deepStrictEqual(
        frames.map(({ data }) => data["text"] ?? data.type),
        ["lost", "found", "done"]
      )
      assert.strictEqual(frames[0]?.id, String(Number(last) + 1))
    }).pipe(Effect.scoped)
  )
})
