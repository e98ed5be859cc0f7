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
import { alternate, type Measured, type Rounds, slicesOf } from "../measure/Slices.ts"
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
  readonly connections: number
  readonly milliseconds: number
  /** Requests that each server has answered before: enough for its code to be compiled, however slow the machine is. */
  readonly warmth: number
}

const plans: { readonly [Key in Size]: Plan } = {
  full: { rounds: { warming: 2, counted: 21 }, connections: 50, milliseconds: 1_000, warmth: 30_000 },
  quick: { rounds: { warming: 3, counted: 7 }, connections: 50, milliseconds: 500, warmth: 3_000 },
  smoke: { rounds: { warming: 0, counted: 2 }, connections: 4, milliseconds: 20, warmth: 0 }
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
const warm = Effect.fnUntraced(function* (one: Reading, { connections, warmth }: Plan) {
  let answered = 0
  for (let second = 0; second < 90 && answered < warmth; second += 1) {
    answered += (yield* drive(one, connections, 1_000)).responses
  }
  yield* Progress.say(`  ${one.server.name} has answered ${count(answered)} requests`)
})

const slice = (
  one: Reading,
  database: PostgresServer.PostgresServer,
  plan: Plan,
  expected: WireRole
): Effect.Effect<Slice, BenchmarkFailure> =>
  Effect.gen(function* () {
    const [before, databaseBefore] = [yield* one.server.usage, yield* database.cpuMicros]
    const outcome = yield* drive(one, plan.connections, plan.milliseconds)
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

const overPeer = (measured: ReadonlyArray<Measured<Slice>>, name: string, pick: (one: Slice) => number) =>
  ratio(slicesOf(measured, name).map(pick), slicesOf(measured, peer).map(pick))

const tableOf = (measured: ReadonlyArray<Measured<Slice>>): Table => ({
  columns: [
    "server",
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
  rows: measured.map(({ name, slices }) => {
    const perSecond = summarize(slices.map((one) => one.perSecond))
    const over = (pick: (one: Slice) => number) =>
      name === peer ? "1" : ratioWithRange(overPeer(measured, name, pick))
    const median = (pick: (one: Slice) => number) => figure(summarize(slices.map(pick)).median)
    const ofDatabase = slices.flatMap((one) => one.databasePerRequest ?? [])
    return [
      name,
      count(perSecond.median),
      range(perSecond),
      iqr(perSecond),
      median((one) => one.median),
      median((one) => one.p99),
      median((one) => one.cpuPerRequest),
      ofDatabase.length === 0 ? "unknown" : figure(summarize(ofDatabase).median),
      over((one) => one.perSecond),
      over((one) => one.p99),
      over((one) => one.cpuPerRequest)
    ]
  })
})

const goalsOf = (measured: ReadonlyArray<Measured<Slice>>): ReadonlyArray<Goal> => {
  const rate = overPeer(measured, ours, (one) => one.perSecond).median
  const p99 = overPeer(measured, ours, (one) => one.p99).median
  return [
    {
      aim: `at least 1.3 times the requests a second of ${peer}, with a p99 no higher`,
      outcome: `${rate.toFixed(2)} times, with ${p99.toFixed(2)} times its p99`,
      met: rate >= 1.3 && p99 <= 1
    }
  ]
}

/** The benchmark. */
export const databaseRead: Benchmark = {
  name: "database-read",
  title: "An authenticated read of one row on PostgreSQL",
  about:
    "`GET /v2/roles/{id}` on PostgreSQL 18, nothing cached but what a text was decoded to: a bearer key among 10,051 is hashed (SHA-256), one statement brings key, owner, roles and permissions, and a second one the row by its index, which is answered as JSON. Each of the 50 connections has a key of its own, and they read a thousand roles one after the other, no two of them the same at a time. Fastify does it with `pg` (a pool of 10, named statements, a response schema) and with checks by hand: not revoked, not expired, owner active, permission, organization. Castellan does it as the product does: both statements pass row-level security, the key's last use is noted, the request is held to its organization's limits, and it is answered by the contract's schemas; what the requests of one turn of the event loop ask is asked in one statement. The server has one core to itself; the load and PostgreSQL share the other.",
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
    const measured = yield* alternate(
      [other, own].map((one) => ({
        name: one.server.name,
        slice: slice(one, database, plan, expected),
        tell: ({ cpuPerRequest, p99, perSecond }: Slice) =>
          `${count(perSecond)}/s, p99 ${figure(p99)} ms, ${figure(cpuPerRequest)} µs`
      })),
      plan.rounds
    )
    const responses = measured.flatMap(({ slices }) => slices).reduce((sum, one) => sum + one.responses, 0)
    return {
      sections: [
        {
          caption: "Medians of the slices; ratios are medians of the ratios within each round",
          table: tableOf(measured)
        }
      ],
      goals: goalsOf(measured),
      measured: `${plan.rounds.counted} slices of ${plan.milliseconds / 1_000} s for each server, ${plan.connections} connections, one request at a time on each. All ${count(responses)} answers were 2xx and had the right content.`
    }
  })
}
