/**
 * The run log's write path: how many events a second are on the disk when many runs speak at once.
 */
import { RunId } from "@castellan/core/run/Run"
import { RunEvent } from "@castellan/core/run/RunEvent"
import { RunLog } from "@castellan/core/run/RunLog"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { Benchmark, Size } from "../Benchmark.ts"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import * as CastellanStores from "../database/CastellanStores.ts"
import * as PeerPool from "../database/PeerPool.ts"
import * as PostgresServer from "../database/PostgresServer.ts"
import { alternate, type Rounds, slicesOf } from "../measure/Slices.ts"
import { quantile, ratio, summarize } from "../measure/Statistics.ts"
import { count, figure, iqr, range, ratioWithRange } from "../report/Figure.ts"

interface Plan {
  readonly rounds: Rounds
  readonly runs: number
  /** Appends of each run in a slice. */
  readonly appends: number
}

const plans: { readonly [Key in Size]: Plan } = {
  full: { rounds: { warming: 2, counted: 15 }, runs: 50, appends: 40 },
  quick: { rounds: { warming: 1, counted: 5 }, runs: 50, appends: 10 },
  smoke: { rounds: { warming: 0, counted: 2 }, runs: 4, appends: 3 }
}

/** Events that a batch has. */
const batch = 20

interface Slice {
  readonly perSecond: number
  /** From an append to its being kept, in milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Microseconds of this process, and of PostgreSQL where the system tells. */
  readonly cpuPerEvent: number
  readonly databasePerEvent: number | undefined
}

/** One append of a run: events `from` on, so many of them. */
type Append = (run: number, from: number, size: number) => Effect.Effect<void>

const slice = (
  server: PostgresServer.PostgresServer,
  { appends, runs }: Plan,
  size: number,
  start: Effect.Effect<Append>,
  kept: Effect.Effect<number>
): Effect.Effect<Slice, BenchmarkFailure> =>
  Effect.gen(function* () {
    const append = yield* start
    const times: Array<number> = []
    const cpuBefore = process.cpuUsage()
    const databaseBefore = yield* server.cpuMicros
    const started = performance.now()
    yield* Effect.forEach(
      Array.from({ length: runs }, (_, run) => run),
      Effect.fnUntraced(function* (run) {
        for (let index = 0; index < appends; index += 1) {
          const asked = performance.now()
          yield* append(run, index * size, size)
          times.push(performance.now() - asked)
        }
      }),
      { concurrency: "unbounded", discard: true }
    )
    const milliseconds = performance.now() - started
    const { system, user } = process.cpuUsage(cpuBefore)
    const databaseAfter = yield* server.cpuMicros
    const events = runs * appends * size
    const found = yield* kept
    if (found !== events) return yield* new BenchmarkFailure({ message: `${found} events of ${events} were kept` })
    const sorted = Float64Array.from(times).toSorted()
    return {
      perSecond: (events * 1_000) / milliseconds,
      p50: quantile(sorted, 0.5),
      p99: quantile(sorted, 0.99),
      cpuPerEvent: (system + user) / events,
      databasePerEvent:
        databaseBefore === undefined || databaseAfter === undefined
          ? undefined
          : (databaseAfter - databaseBefore) / events
    }
  })

const text = "about thirty characters of text"
const ours = "Castellan, an event each"
const peer = "pg, an INSERT each"

