/**
 * Pages of long lists: what a page far into a list costs, beside the first one.
 */
import type { Principal } from "@castellan/core/access/Principal"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import type { Position } from "@castellan/core/page/Page"
import { ExecutionId } from "@castellan/core/sandcastle/Execution"
import { ExecutionStore } from "@castellan/core/sandcastle/ExecutionStore"
import type { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { DateTime, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { Benchmark, Goal, Section, Size } from "../Benchmark.ts"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import * as CastellanStores from "../database/CastellanStores.ts"
import * as ManyRows from "../database/ManyRows.ts"
import * as PeerPool from "../database/PeerPool.ts"
import * as PostgresServer from "../database/PostgresServer.ts"
import { alternate, type Measured, type Rounds, slicesOf } from "../measure/Slices.ts"
import { ratio } from "../measure/Statistics.ts"
import { count, figure } from "../report/Figure.ts"
import { comparison } from "../report/Comparison.ts"
import * as Progress from "../report/Progress.ts"

interface Plan {
  readonly rounds: Rounds
  readonly rows: number
  /** The page that is far into the list; the first one is 1. */
  readonly far: number
  /** How often a slice reads the same page. */
  readonly times: number
}

const plans: { readonly [Key in Size]: Plan } = {
  full: { rounds: { warming: 3, counted: 15 }, rows: 1_000_000, far: 10_000, times: 5 },
  quick: { rounds: { warming: 2, counted: 9 }, rows: 200_000, far: 2_000, times: 5 },
  smoke: { rounds: { warming: 0, counted: 2 }, rows: 500, far: 5, times: 1 }
}

/** Rows of a page. */
const limit = 50

/** The milliseconds that a page takes; each must be full. */
const page = <R>(
  name: string,
  times: number,
  read: Effect.Effect<number, never, R>
): Effect.Effect<number, BenchmarkFailure, R> =>
  Effect.gen(function* () {
    const started = performance.now()
    for (let time = 0; time < times; time += 1) {
      const rows = yield* read
      if (rows !== limit) return yield* new BenchmarkFailure({ message: `${name} is a page of ${rows} rows` })
    }
    return (performance.now() - started) / times
  })

const section = (caption: string, measured: ReadonlyArray<Measured<number>>, first: string): Section =>
  comparison({ caption, of: "page", unit: "ms", measured, to: first, divisor: "our first page" })

const tell = (milliseconds: number): string => `${figure(milliseconds)} ms`

/** The last execution of the page before. */
const positionAt = (sandcastleId: SandcastleId, rows: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const found = yield* sql<{ readonly at: Date; readonly id: string }>`
      SELECT created_at AS at, id FROM castellan.executions WHERE sandcastle_id = ${sandcastleId}
      ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ${rows - 1}`
    const last = Option.fromUndefinedOr(found[0])
    if (Option.isNone(last)) return yield* Effect.die(new Error("there are fewer executions"))
    return { at: DateTime.fromDateUnsafe(last.value.at), id: ExecutionId.make(last.value.id) }
  })

const castellan = "Castellan"
const byHand = "OFFSET by hand"

const readExecutions = (me: Principal, sandcastleId: SandcastleId, after: Position | undefined) =>
  ExecutionStore.use((store) =>
    Effect.map(
      store.list(me.organizationId, sandcastleId, { limit, ...(after === undefined ? {} : { after }) }),
      ({ items }) => items.length
    )
  )

const readChats = (reader: Principal, offset: number) =>
  Effect.gen(function* () {
    const store = yield* ChatStore
    const query = { reader, now: yield* DateTime.now, limit, offset } as const
    return (yield* store.list({ ...query, sortBy: "updated_at", sortDirection: "desc" })).chats.length
  })

/** The benchmark. */
export const pages: Benchmark = {
  name: "pages",
  title: "Pages of long lists",
  about:
    "The stores' lists on PostgreSQL 18 over a million rows of one organization, row-level security and decoding included: the first page of 50 and one far into the list, one at a time over warm connections. Executions are paged by a cursor, as the contract has it. Chats are paged by an offset, counted, and shown to whom they concern: nine of ten are on this reader's list, in two audiences. By hand: the same rows by `OFFSET` over `pg` with the indexes that are there, for chats with `count(*)`; as the superuser, nothing decoded.",
  run: Effect.fnUntraced(function* ({ size }) {
    const { far, rounds, rows, times } = plans[size]
    const server = yield* PostgresServer.start({ durable: false })
    yield* server.create("castellan")
    const urls = { service: server.serviceUrl("castellan"), owner: server.ownerUrl("castellan") }
    const me = yield* ManyRows.reader
    const pool = yield* PeerPool.open(urls.owner, 2)
    const byOffset = (text: string, values: ReadonlyArray<unknown>) =>
      Effect.map(
        Effect.promise(() => pool.query({ text, values: [...values] })),
        (found) => found.rows.length
      )

    return yield* Effect.gen(function* () {
      yield* Progress.say(`  ${count(rows)} chats and ${count(rows)} executions`)
      const { chatList, position, sandcastleId } = yield* server.asOwner(
        "castellan",
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* ManyRows.chats(me, rows)
          const made = yield* ManyRows.executions(me, rows)
          yield* sql.unsafe("VACUUM ANALYZE")
          const audiences = yield* sql<{ readonly id: string }>`
            SELECT audience_id AS id FROM castellan.chats GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 2`
          return {
            sandcastleId: made,
            position: yield* positionAt(made, (far - 1) * limit),
            chatList: audiences.map(({ id }) => id)
          }
        })
      )

      const executionsPage = (name: string, after: Position | undefined) => ({
        name,
        slice: page(name, times, readExecutions(me, sandcastleId, after)),
        tell
      })
      const executionsByHand = `${byHand}, page ${count(far)}`
      yield* Progress.say("  executions")
      const firstOf = (what: string) => `${what}, page 1`
      const farOf = (what: string) => `${what}, page ${count(far)}`
      const ofExecutions = yield* alternate(
        [
          executionsPage(firstOf(castellan), undefined),
          executionsPage(farOf(castellan), position),
          {
            name: executionsByHand,
            slice: page(
              executionsByHand,
              1,
              byOffset(
                `SELECT document FROM castellan.executions WHERE organization_id = $1 AND sandcastle_id = $2
                 ORDER BY created_at DESC, id DESC LIMIT ${limit} OFFSET $3`,
                [me.organizationId, sandcastleId, (far - 1) * limit]
              )
            ),
            tell
          }
        ],
        rounds
      )

      const total = Math.floor(rows / 20) * 18
      const last = Math.floor(total / limit)
      const chatsPage = (name: string, number: number) => ({
        name,
        slice: page(name, times, readChats(me, (number - 1) * limit)),
        tell
      })
      const lastOf = `${castellan}, page ${count(last)}, the last`
      yield* Progress.say("  chats")
      const ofChats = yield* alternate(
        [
          chatsPage(firstOf(castellan), 1),
          chatsPage(farOf(castellan), far),
          chatsPage(lastOf, last),
          {
            name: farOf(byHand),
            slice: page(
              farOf(byHand),
              1,
              Effect.flatMap(
                byOffset(
                  `SELECT count(*) FROM castellan.chats WHERE organization_id = $1 AND audience_id = ANY($2::uuid[])`,
                  [me.organizationId, chatList]
                ),
                () =>
                  byOffset(
                    `SELECT document FROM castellan.chats WHERE organization_id = $1 AND audience_id = ANY($2::uuid[])
                     ORDER BY updated_at DESC, id DESC LIMIT ${limit} OFFSET $3`,
                    [me.organizationId, chatList, (far - 1) * limit]
                  )
              )
            ),
            tell
          }
        ],
        rounds
      )

      const goal = (what: string, measured: ReadonlyArray<Measured<number>>): Goal => {
        const outcome = ratio(slicesOf(measured, farOf(castellan)), slicesOf(measured, firstOf(castellan))).median
        return {
          aim: `${what}: page ${count(far)} in at most 1.5 times the time of the first`,
          outcome: outcome.toFixed(2),
          met: outcome <= 1.5
        }
      }
      return {
        sections: [
          section(`${count(rows)} executions of one sandcastle, by cursor`, ofExecutions, firstOf(castellan)),
          section(`${count(total)} of ${count(rows)} chats, newest first, by offset`, ofChats, firstOf(castellan))
        ],
        goals: [goal("executions", ofExecutions), goal("chats", ofChats)],
        measured: `Pages of ${limit}; ${rounds.counted} rounds of ${times} each, by hand of one. Every page was full.`
      }
    }).pipe(Effect.provide(CastellanStores.layer(urls)))
  })
}
