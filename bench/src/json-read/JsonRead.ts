/**
 * An authenticated read of a few hundred bytes of JSON, without a database: what the HTTP surface itself costs.
 */
import { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { Benchmark, Goal, Size } from "../Benchmark.ts"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import * as KeepAlive from "../load/KeepAlive.ts"
import { request, sockets } from "../load/Sockets.ts"
import { alternate, type Measured, type Rounds, slicesOf } from "../measure/Slices.ts"
import { quantile, ratio, summarize } from "../measure/Statistics.ts"
import { count, figure, iqr, range, ratioWithRange } from "../report/Figure.ts"
import type { Table } from "../report/Table.ts"
import * as ServerProcess from "../server/ServerProcess.ts"
import { models, path } from "./Payload.ts"

/** What one slice of one server came to. */
interface Slice {
  readonly responses: number
  readonly perSecond: number
  /** In milliseconds. */
  readonly median: number
  readonly p99: number
  /** Microseconds of the server's processor time. */
  readonly cpuPerRequest: number
}

interface Plan {
  readonly rounds: Rounds
  readonly connections: number
  readonly milliseconds: number
}

const plans: { readonly [Key in Size]: Plan } = {
  full: { rounds: { warming: 8, counted: 15 }, connections: 50, milliseconds: 1_000 },
  quick: { rounds: { warming: 2, counted: 5 }, connections: 50, milliseconds: 400 },
  smoke: { rounds: { warming: 0, counted: 2 }, connections: 4, milliseconds: 20 }
}

const raw = "node:http"
const fastify = "Fastify"
const ours = "Castellan"

const servers = [
  { name: raw, program: new URL("raw.ts", import.meta.url) },
  { name: fastify, program: new URL("fastify.ts", import.meta.url) },
  { name: "Hono", program: new URL("hono.ts", import.meta.url) },
  { name: ours, program: new URL("castellan.ts", import.meta.url) }
] as const

/** Every server must say the same; how it spells it is its own. */
const check = (server: string, body: Buffer): Effect.Effect<void, BenchmarkFailure> => {
  const said: unknown = JSON.parse(body.toString("utf8"))
  return isDeepStrictEqual(said, { models })
    ? Effect.void
    : Effect.fail(new BenchmarkFailure({ message: `${server} answers with something else: ${body.toString("utf8")}` }))
}

const slice = (server: ServerProcess.ServerProcess, plan: Plan): Effect.Effect<Slice, BenchmarkFailure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const connections = yield* sockets(server.port, plan.connections)
      const before = yield* server.usage
      const outcome = yield* KeepAlive.drive(
        connections,
        KeepAlive.always(request({ method: "GET", path, bearer: server.bearer })),
        plan.milliseconds
      )
      const after = yield* server.usage
      for (const body of outcome.bodies) if (body !== undefined) yield* check(server.name, body)
      return {
        responses: outcome.responses,
        perSecond: (outcome.responses * 1_000) / outcome.milliseconds,
        median: quantile(outcome.latencies, 0.5),
        p99: quantile(outcome.latencies, 0.99),
        cpuPerRequest: (after.cpuMicros - before.cpuMicros) / outcome.responses
      }
    })
  )

const tableOf = (measured: ReadonlyArray<Measured<Slice>>): Table => {
  const cpu = (name: string) => slicesOf(measured, name).map((one) => one.cpuPerRequest)
  const rate = (name: string) => slicesOf(measured, name).map((one) => one.perSecond)
  return {
    columns: [
      "server",
      "requests/s",
      "min–max",
      "IQR",
      "p50 ms",
      "p99 ms",
      "CPU µs/request",
      `requests/s ÷ ${raw}`,
      `CPU ÷ ${raw}`,
      `CPU ÷ ${fastify}`
    ],
    rows: measured.map(({ name, slices }) => {
      const perSecond = summarize(rate(name))
      return [
        name,
        count(perSecond.median),
        range(perSecond),
        iqr(perSecond),
        figure(summarize(slices.map((one) => one.median)).median),
        figure(summarize(slices.map((one) => one.p99)).median),
        figure(summarize(cpu(name)).median),
        name === raw ? "1" : ratioWithRange(ratio(rate(name), rate(raw))),
        name === raw ? "1" : ratioWithRange(ratio(cpu(name), cpu(raw))),
        name === fastify ? "1" : ratioWithRange(ratio(cpu(name), cpu(fastify)))
      ]
    })
  }
}

/** In processor time, because requests per second are also those of the load, which others may keep from its core. */
const goalsOf = (measured: ReadonlyArray<Measured<Slice>>): ReadonlyArray<Goal> => {
  const over = (peer: string, pick: (one: Slice) => number) =>
    ratio(slicesOf(measured, ours).map(pick), slicesOf(measured, peer).map(pick)).median
  const goal = (aim: string, most: number, outcome: number): Goal => ({
    aim,
    outcome: outcome.toFixed(2),
    met: outcome <= most
  })
  return [
    goal(
      `CPU at most 2.5 times that of ${raw}`,
      2.5,
      over(raw, (one) => one.cpuPerRequest)
    ),
    goal(
      `CPU at most 2 times that of ${fastify}`,
      2,
      over(fastify, (one) => one.cpuPerRequest)
    ),
    goal(
      `p99 at most 2 times that of ${raw}`,
      2,
      over(raw, (one) => one.p99)
    )
  ]
}

/** The benchmark. */
export const jsonRead: Benchmark = {
  name: "json-read",
  title: "An authenticated read without a database",
  about:
    "A bearer key is hashed (SHA-256) and looked up among 10,001, and the models that its holder may choose are answered as 296 bytes of JSON. `node:http`, Fastify (with a response schema) and Hono do just that. Castellan does it as the product does: it reads key, owner and roles live from its stores, holds the request to its limits, decides what this principal may choose, and encodes by the contract's schemas.",
  run: Effect.fnUntraced(function* ({ cores, size }) {
    const plan = plans[size]
    const started = yield* Effect.forEach(servers, ({ name, program }) =>
      ServerProcess.start(name, program, cores?.server)
    )
    const measured = yield* alternate(
      started.map((server) => ({
        name: server.name,
        slice: slice(server, plan),
        tell: ({ cpuPerRequest, perSecond }: Slice) => `${count(perSecond)}/s, ${figure(cpuPerRequest)} µs`
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
      measured: `${plan.rounds.counted} slices of ${plan.milliseconds / 1_000} s for each server, ${plan.connections} connections, one request at a time on each. All ${count(responses)} answers were 2xx and had the same content.`
    }
  })
}
