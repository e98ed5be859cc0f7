/**
 * One run, many followers: what it costs to send each event to each of them, live and in replay.
 */
import { Effect } from "effect"
import type { Benchmark, Circumstances, Goal, Section, Size } from "../Benchmark.ts"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import { eventsOf } from "../load/EventStream.ts"
import { follow, type Followers } from "../load/Followers.ts"
import { request, sockets } from "../load/Sockets.ts"
import type { EndedStream } from "../load/StreamBytes.ts"
import { alternate, type Measured, type Rounds, slicesOf } from "../measure/Slices.ts"
import { ratio, summarize } from "../measure/Statistics.ts"
import { count, figure, iqr, range, ratioWithRange } from "../report/Figure.ts"
import * as Progress from "../report/Progress.ts"
import * as ServerProcess from "../server/ServerProcess.ts"
import { allEvents, commands, liveEvents, lost } from "./Script.ts"

/** What one slice of one server came to. */
interface Slice {
  readonly delivered: number
  readonly lost: number
  readonly perSecond: number
  /** Microseconds of the server's processor time. */
  readonly cpuPerEvent: number
  /** How many events a follower was sent at a time. */
  readonly eventsPerWrite: number
}

/** So many followers, and as many runs in a slice as make it long enough to be measured. */
interface Scale {
  readonly followers: number
  readonly liveRuns: number
  readonly replays: number
}

interface Plan {
  readonly rounds: Rounds
  readonly scales: ReadonlyArray<Scale>
}

const plans: { readonly [Key in Size]: Plan } = {
  full: {
    rounds: { warming: 3, counted: 15 },
    scales: [
      { followers: 200, liveRuns: 2, replays: 10 },
      { followers: 1_000, liveRuns: 1, replays: 2 }
    ]
  },
  quick: { rounds: { warming: 2, counted: 5 }, scales: [{ followers: 200, liveRuns: 2, replays: 10 }] },
  smoke: { rounds: { warming: 0, counted: 2 }, scales: [{ followers: 5, liveRuns: 1, replays: 2 }] }
}

const raw = "node:http"
const joined = "node:http, one write"
const ours = "Castellan"

/** Events of the script that the followers lack or have out of place, and how often the server wrote. */
const judge = (streams: ReadonlyArray<EndedStream>): { readonly lost: number; readonly chunks: number } => {
  let missing = 0
  let chunks = 0
  // Almost always the bytes are the same for everybody, and read once.
  let known: { readonly body: Buffer; readonly lost: number } | undefined
  for (const stream of streams) {
    chunks += stream.chunks
    known = known?.body.equals(stream.body) === true ? known : { body: stream.body, lost: lost(eventsOf(stream.body)) }
    missing += known.lost
  }
  return { lost: missing, chunks }
}

/** What one run came to. */
interface Followed {
  readonly delivered: number
  readonly lost: number
  readonly chunks: number
  readonly events: number
  readonly milliseconds: number
  readonly cpuMicros: number
}

/** Measures what is done between two questions for the server's processor time, and judges what was received. */
const timed = Effect.fnUntraced(function* <Requirements>(
  server: ServerProcess.ServerProcess,
  events: number,
  work: Effect.Effect<Followers, BenchmarkFailure, Requirements>
) {
  const before = yield* server.usage
  const start = performance.now()
  const followers = yield* work
  const milliseconds = performance.now() - start
  const after = yield* server.usage
  const streams = yield* followers.streams
  const judged = judge(streams)
  if (judged.lost > 0 || streams.some((stream) => !stream.complete)) {
    return yield* new BenchmarkFailure({ message: `${server.name} lost ${judged.lost} events` })
  }
  const followed: Followed = {
    ...judged,
    delivered: events * streams.length,
    events: allEvents * streams.length,
    milliseconds,
    cpuMicros: after.cpuMicros - before.cpuMicros
  }
  return followed
})

/** Several runs as one slice. */
const together = Effect.fnUntraced(function* <Requirements>(
  run: Effect.Effect<Followed, BenchmarkFailure, Requirements>,
  times: number
) {
  const runs = yield* Effect.forEach(Array.from({ length: times }), () => run)
  const sum = (pick: (run: Followed) => number) => runs.reduce((total, one) => total + pick(one), 0)
  const delivered = sum((one) => one.delivered)
  const slice: Slice = {
    delivered,
    lost: sum((one) => one.lost),
    perSecond: (delivered * 1_000) / sum((one) => one.milliseconds),
    cpuPerEvent: sum((one) => one.cpuMicros) / delivered,
    eventsPerWrite: sum((one) => one.events) / sum((one) => one.chunks)
  }
  return slice
})

/** Everybody follows from the beginning; then the run goes on, event by event. */
const live = (server: ServerProcess.ServerProcess, followers: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const path = yield* server.order(commands.open)
      const connections = yield* sockets(server.port, followers)
      const following = yield* follow(connections, request({ method: "GET", path, bearer: server.bearer }))
      yield* following.attached
      const played = Effect.as(Effect.andThen(server.order(commands.play, path), following.ended), following)
      return yield* timed(server, liveEvents, played)
    })
  )

