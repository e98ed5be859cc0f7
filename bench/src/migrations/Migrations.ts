/**
 * Migrations of a database that is in use: how long those who read and write it wait at most.
 */
import type { Principal } from "@castellan/core/access/Principal"
import type { ChatId } from "@castellan/core/chat/Chat"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import type { Migration } from "@castellan/postgres/migration/Migration"
import { migrateTo } from "@castellan/postgres/migration/Migrator"
import { migrations as known } from "@castellan/postgres/migration/Migrations"
import * as PostgresChatStore from "@castellan/postgres/chat/PostgresChatStore"
import * as RunNotifications from "@castellan/postgres/run/RunNotifications"
import * as PgClient from "@effect/sql-pg/PgClient"
import { DateTime, Effect, Fiber, Layer, Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import type { Benchmark, Size } from "../Benchmark.ts"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import * as ManyRows from "../database/ManyRows.ts"
import * as PeerPool from "../database/PeerPool.ts"
import * as PostgresServer from "../database/PostgresServer.ts"
import { figure, count } from "../report/Figure.ts"
import * as Progress from "../report/Progress.ts"

interface Plan {
  readonly rows: number
  /** How long somebody reads in one transaction while a step is carried out, in milliseconds. */
  readonly report: number
}

const plans: { readonly [Key in Size]: Plan } = {
  full: { rows: 1_000_000, report: 4_000 },
  quick: { rows: 100_000, report: 2_000 },
  smoke: { rows: 500, report: 100 }
}

/** The step after which there are chats: those before it are of no interest to who reads them. */
const chatsStep = 4

const addColumn: Migration = {
  id: known.length + 1,
  name: "a column",
  statements: ["ALTER TABLE castellan.chats ADD COLUMN bench_note text NOT NULL DEFAULT ''"]
}

const addIndex: Migration = {
  id: known.length + 2,
  name: "an index",
  indexes: [{ name: "bench_chats_question", on: "ON castellan.chats (organization_id, searched_question, id)" }]
}

const addAnother: Migration = {
  id: known.length + 3,
  name: "another column",
  statements: ["ALTER TABLE castellan.chats ADD COLUMN bench_more text NOT NULL DEFAULT ''"]
}

/** The longest that somebody waited, in milliseconds, and how often they asked. */
interface Waits {
  longest: number
  asked: number
}

/** Asks again and again, and keeps the longest wait, until it is interrupted. */
const asking = <R>(waits: Waits, ask: Effect.Effect<unknown, unknown, R>): Effect.Effect<never, never, R> =>
  Effect.forever(
    Effect.gen(function* () {
      const started = performance.now()
      yield* Effect.orDie(ask)
      waits.longest = Math.max(waits.longest, performance.now() - started)
      waits.asked += 1
      yield* Effect.sleep("1 millis")
    })
  )

interface Outcome {
  readonly what: string
  /** In seconds. */
  readonly took: number
  readonly lists: Waits
  readonly reads: Waits
  readonly writes: Waits
}

const failed = (error: unknown): BenchmarkFailure =>
  new BenchmarkFailure({ message: error instanceof Error ? error.message : String(error) })

const longest = ({ longest: most }: Waits): string => figure(most)

/** The benchmark. */
export const migrations: Benchmark = {
  name: "migrations",
  title: "Migrations of a database in use",
  about:
    "A database with a million chats is migrated while others go on: two read pages of the list, two read a chat by its id, two write a chat, each asking again as soon as it was answered. First every step since there are chats, then a column and an index, and a column while somebody has read chats for seconds in one transaction. By hand: the same column and index by `ALTER TABLE` and `CREATE INDEX`. What counts is the longest that anybody waited.",
  run: Effect.fnUntraced(function* ({ size }) {
    const { report, rows } = plans[size]
    const server = yield* PostgresServer.start({ durable: true })
    yield* server.create("castellan")
    const migrated = (steps: ReadonlyArray<Migration>) =>
      server
        .asOwner("castellan", migrateTo(steps))
        .pipe(Effect.provideService(References.MinimumLogLevel, "Warn"), Effect.asVoid)
    yield* migrated(known.slice(0, chatsStep))
    const me = yield* ManyRows.reader
    yield* Progress.say(`  ${count(rows)} chats`)
    const chatId = yield* server.asOwner(
      "castellan",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* ManyRows.chats(me, rows)
        const found = yield* sql<{ readonly id: ChatId }>`SELECT id FROM castellan.chats LIMIT 1`
        yield* sql.unsafe("VACUUM ANALYZE")
        const [first] = found
        return first === undefined ? yield* Effect.die(new Error("there is no chat")) : first.id
      })
    )
    const pool = yield* PeerPool.open(server.ownerUrl("castellan"), 3)
    // The list's own store; not every table of this version is there at first, and none of the others is read.
    const store = PostgresChatStore.layer.pipe(
      Layer.provide(RunNotifications.layerInProcess),
      Layer.provideMerge(PgClient.layer({ url: Redacted.make(server.ownerUrl("castellan")), maxConnections: 8 }))
    )

    const observed = (what: string, work: Effect.Effect<void, BenchmarkFailure>) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const lists: Waits = { longest: 0, asked: 0 }
        const reads: Waits = { longest: 0, asked: 0 }
        const writes: Waits = { longest: 0, asked: 0 }
        const list = readPage(me)
        const read = sql`SELECT document FROM castellan.chats
          WHERE organization_id = ${me.organizationId} AND id = ${chatId}`
        const write = sql`UPDATE castellan.chats SET searched_summary = 'how much?'
          WHERE organization_id = ${me.organizationId} AND id = ${chatId}`
        const all = yield* Effect.forkChild(
          Effect.all(
            [asking(lists, list), asking(reads, read), asking(writes, write)].flatMap((one) => [one, one]),
            { concurrency: "unbounded" }
          )
        )
        yield* Effect.sleep(size === "smoke" ? 50 : 1_000)
        const started = performance.now()
        yield* work
        const took = (performance.now() - started) / 1_000
        yield* Effect.sleep(size === "smoke" ? 50 : 500)
        yield* Fiber.interrupt(all)
        const outcome: Outcome = { what, took, lists, reads, writes }
        yield* Progress.say(
          `  ${what}: ${figure(took)} s, waits ${longest(lists)}, ${longest(reads)}, ${longest(writes)} ms`
        )
        if (lists.asked === 0 || reads.asked === 0 || writes.asked === 0) {
          return yield* new BenchmarkFailure({ message: `${what}: somebody was never answered` })
        }
        return outcome
      })

    const byHand = (text: string) => Effect.asVoid(Effect.tryPromise({ try: () => pool.query(text), catch: failed }))

    /** Somebody who reads chats in one transaction for a while. */
    const reporting = <A, E>(work: Effect.Effect<A, E>) =>
      Effect.gen(function* () {
        const client = yield* Effect.promise(() => pool.connect())
        yield* Effect.promise(() =>
          client.query("BEGIN; SELECT count(*) FROM castellan.chat_audiences, castellan.chats LIMIT 1")
        )
        const reporter = yield* Effect.forkChild(
          Effect.andThen(
            Effect.sleep(report),
            Effect.promise(() => client.query("COMMIT"))
          )
        )
        yield* work
        yield* Fiber.join(reporter)
        client.release()
      })

    return yield* Effect.gen(function* () {
      const all = [...known, addColumn, addIndex, addAnother]
      const outcomes = [
        yield* observed("nothing, for comparison", Effect.sleep(size === "smoke" ? 50 : 3_000)),
        yield* observed(
          `Castellan: steps ${chatsStep + 1} to ${known.length} of this version`,
          migrated(all.slice(0, known.length))
        ),
        yield* observed("Castellan: a column", migrated(all.slice(0, known.length + 1))),
        yield* observed(
          "by hand: a column",
          byHand("ALTER TABLE castellan.chats ADD COLUMN bench_hand text NOT NULL DEFAULT ''")
        ),
        yield* observed("Castellan: an index", migrated(all.slice(0, known.length + 2))),
        yield* observed(
          "by hand: an index",
          byHand("CREATE INDEX bench_hand ON castellan.chats (organization_id, searched_question, id)")
        ),
        yield* observed(
          "Castellan: a column, while somebody reads for seconds",
          reporting(migrated(all.slice(0, known.length + 3)))
        ),
        yield* observed(
          "by hand: a column, while somebody reads for seconds",
          reporting(byHand("ALTER TABLE castellan.chats ADD COLUMN bench_late text NOT NULL DEFAULT ''"))
        )
      ]
      const worst = Math.max(
        ...outcomes
          .filter(({ what }) => what.startsWith("Castellan"))
          .map(({ lists, reads }) => Math.max(lists.longest, reads.longest))
      )
      return {
        sections: [
          {
            caption: "The longest wait while a step is carried out",
            table: {
              columns: ["step", "s", "list, ms", "one chat, ms", "write, ms", "asked"],
              rows: outcomes.map(({ lists, reads, took, what, writes }) => [
                what,
                figure(took),
                longest(lists),
                longest(reads),
                longest(writes),
                count(lists.asked + reads.asked + writes.asked)
              ])
            }
          }
        ],
        goals: [
          {
            aim: "nobody who reads waits longer than a second",
            outcome: `${figure(worst)} ms`,
            met: worst <= 1_000
          }
        ],
        measured: `Once, on ${count(rows)} chats. Who asks, who migrates and PostgreSQL shared a core.`
      }
    }).pipe(Effect.provide(store), Effect.mapError(failed))
  })
}

/** A page of the chats' list. */
const readPage = (reader: Principal) =>
  Effect.gen(function* () {
    const store = yield* ChatStore
    const now = yield* DateTime.now
    return yield* store.list({
      reader,
      now,
      limit: 20,
      offset: 0,
      sortBy: "updated_at",
      sortDirection: "desc"
    })
  })
