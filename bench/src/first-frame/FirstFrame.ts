/**
 * From a question to the first event of its answer: what a user waits for before anything moves.
 */
import { Effect } from "effect"
import type { Benchmark, Size } from "../Benchmark.ts"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import { eventsOf } from "../load/EventStream.ts"
import { exchange } from "../load/Exchange.ts"
import { request, sockets } from "../load/Sockets.ts"
import { alternate, type Measured, type Rounds, slicesOf } from "../measure/Slices.ts"
import { difference, quantile, ratio, summarize } from "../measure/Statistics.ts"
import { count, figure, iqr, range, ratioWithRange } from "../report/Figure.ts"
import type { Table } from "../report/Table.ts"
import * as ServerProcess from "../server/ServerProcess.ts"
import { asked, isAnswer, path } from "./Script.ts"

/** What one slice of one server came to; times in milliseconds. */
interface Slice {
  readonly answers: number
  readonly first: number
  readonly firstTail: number
  readonly text: number
  /** Microseconds of the server's processor time. */
  readonly cpuPerAnswer: number
}

interface Plan {
  readonly rounds: Rounds
  /** Questions of a slice, one after the other. */
  readonly questions: number
}

const plans: { readonly [Key in Size]: Plan } = {
  full: { rounds: { warming: 6, counted: 15 }, questions: 200 },
  quick: { rounds: { warming: 3, counted: 5 }, questions: 50 },
  smoke: { rounds: { warming: 0, counted: 2 }, questions: 3 }
}

const raw = "node:http"
const ours = "Castellan"

const marks = [Buffer.from("data:"), Buffer.from('"type":"text"')]

const slice = (server: ServerProcess.ServerProcess, plan: Plan): Effect.Effect<Slice, BenchmarkFailure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const connections = yield* sockets(server.port, 1)
      const post = request({ method: "POST", path, bearer: server.bearer, json: asked })
      const before = yield* server.usage
      const exchanges = yield* Effect.forEach(Array.from({ length: plan.questions }), () =>
        Effect.forEach(connections, (socket) => exchange(socket, post, marks))
      ).pipe(Effect.map((all) => all.flat()))
      const after = yield* server.usage
      const wrong = exchanges.find(({ stream }) => !stream.complete || !isAnswer(eventsOf(stream.body)))
      if (wrong !== undefined) {
        return yield* new BenchmarkFailure({
          message: `${server.name} answers with something else:\n${wrong.stream.body.toString("utf8")}`
        })
      }
      const first = Float64Array.from(exchanges, (one) => one.marks[0] ?? Number.NaN).toSorted()
      const text = Float64Array.from(exchanges, (one) => one.marks[1] ?? Number.NaN).toSorted()
      return {
        answers: exchanges.length,
        first: quantile(first, 0.5),
        firstTail: quantile(first, 0.99),
        text: quantile(text, 0.5),
        cpuPerAnswer: (after.cpuMicros - before.cpuMicros) / exchanges.length
      }
    })
  )

const tableOf = (measured: ReadonlyArray<Measured<Slice>>): Table => {
  const of = (name: string, pick: (slice: Slice) => number) => slicesOf(measured, name).map(pick)
  const first = (name: string) => of(name, (one) => one.first)
  return {
    columns: [
      "server",
      "first event ms",
      "min–max",
      "IQR",
      "p99 ms",
      `− ${raw} ms`,
      `÷ ${raw}`,
      "first text ms",
      "CPU µs/answer"
    ],
    rows: measured.map(({ name }) => {
      const summary = summarize(first(name))
      return [
        name,
        figure(summary.median),
        range(summary),
        iqr(summary),
        figure(summarize(of(name, (one) => one.firstTail)).median),
        name === raw ? "0" : figure(difference(first(name), first(raw)).median),
        name === raw ? "1" : ratioWithRange(ratio(first(name), first(raw))),
        figure(summarize(of(name, (one) => one.text)).median),
        figure(summarize(of(name, (one) => one.cpuPerAnswer)).median)
      ]
    })
  }
}

/** The benchmark. */
export const firstFrame: Benchmark = {
  name: "first-frame",
  title: "From a question to the first event",
  about:
    "`POST /v2/chats/stream`, one question at a time, until the first event arrives. `node:http` authenticates, reads and parses the body, and writes an event. Castellan opens a chat and a run, hands the run to its runner, and follows its log; the analyst and a scripted model, which answers at once, are under way, and share the core meanwhile.",
  run: Effect.fnUntraced(function* ({ cores, size }) {
    const plan = plans[size]
    const start = (name: string, program: string) =>
      ServerProcess.start(name, new URL(program, import.meta.url), cores?.server)
    const servers = [yield* start(raw, "raw.ts"), yield* start(ours, "castellan.ts")]
    const measured = yield* alternate(
      servers.map((server) => ({
        name: server.name,
        slice: slice(server, plan),
        tell: ({ cpuPerAnswer, first }: Slice) => `${figure(first)} ms, ${figure(cpuPerAnswer)} µs`
      })),
      plan.rounds
    )
    const answers = measured.flatMap(({ slices }) => slices).reduce((sum, one) => sum + one.answers, 0)
    return {
      sections: [{ caption: "Medians of the slices' medians", table: tableOf(measured) }],
      goals: [],
      measured: `${plan.rounds.counted} slices of ${plan.questions} questions for each server, over one connection. All ${count(answers)} streams were complete and had the same answer.`
    }
  })
}
