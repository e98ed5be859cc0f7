/**
 * The disk of a real PostgreSQL is full: what writes is told to try again, what reads is answered, nothing is half done,
 * and everything goes on as soon as there is room, without anything being started anew.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import { randomBytes } from "node:crypto"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Site from "../../../http/test/support/Site.ts"
import { asSuperuser, template } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as OwnServer from "./OwnServer.ts"
import * as ServedSite from "./ServedSite.ts"
import * as SmallDisk from "./SmallDisk.ts"

const obstacle = SmallDisk.obstacle()
const name = "refuses what writes, answers what reads, and goes on when there is room"
if (obstacle !== undefined) process.stderr.write(`SKIPPED: a disk that is full: no disk can be mounted: ${obstacle}\n`)

/** Long, and not to be compressed: it needs room of its own. */
const longQuestion = (): string => randomBytes(70_000).toString("base64")

const ask = Effect.suspend(() => Site.post("/v2/chats", { question: `How? ${longQuestion()}` }))

/** The chats that are listed. */
const listed = Effect.gen(function* () {
  const reply = yield* Site.call("/v2/chats?limit=100")
  assert.strictEqual(reply.status, 200, reply.text)
  const page: { readonly chats: ReadonlyArray<unknown>; readonly total_count: number } = JSON.parse(reply.text)
  assert.strictEqual(page.chats.length, page.total_count)
  return page.total_count
})

describe("a disk that is full", () => {
  it.live.skipIf(obstacle !== undefined)(
    obstacle === undefined ? name : `${name} (no disk can be mounted here: ${obstacle})`,
    () =>
      Effect.gen(function* () {
        const postgres = yield* OwnServer.make
        const disk = yield* SmallDisk.make(64)
        const place = join(disk.folder, "tables")
        mkdirSync(place)
        yield* postgres.give(place)
        yield* asSuperuser(
          postgres,
          "postgres",
          Effect.gen(function* () {
            const sql = yield* SqlClient
            yield* sql.unsafe(`CREATE TABLESPACE small LOCATION '${place}'`)
            yield* sql.unsafe(`CREATE DATABASE castellan_small TEMPLATE ${template} TABLESPACE small`)
          })
        )
        const site = yield* Layer.build(ServedSite.layer({ url: TestDatabase.serviceUrl(postgres, "castellan_small") }))
        yield* Effect.gen(function* () {
          for (let round = 0; round < 2; round++) {
            const made = yield* ask
            assert.strictEqual(made.status, 200, made.text)
            yield* disk.fill
            // Tables have some room of their own left.
            yield* Effect.repeat(ask, { until: ({ status }) => status !== 200 })
            const before = yield* listed
            for (let time = 0; time < 5; time++) {
              const reply = yield* ask
              assert.strictEqual(reply.status, 503, reply.text)
              assert.strictEqual(Site.envelopeOf(reply).code, "internal")
              assert.match(reply.headers["retry-after"] ?? "", /^[1-9][0-9]?$/)
              assert.notInclude(reply.text, "space")
            }
            assert.strictEqual(yield* listed, before, "nothing is half there")
            yield* disk.relieve
            const again = yield* ask
            assert.strictEqual(again.status, 200, again.text)
            assert.strictEqual(yield* listed, before + 1)
          }
        }).pipe(Effect.provideContext(site))
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None")),
    180_000
  )
})
