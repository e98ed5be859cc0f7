/**
 * The disk under the write-ahead log of a real PostgreSQL is full. PostgreSQL then ends all that it does without order,
 * recovers, and does so again, until not even its recovery has room and it stays down. Meanwhile everybody is told to try
 * again; and once there is room and PostgreSQL is started, the service goes on by itself, with everything that it had
 * acknowledged, and with nothing done twice.
 */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, References, Schedule } from "effect"
import { randomBytes } from "node:crypto"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Site from "../../../http/test/support/Site.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as OwnServer from "./OwnServer.ts"
import * as ServedSite from "./ServedSite.ts"
import * as SmallDisk from "./SmallDisk.ts"

const obstacle = SmallDisk.obstacle()
const name = "tells everybody to try again, and goes on with all that was acknowledged once there is room"
if (obstacle !== undefined) process.stderr.write(`SKIPPED: a log that is full: no disk can be mounted: ${obstacle}\n`)

/** Long, and not to be compressed: it fills the log. */
const longPrompt = (): string => randomBytes(36_000).toString("base64")

/** What has been asked for, by the key that it was asked for under. */
interface Playbooks {
  readonly acknowledged: Map<string, string>
  readonly refused: Set<string>
  /** Those that were made, and whose answer went with the server: told so, they are not asked for again. */
  readonly lost: Set<string>
}

/** Nothing but "try again", without a word of why. */
const isRefusal = (reply: Site.Reply): void => {
  assert.strictEqual(reply.status, 503, reply.text)
  assert.strictEqual(Site.envelopeOf(reply).code, "internal")
  assert.match(reply.headers["retry-after"] ?? "", /^[1-9][0-9]?$/)
  assert.notMatch(reply.text, /space|pg_wal|recover/)
}

/** Makes a playbook under a key, if the server does. */
const make = Effect.fnUntraced(function* ({ acknowledged, refused }: Playbooks, key: string) {
  const reply = yield* Site.post("/v2/playbooks", {}, { headers: { "idempotency-key": key } })
  if (reply.status !== 201) {
    refused.add(key)
    return isRefusal(reply)
  }
  const { id }: { readonly id: string } = JSON.parse(reply.text)
  acknowledged.set(key, id)
  const patched = yield* Site.post(`/v2/playbooks/${id}`, { prompt: longPrompt() }, { method: "PATCH" })
  if (patched.status !== 200) isRefusal(patched)
})

/** Asks once more for what was refused, until it is told what became of it. */
const ask = Effect.fnUntraced(function* ({ acknowledged, lost, refused }: Playbooks, key: string) {
  const reply = yield* Site.post("/v2/playbooks", {}, { headers: { "idempotency-key": key } })
  if (reply.status === 503) isRefusal(reply)
  else if (reply.status === 409) {
    // The attempt before ended with the server that it was under way on; nobody knows until its lease has.
    if (!reply.text.includes("was carried out, and its answer is lost")) return false
    lost.add(key)
  } else {
    assert.strictEqual(reply.status, 201, reply.text)
    const { id }: { readonly id: string } = JSON.parse(reply.text)
    acknowledged.set(key, id)
  }
  return reply.status !== 503 && refused.delete(key)
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

describe("a disk under the write-ahead log that is full", () => {
  it.live.skipIf(obstacle !== undefined)(
    obstacle === undefined ? name : `${name} (no disk can be mounted here: ${obstacle})`,
    () =>
      Effect.gen(function* () {
        const disk = yield* SmallDisk.make(128)
        const postgres = yield* OwnServer.make
        const database = yield* TestDatabase.database(postgres)
        const log = join(disk.folder, "log")
        mkdirSync(log, { mode: 0o700 })
        yield* postgres.keepLogIn(log)
        const site = yield* Layer.build(
          ServedSite.layer(
            { url: TestDatabase.serviceUrl(postgres, database) },
            { idempotencyLease: Duration.seconds(2) }
          )
        )
        yield* Effect.gen(function* () {
          const playbooks: Playbooks = { acknowledged: new Map(), refused: new Set(), lost: new Set() }
          let number = 0
          for (let round = 0; round < 3; round++) {
            yield* disk.fill
            const before = playbooks.acknowledged.size
            while (yield* postgres.isRunning) yield* make(playbooks, `key-${number++}`)
            assert.isAbove(playbooks.acknowledged.size, before, "there was some room left")
            for (let time = 0; time < 5; time++) {
              yield* make(playbooks, `key-${number++}`)
              isRefusal(yield* Site.call("/v2/playbooks"))
            }
            yield* disk.relieve
            yield* postgres.start
            for (const key of playbooks.refused) {
              // A lease that has not ended has no event for a client.
              yield* Effect.repeat(ask(playbooks, key), {
                until: (isTold) => isTold,
                schedule: Schedule.spaced("50 millis")
              })
            }
            const found = yield* listed
            assert.includeMembers(found, [...playbooks.acknowledged.values()])
            assert.strictEqual(new Set(found).size, playbooks.acknowledged.size + playbooks.lost.size)
            assert.strictEqual(found.length, number, "nothing twice")
          }
        }).pipe(Effect.provideContext(site))
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None")),
    180_000
  )
})
