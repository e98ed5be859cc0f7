/**
 * An authenticated read of one row, on a real PostgreSQL: what a request costs when nothing of it is cached.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { isDeepStrictEqual } from "node:util"
import type { Benchmark, Goal, Size } from "../Benchmark.ts"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import * as PostgresServer from "../database/PostgresServer.ts"
import * as KeepAlive from "../load/KeepAlive.ts"
import { request, sockets } from "../load/Sockets.ts"
import * as Curve from "../measure/Curve.ts"
import { alternate, type Rounds, slicesOf } from "../measure/Slices.ts"
import { quantile, ratio, summarize } from "../measure/Statistics.ts"
import { count, figure, iqr, range, ratioWithRange } from "../report/Figure.ts"
import * as Progress from "../report/Progress.ts"
import type { Table } from "../report/Table.ts"
import * as ServerProcess from "../server/ServerProcess.ts"
import { bearersCommand, idsCommand, pathOf, roleOf, withId, type WireRole } from "./Payload.ts"

/** What one slice of one server came to. */
interface Slice {
  readonly responses: number
  readonly perSecond: number
  /** In milliseconds. */
  readonly median: number
  readonly p99: number
  /** Microseconds of the server's processor time. */
  readonly cpuPerRequest: number
  /** Microseconds of PostgreSQL's; absent where the system does not tell. */
  readonly databasePerRequest: number | undefined
}

interface Plan {
  readonly rounds: Rounds
  /** How many ask at once: each of these is measured in each round. */
  readonly crowds: ReadonlyArray<number>
  readonly milliseconds: number
  /** Requests that each server has answered before: enough for its code to be compiled, however slow the machine is. */
  readonly warmth: number
}

const plans: { readonly [Key in Size]: Plan } = {
  full: { rounds: { warming: 2, counted: 11 }, crowds: [15, 25, 50, 75, 100], milliseconds: 1_000, warmth: 100_000 },
  quick: { rounds: { warming: 1, counted: 5 }, crowds: [50, 100], milliseconds: 500, warmth: 3_000 },
  smoke: { rounds: { warming: 0, counted: 2 }, crowds: [2, 4], milliseconds: 20, warmth: 0 }
}

const peer = "Fastify with pg"
const ours = "Castellan"

/** A server, and what it is asked. */
interface Reading {
  readonly server: ServerProcess.ServerProcess
  readonly ids: ReadonlyArray<string>
  /** What a connection asks next: every connection has a key of its own, and reads one role after the other. */
  readonly next: (connection: number) => KeepAlive.Question
}

const reading = Effect.fnUntraced(function* (server: ServerProcess.ServerProcess) {
  const bearers = (yield* server.order(bearersCommand)).split("\n")
  const ids = (yield* server.order(idsCommand)).split("\n")
  /** The questions of each connection, made when they are asked first. */
  const questions = bearers.map((bearer) => ({ bearer, turn: 0, asked: new Map<number, KeepAlive.Question>() }))
  const next = (connection: number): KeepAlive.Question => {
    const one = questions[connection % questions.length]
    if (one === undefined) throw new Error("a server without keys")
    // Far from each other, so that no two connections ask for the same role at a time.
    const subject = (connection * Math.floor(ids.length / questions.length) + one.turn++) % ids.length
    const known = one.asked.get(subject)
    if (known !== undefined) return known
    const { bearer } = one
    const question = { subject, request: request({ method: "GET", path: pathOf(ids[subject] ?? ""), bearer }) }
    one.asked.set(subject, question)
    return question
  }
  return { server, ids, next } satisfies Reading
})

const drive = ({ next, server }: Reading, connections: number, milliseconds: number) =>
  Effect.scoped(
    Effect.flatMap(sockets(server.port, connections), (opened) => KeepAlive.drive(opened, next, milliseconds))
  )

/** Has a server answer so many requests, or a minute and a half long as many as it can. */
const warm = Effect.fnUntraced(function* (one: Reading, { crowds, warmth }: Plan) {
  const connections = Math.max(...crowds)
  let answered = 0
  for (let second = 0; second < 90 && answered < warmth; second += 1) {
    answered += (yield* drive(one, connections, 1_000)).responses
  }
  yield* Progress.say(`  ${one.server.name} has answered ${count(answered)} requests`)
})

