/**
 * PostgreSQL is restarted under load: in order, without order, and by a crash. What was acknowledged is there, a request
 * with an idempotency key was done once, everybody else was told to try again, and both servers of the deployment go on
 * by themselves, the notifications between them too.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Fiber, Layer, References, Schedule } from "effect"
import * as Site from "../../../http/test/support/Site.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as OwnServer from "./OwnServer.ts"
import * as ServedSite from "./ServedSite.ts"

/** What writers have been told. */
interface Record {
  readonly acknowledged: Map<string, string>
  refused: number
  busy: number
  /** Requests that were carried out, and whose answer went with the server: told so, they are not sent again. */
  lost: number
  isOver: boolean
}

/** Waits for a condition, as long as every writer is at work. */
const awaiting =
  <A, E>(writers: ReadonlyArray<Fiber.Fiber<A, E>>) =>
  (what: string, condition: () => boolean) =>
    Effect.sync(condition).pipe(
      Effect.repeat({ until: (holds) => holds, schedule: Schedule.spaced("10 millis") }),
      Effect.raceFirst(Fiber.joinAll(writers)),
      Effect.timeoutOrElse({ duration: "60 seconds", orElse: () => Effect.die(new Error(`in vain: ${what}`)) })
    )

/** Makes playbooks one after the other, each with a key of its own, and each again until it is acknowledged. */
const writer = Effect.fnUntraced(function* (record: Record, name: string) {
  for (let number = 1; !record.isOver; number++) {
    const key = `${name}-${number}`
    const call = Site.call("/v2/playbooks", { method: "POST", headers: { "idempotency-key": key } })
    // A client that leaves does not know what became of its request.
    if (number % 3 === 0) yield* Effect.timeoutOption(call, 2 * number)
    for (;;) {
      const reply = yield* call
      if (reply.status === 201) {
        record.acknowledged.set(key, JSON.parse(reply.text).id)
        break
      }
      // Nothing but "try again": the storage is away, or the attempt before is not known to be over.
      assert.include([503, 409], reply.status, reply.text)
      assert.match(Site.envelopeOf(reply).code, /^(internal|conflict)$/)
      if (reply.status === 409 && reply.text.includes("was carried out, and its answer is lost")) {
        record.lost += 1
        break
      }
      assert.match(reply.headers["retry-after"] ?? "", /^[1-9][0-9]?$/, reply.text)
      if (reply.status === 503) record.refused += 1
      else record.busy += 1
      // A server that is away tells no client when it is back: it is asked again.
      yield* Effect.sleep(20)
    }
  }
})

/** The ids of all playbooks. */
const listed = Effect.gen(function* () {
  const ids: Array<string> = []
  for (let offset = 0; ; offset += 100) {
    const reply = yield* Site.call(`/v2/playbooks?limit=100&offset=${offset}`)
    assert.strictEqual(reply.status, 200, reply.text)
    const page: { readonly playbooks: ReadonlyArray<{ readonly id: string }> } = JSON.parse(reply.text)
    ids.push(...page.playbooks.map(({ id }) => id))
    if (page.playbooks.length < 100) return ids
  }
})

/** What is appended on one server is seen by a follower on the other, who is told of it. */
const told = Effect.fnUntraced(function* (first: Context.Context<Site.Site | Site.Parts>, second: typeof first) {
  const run = yield* Effect.provideContext(Site.stalledRun, first)
  const path = `/v2/chats/${run.chatId}/stream`
  const reading = yield* Effect.provideContext(Site.read(path, { key: Context.get(first, Site.Site).key }), second)
  yield* reading.until((text) => text.includes('"metadata"'))
  yield* Effect.provideContext(Site.tell(run, Site.text("told"), Site.done), first)
  yield* reading.until((text) => text.includes("told"))
}, Effect.scoped)

describe("a restart of PostgreSQL under load", () => {
  it.live(
    "loses nothing that was acknowledged, does nothing twice, and is over when it is over",
    () =>
      Effect.gen(function* () {
        const postgres = yield* OwnServer.make
        const url = TestDatabase.serviceUrl(postgres, yield* TestDatabase.database(postgres))
        const first = yield* Layer.build(ServedSite.layer({ url }, { idempotencyLease: Duration.seconds(2) }))
        const second = yield* Layer.build(ServedSite.layer({ url }, { idempotencyLease: Duration.seconds(2) }))
        const record: Record = { acknowledged: new Map(), refused: 0, busy: 0, lost: 0, isOver: false }
        const writers = yield* Effect.forEach([0, 1, 2, 3, 4, 5], (index) =>
          Effect.forkChild(Effect.provideContext(writer(record, `writer-${index}`), first))
        )
        const until = awaiting(writers)
        for (const signal of ["SIGINT", "SIGQUIT", "SIGKILL"] as const) {
          const before = record.acknowledged.size
          yield* until(`writes before ${signal}`, () => record.acknowledged.size >= before + 20)
          const refused = record.refused
          yield* postgres.end(signal)
          yield* until(`refusals after ${signal}`, () => record.refused >= refused + 6)
          const kept = record.acknowledged.size
          yield* postgres.start
          yield* until(`writes after ${signal}`, () => record.acknowledged.size > kept)
        }
        record.isOver = true
        yield* Fiber.joinAll(writers)
        const found = yield* Effect.provideContext(listed, first)
        assert.includeMembers(found, [...record.acknowledged.values()])
        assert.strictEqual(new Set(found).size, record.acknowledged.size + record.lost)
        assert.strictEqual(found.length, new Set(found).size)
        yield* told(first, second)
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None")),
    300_000
  )
})