/** The run has ended; everybody comes at once to see it. */
const replay = (server: ServerProcess.ServerProcess, followers: number, suffix: string = "") =>
  Effect.scoped(
    Effect.gen(function* () {
      const path = `${yield* server.order(commands.record)}${suffix}`
      const connections = yield* sockets(server.port, followers)
      const followed = Effect.tap(
        follow(connections, request({ method: "GET", path, bearer: server.bearer })),
        (following) => following.ended
      )
      return yield* timed(server, allEvents, followed)
    })
  )

const tell = (slice: Slice): string => `${figure(slice.cpuPerEvent)} µs, ${count(slice.perSecond)}/s`

const cpuOf = (measured: ReadonlyArray<Measured<Slice>>, name: string): ReadonlyArray<number> =>
  slicesOf(measured, name).map((slice) => slice.cpuPerEvent)

const sectionOf = (caption: string, measured: ReadonlyArray<Measured<Slice>>): Section => ({
  caption,
  table: {
    columns: ["server", "CPU µs/event", "min–max", "IQR", `CPU ÷ ${raw}`, "events/s", "events/write", "lost"],
    rows: measured.map(({ name, slices }) => {
      const cpu = summarize(cpuOf(measured, name))
      return [
        name,
        figure(cpu.median),
        range(cpu),
        iqr(cpu),
        name === raw ? "1" : ratioWithRange(ratio(cpuOf(measured, name), cpuOf(measured, raw))),
        count(summarize(slices.map((slice) => slice.perSecond)).median),
        figure(summarize(slices.map((slice) => slice.eventsPerWrite)).median),
        count(slices.reduce((sum, slice) => sum + slice.lost, 0))
      ]
    })
  }
})

const goalOf = (what: string, most: number, measured: ReadonlyArray<Measured<Slice>>): Goal => {
  const { median } = ratio(cpuOf(measured, ours), cpuOf(measured, raw))
  return {
    aim: `${what}: CPU at most ${most} times that of ${raw}`,
    outcome: median.toFixed(2),
    met: median <= most
  }
}

const atScale = Effect.fnUntraced(function* (
  { followers, liveRuns, replays }: Scale,
  rounds: Rounds,
  peer: ServerProcess.ServerProcess,
  own: ServerProcess.ServerProcess
) {
  const many = `${count(followers)} followers`
  yield* Progress.say(`  ${many}, live`)
  const alive = yield* alternate(
    [
      { name: raw, slice: together(live(peer, followers), liveRuns), tell },
      { name: ours, slice: together(live(own, followers), liveRuns), tell }
    ],
    rounds
  )
  yield* Progress.say(`  ${many}, replay`)
  const replayed = yield* alternate(
    [
      { name: raw, slice: together(replay(peer, followers), replays), tell },
      { name: joined, slice: together(replay(peer, followers, "/joined"), replays), tell },
      { name: ours, slice: together(replay(own, followers), replays), tell }
    ],
    rounds
  )
  return {
    sections: [sectionOf(`${many}, live`, alive), sectionOf(`${many}, replay`, replayed)],
    goals: [goalOf(`${many} live`, 1.5, alive), goalOf(`${many} in replay`, 2, replayed)],
    delivered: [...alive, ...replayed]
      .flatMap(({ slices }) => slices)
      .reduce((sum, { delivered }) => sum + delivered, 0)
  }
})

/** The benchmark. */
export const fanOut: Benchmark = {
  name: "fan-out",
  title: "Server-sent events to many followers",
  about: `A run of ${allEvents} events of about 100 bytes, followed by many at once. Live: everybody is there from the first event on, and one event is appended each turn of the event loop, as a model's tokens come. Replay: the run has ended, and everybody asks for all of it at the same moment. \`node:http\` encodes each event once and writes it to every follower; it sends a replay event by event, as a plain server would, or, in a row of its own, in one write. Castellan serves \`GET /v2/chats/{id}/stream\` from its run log: one fiber encodes each event once, with the head of its chunk, so that a socket takes in one piece what \`response.write\` hands it in three; and what a follower lacks goes out in one write, however many events that is.`,
  run: Effect.fnUntraced(function* ({ cores, size }: Circumstances) {
    const plan = plans[size]
    const start = (name: string, program: string) =>
      ServerProcess.start(name, new URL(program, import.meta.url), cores?.server)
    const peer = yield* start(raw, "raw.ts")
    const own = yield* start(ours, "castellan.ts")
    const scales = yield* Effect.forEach(plan.scales, (scale) => atScale(scale, plan.rounds, peer, own))
    const delivered = scales.reduce((sum, scale) => sum + scale.delivered, 0)
    return {
      sections: scales.flatMap(({ sections }) => sections),
      goals: scales.flatMap(({ goals }) => goals),
      measured: `${plan.rounds.counted} slices for each server, of one to ten runs. Of ${count(delivered)} events none was lost, repeated or out of order.`
    }
  })
}