const slice = (
  one: Reading,
  database: PostgresServer.PostgresServer,
  { milliseconds }: Plan,
  connections: number,
  expected: WireRole
): Effect.Effect<Slice, BenchmarkFailure> =>
  Effect.gen(function* () {
    // What it has been standing still for is over before anything counts.
    yield* drive(one, connections, milliseconds / 10)
    const [before, databaseBefore] = [yield* one.server.usage, yield* database.cpuMicros]
    const outcome = yield* drive(one, connections, milliseconds)
    const [after, databaseAfter] = [yield* one.server.usage, yield* database.cpuMicros]
    for (const [subject, body] of outcome.bodies.entries()) {
      if (body === undefined) continue
      const said: unknown = JSON.parse(body.toString("utf8"))
      if (!isDeepStrictEqual(said, withId(expected, one.ids[subject] ?? ""))) {
        return yield* new BenchmarkFailure({
          message: `${one.server.name} answers with something else: ${body.toString("utf8")}`
        })
      }
    }
    return {
      responses: outcome.responses,
      perSecond: (outcome.responses * 1_000) / outcome.milliseconds,
      median: quantile(outcome.latencies, 0.5),
      p99: quantile(outcome.latencies, 0.99),
      cpuPerRequest: (after.cpuMicros - before.cpuMicros) / outcome.responses,
      databasePerRequest:
        databaseBefore === undefined || databaseAfter === undefined
          ? undefined
          : (databaseAfter - databaseBefore) / outcome.responses
    }
  })

/** One server with so many connections, and what it came to. */
interface Level {
  readonly server: string
  readonly connections: number
  readonly slices: ReadonlyArray<Slice>
}

const median = ({ slices }: Level, pick: (one: Slice) => number): number => summarize(slices.map(pick)).median

const rate = (one: Slice): number => one.perSecond
const slowest = (one: Slice): number => one.p99

/** A level beside the peer's with as many connections. */
const overPeer = (levels: ReadonlyArray<Level>, level: Level, pick: (one: Slice) => number) => {
  const beside = levels.filter(({ connections, server }) => server === peer && connections === level.connections)
  return ratio(
    level.slices.map(pick),
    beside.flatMap(({ slices }) => slices.map(pick))
  )
}

const tableOf = (levels: ReadonlyArray<Level>): Table => ({
  columns: [
    "server",
    "connections",
    "requests/s",
    "min–max",
    "IQR",
    "p50 ms",
    "p99 ms",
    "CPU µs/request",
    "of PostgreSQL",
    `requests/s ÷ ${peer}`,
    `p99 ÷ ${peer}`,
    `CPU ÷ ${peer}`
  ],
  rows: levels.map((level) => {
    const perSecond = summarize(level.slices.map(rate))
    const over = (pick: (one: Slice) => number) =>
      level.server === peer ? "1" : ratioWithRange(overPeer(levels, level, pick))
    const ofDatabase = level.slices.flatMap((one) => one.databasePerRequest ?? [])
    return [
      level.server,
      count(level.connections),
      count(perSecond.median),
      range(perSecond),
      iqr(perSecond),
      figure(median(level, (one) => one.median)),
      figure(median(level, slowest)),
      figure(median(level, (one) => one.cpuPerRequest)),
      ofDatabase.length === 0 ? "unknown" : figure(summarize(ofDatabase).median),
      over(rate),
      over(slowest),
      over((one) => one.cpuPerRequest)
    ]
  })
})

/** What our server does at the p99 that the peer has with so many connections. */
interface Standing {
  readonly level: Level
  /** Milliseconds. */
  readonly p99: number
  /** Requests a second of the peer, and of ours, which is unknown where ours never was so quick. */
  readonly peers: number
  readonly ours: number | undefined
}

const standingsOf = (levels: ReadonlyArray<Level>): ReadonlyArray<Standing> => {
  const points = levels
    .filter(({ server }) => server === ours)
    .map((level) => ({ tail: median(level, slowest), rate: median(level, rate) }))
  return levels
    .filter(({ server }) => server === peer)
    .map((level) => {
      const p99 = median(level, slowest)
      return { level, p99, peers: median(level, rate), ours: Curve.rateAt(points, p99) }
    })
}

const times = ({ ours: rateOfOurs, peers }: Standing): string =>
  rateOfOurs === undefined ? "unknown" : (rateOfOurs / peers).toFixed(2)

const tableOfStandings = (standings: ReadonlyArray<Standing>): Table => ({
  columns: ["at equal p99", "p99 ms", "requests/s", `of ${peer}`, `÷ ${peer}`],
  rows: standings.map((standing) => [
    `${ours}, at the p99 of ${peer} with ${standing.level.connections} connections`,
    figure(standing.p99),
    standing.ours === undefined ? "unknown" : count(standing.ours),
    count(standing.peers),
    times(standing)
  ])
})