/** The benchmark. */
export const runLogWrites: Benchmark = {
  name: "run-log",
  title: "Events appended to run logs",
  about:
    "50 runs speak at once, each appending its next event as soon as the last one is kept: committed, on the disk (`fsync` on), and numbered without a gap by PostgreSQL 18, followers notified. Beside it `pg` by hand, a pool of 10: an `INSERT` for each event, with numbers that each run counts by itself and nobody notified; and both once more with 20 events at a time.",
  run: Effect.fnUntraced(function* ({ size }) {
    const plan = plans[size]
    const server = yield* PostgresServer.start({ durable: true })
    yield* server.create("castellan")
    yield* server.create("peer")
    const urls = { service: server.serviceUrl("castellan"), owner: server.ownerUrl("castellan") }
    const pool = yield* PeerPool.open(server.ownerUrl("peer"), 10)
    yield* Effect.promise(() =>
      pool.query(`CREATE TABLE run_events (run_id uuid NOT NULL, sequence integer NOT NULL, event json NOT NULL,
        PRIMARY KEY (run_id, sequence))`)
    )

    return yield* Effect.gen(function* () {
      const log = yield* RunLog
      const organizationId = yield* Effect.provide(Sample.organizationId, layerCrypto)
      let runs: ReadonlyArray<{ readonly id: RunId; readonly organizationId: typeof organizationId }> = []
      const event = RunEvent.cases.Text.make({ text })
      const startOurs = Effect.gen(function* () {
        const ids = yield* Effect.provide(
          Effect.forEach(Array.from({ length: plan.runs }), () => Uuid.next),
          layerCrypto
        )
        runs = ids.map((id) => ({ id: RunId.make(id), organizationId }))
        const append: Append = (run, _from, many) => {
          const one = runs[run]
          return one === undefined
            ? Effect.void
            : log.append(
                one,
                Array.from({ length: many }, () => event)
              )
        }
        return append
      })
      const keptOurs = Effect.suspend(() =>
        Effect.map(
          Effect.forEach(runs, (run) => log.read(run, 0)),
          (logs) =>
            logs.reduce(
              (sum, entries) => sum + entries.filter(({ sequence }, index) => sequence === index + 1).length,
              0
            )
        )
      )

      let ids: ReadonlyArray<string> = []
      const json = JSON.stringify({ _tag: "Text", text })
      const startPeer = Effect.sync((): Append => {
        ids = Array.from({ length: plan.runs }, () => randomUUID())
        return (run, from, many) =>
          Effect.promise(() => {
            const values = Array.from({ length: many }, (_, index) => [ids[run], from + index + 1, json])
            const places = values.map((_, row) => `($${row * 3 + 1}, $${row * 3 + 2}, $${row * 3 + 3})`).join(", ")
            return pool.query({
              name: `append ${many}`,
              text: `INSERT INTO run_events (run_id, sequence, event) VALUES ${places}`,
              values: values.flat()
            })
          })
      })
      const keptPeer = Effect.suspend(() =>
        Effect.promise(async () => {
          const { rows } = await pool.query<{ readonly kept: number }>(
            "SELECT count(*)::int AS kept FROM run_events WHERE run_id = ANY($1::uuid[])",
            [ids]
          )
          return rows[0]?.kept ?? 0
        })
      )

      const tell = ({ p99, perSecond }: Slice) => `${count(perSecond)}/s, p99 ${figure(p99)} ms`
      const measured = yield* alternate(
        [
          { name: peer, slice: slice(server, plan, 1, startPeer, keptPeer), tell },
          { name: ours, slice: slice(server, plan, 1, startOurs, keptOurs), tell },
          { name: `pg, an INSERT of ${batch}`, slice: slice(server, plan, batch, startPeer, keptPeer), tell },
          { name: `Castellan, ${batch} events`, slice: slice(server, plan, batch, startOurs, keptOurs), tell }
        ],
        plan.rounds
      )
      return {
        sections: [
          {
            caption: "Events a second, all of them on the disk",
            table: {
              columns: [
                "appending",
                "events/s",
                "min–max",
                "IQR",
                "p50 ms",
                "p99 ms",
                "CPU µs/event",
                "of PostgreSQL",
                `events/s ÷ ${peer}`
              ],
              rows: measured.map(({ name, slices }) => {
                const perSecond = summarize(slices.map((one) => one.perSecond))
                const median = (pick: (one: Slice) => number) => figure(summarize(slices.map(pick)).median)
                const ofDatabase = slices.flatMap((one) => one.databasePerEvent ?? [])
                return [
                  name,
                  count(perSecond.median),
                  range(perSecond),
                  iqr(perSecond),
                  median((one) => one.p50),
                  median((one) => one.p99),
                  median((one) => one.cpuPerEvent),
                  ofDatabase.length === 0 ? "unknown" : figure(summarize(ofDatabase).median),
                  name === peer
                    ? "1"
                    : ratioWithRange(
                        ratio(
                          slices.map((one) => one.perSecond),
                          slicesOf(measured, peer).map((one) => one.perSecond)
                        )
                      )
                ]
              })
            }
          }
        ],
        goals: [],
        measured: `${plan.rounds.counted} slices of ${count(plan.runs * plan.appends)} appends each. Every event was there afterwards, and ours in its place. The service and PostgreSQL shared a core.`
      }
    }).pipe(Effect.provide(CastellanStores.layer(urls)))
  })
}