const goalsOf = (standings: ReadonlyArray<Standing>): ReadonlyArray<Goal> =>
  standings.map((standing) => ({
    aim: `at the p99 of ${peer} with ${standing.level.connections} connections (${figure(standing.p99)} ms) at least 1.3 times its requests a second`,
    outcome: standing.ours === undefined ? `${ours} was never as quick` : `${times(standing)} times`,
    met: standing.ours !== undefined && standing.ours / standing.peers >= 1.3
  }))

/** The benchmark. */
export const databaseRead: Benchmark = {
  name: "database-read",
  title: "An authenticated read of one row on PostgreSQL",
  about:
    "`GET /v2/roles/{id}` on PostgreSQL 18, nothing believed that is not asked for with each request: a bearer key among 10,101 is hashed (SHA-256), one statement is about key, owner, roles and permissions, and a second one brings the row by its index, which is answered as JSON. Each connection has a key of its own, and they read a thousand roles one after the other, no two of them the same at a time. Fastify does it with `pg` (a pool of 10, named statements, a response schema) and with checks by hand: not revoked, not expired, owner active, permission, organization. Castellan does it as the product does: the first statement brings the versions of what the key is worth, and a further one what has another version than what the server has read before; all pass row-level security, the key's last use is noted, the request is held to its organization's limits, and it is answered by the contract's schemas; the requests of one turn of the event loop share statements. Both run without V8's allocation-site pretenuring, as the standalone server does. The server has one core to itself; the load and PostgreSQL share the other.",
  run: Effect.fnUntraced(function* ({ cores, size }) {
    const plan = plans[size]
    const database = yield* PostgresServer.start({ durable: false })
    yield* database.create("castellan")
    yield* database.create("peer")
    const own = yield* Effect.flatMap(
      ServerProcess.start(ours, new URL("castellan.ts", import.meta.url), cores?.server, [
        database.serviceUrl("castellan"),
        database.ownerUrl("castellan")
      ]),
      reading
    )
    const { bodies } = yield* drive(own, 1, 1)
    const json = String(bodies[0])
    const other = yield* Effect.flatMap(
      ServerProcess.start(peer, new URL("fastify.ts", import.meta.url), cores?.server, [
        database.ownerUrl("peer"),
        json,
        own.ids.join("\n")
      ]),
      reading
    )
    for (const name of ["castellan", "peer"]) {
      yield* database.asOwner(
        name,
        SqlClient.SqlClient.use((sql) => sql.unsafe("VACUUM ANALYZE"))
      )
    }
    const expected = roleOf(json)
    for (const one of [other, own]) yield* warm(one, plan)
    for (const { server } of [other, own]) yield* server.run(false)
    const contestants = plan.crowds.flatMap((connections) => [other, own].map((one) => ({ one, connections })))
    const measured = yield* alternate(
      contestants.map(({ connections, one }) => ({
        name: `${one.server.name}, ${connections} connections`,
        slice: Effect.acquireUseRelease(
          one.server.run(true),
          () => slice(one, database, plan, connections, expected),
          () => one.server.run(false)
        ),
        tell: ({ cpuPerRequest, p99, perSecond }: Slice) =>
          `${count(perSecond)}/s, p99 ${figure(p99)} ms, ${figure(cpuPerRequest)} µs`
      })),
      plan.rounds
    )
    const levels = contestants.map(({ connections, one }): Level => {
      const server = one.server.name
      return { server, connections, slices: slicesOf(measured, `${server}, ${connections} connections`) }
    })
    const standings = standingsOf(levels)
    const responses = levels.flatMap(({ slices }) => slices).reduce((sum, one) => sum + one.responses, 0)
    return {
      sections: [
        {
          caption:
            "Medians of the slices; ratios, of as many connections each, are medians of the ratios within each round",
          table: tableOf(levels)
        },
        {
          caption: `The same medians at equal p99: ${ours} between the numbers of connections with which its p99 is just below and just above`,
          table: tableOfStandings(standings)
        }
      ],
      goals: goalsOf(standings),
      measured: `${plan.rounds.counted} slices of ${plan.milliseconds / 1_000} s for each server with each number of connections, one request at a time on each of them; the other server stands still meanwhile. All ${count(responses)} answers were 2xx and had the right content.`
    }
  })
}
