/**
 * Sandboxes beside a notebook's kernel and beside plain CPython, neither of which is confined by anything: what a session
 * takes to start, to run a program, to be interrupted, to take a table in and hand it out, and to be kept.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import type { Benchmark, Goal, Section } from "../Benchmark.ts"
import { alternate, type Measured, type Rounds } from "../measure/Slices.ts"
import { summarize } from "../measure/Statistics.ts"
import { count, figure } from "../report/Figure.ts"
import * as Progress from "../report/Progress.ts"
import * as Cores from "../server/Cores.ts"
import { type Hosts, hosts as findHosts } from "./Hosts.ts"
import { type Plan, plans } from "./Plan.ts"
import * as ProcessMemory from "./ProcessMemory.ts"
import type { PythonHost } from "./PythonSession.ts"
import { type Peer, quantileOfAll, section, summaryOf } from "./Sections.ts"
import { castellanTables, type Crossing, fileTables } from "./Tables.ts"

/** What is run: no output, nothing displayed, one variable more. */
const code = "x = 1 + 1"

const busy = 'print("running", flush=True)\nwhile True: pass'
const asleep = 'print("running", flush=True)\nimport time\ntime.sleep(600)'

const isThere = <A>(value: A | undefined): value is A => value !== undefined

const peersOf = ({ peers }: Hosts): ReadonlyArray<Peer> =>
  peers === undefined
    ? []
    : [
        ...(peers.ipykernel === undefined ? [] : [{ name: peers.ipykernel.name, title: "ipykernel" }]),
        { name: peers.cpython.name, title: "CPython" }
      ]

const milliseconds = (value: number): string => `${figure(value)} ms`

interface Start {
  readonly start: number
  readonly first: number
}

/** A session from nothing, and its first program; the end of it is not measured. */
const starting = (variants: ReadonlyArray<PythonHost>, rounds: Rounds) =>
  alternate(
    variants.map(({ name, open }) => ({
      name,
      slice: Effect.scoped(
        Effect.gen(function* () {
          const { milliseconds: start, session } = yield* open
          return { start, first: yield* session.run(code) }
        })
      ),
      tell: ({ start }: Start) => milliseconds(start)
    })),
    rounds
  )

const starts = Effect.fnUntraced(function* (hosts: Hosts, plan: Plan) {
  const { embedded, linux, peers } = hosts
  yield* Progress.say("  starts")
  const variants = [
    peers?.cpython,
    peers?.cpythonReady,
    peers?.ipykernel,
    linux?.sessions,
    linux?.pooled,
    embedded.sessions
  ].filter(isThere)
  const measured = yield* starting(variants, plan.starts)
  const cold = yield* starting([linux?.cold, embedded.cold].filter(isThere), plan.coldStarts)
  const beside = peersOf(hosts)
  const sections = [
    section("A session, from nothing until it takes a program", "ms", measured, ({ start }) => start, beside),
    section("The first program of a session", "ms", measured, ({ first }) => first, beside),
    section(
      "The first session of a host, with the self-test and with whatever sessions are made from",
      "ms",
      cold,
      ({ start }) => start,
      beside
    )
  ]
  return { sections, measured }
})

interface Warm {
  readonly times: ReadonlyArray<number>
  readonly median: number
  /** Microseconds of processor time that this process took for an execution. */
  readonly cpu: number
}

const warm = Effect.fnUntraced(function* (hosts: Hosts, { executions, warm: rounds }: Plan) {
  const { embedded, linux, peers } = hosts
  yield* Progress.say("  programs, one after another")
  const variants = yield* Effect.forEach(
    [peers?.cpython, peers?.ipykernel, linux?.sessions, embedded.sessions].filter(isThere),
    ({ name, open }) => Effect.map(open, ({ session }) => ({ name, session }))
  )
  const measured = yield* alternate(
    variants.map(({ name, session }) => ({
      name,
      slice: Effect.gen(function* () {
        const before = process.cpuUsage()
        const times: Array<number> = []
        for (let index = 0; index < executions; index++) times.push(yield* session.run(code))
        const { system, user } = process.cpuUsage(before)
        return { times, median: summarize(times).median, cpu: (user + system) / executions }
      }),
      tell: ({ median }: Warm) => milliseconds(median)
    })),
    rounds
  )
  return {
    measured,
    section: section(
      `A program in a session that has run others (\`${code}\`), ${count(executions)} one after another`,
      "p50 ms",
      measured,
      ({ median }) => median,
      peersOf(hosts),
      [
        {
          title: "p99 ms",
          of: (slices) =>
            figure(
              quantileOfAll(
                slices.map(({ times }) => times),
                0.99
              )
            )
        },
        {
          title: "CPU µs of the host",
          of: (slices) =>
            measured.find((one) => one.slices === slices)?.name === peers?.ipykernel?.name
              ? "–"
              : figure(summarize(slices.map(({ cpu }) => cpu)).median)
        }
      ]
    )
  }
})

const together = Effect.fnUntraced(function* (hosts: Hosts, { together: { each, rounds, sessions } }: Plan) {
  const { linux, peers } = hosts
  yield* Progress.say("  programs, in many sessions at once")
  const variants = yield* Effect.forEach([peers?.cpython, peers?.ipykernel, linux?.sessions].filter(isThere), (host) =>
    Effect.map(
      Effect.forEach(Array.from({ length: sessions }), () => host.open),
      (opened) => ({ host, sessions: opened.map(({ session }) => session) })
    )
  )
  const all = sessions * each
  const measured = yield* alternate(
    variants.map((variant) => ({
      name: variant.host.name,
      slice: Effect.map(variant.host.together(variant.sessions, each, code), (took) => took / all),
      tell: (one: number) => `${figure(1000 / one)} a second`
    })),
    rounds
  )
  return section(
    `${count(sessions)} sessions at once, each with its next program as soon as the last is over: milliseconds for one`,
    "ms",
    measured,
    (one) => one,
    peersOf(hosts),
    [{ title: "programs/s", of: (slices) => count(1000 / summarize(slices).median) }]
  )
})

const interrupts = Effect.fnUntraced(function* (hosts: Hosts, rounds: Rounds, program: string, what: string) {
  const { linux, peers } = hosts
  yield* Progress.say(`  interrupts of a program that ${what}`)
  const measured = yield* alternate(
    yield* Effect.forEach([peers?.cpython, peers?.ipykernel, linux?.sessions].filter(isThere), ({ name, open }) =>
      Effect.map(open, ({ session }) => ({ name, slice: session.interrupt(program), tell: milliseconds }))
    ),
    rounds
  )
  return section(
    `From an interrupt to the end of a program that ${what}`,
    "ms",
    measured,
    (took) => took,
    peersOf(hosts)
  )
})

const tables = Effect.fnUntraced(function* ({ linux, peers }: Hosts, { rounds, rows }: Plan["tables"]) {
  if (linux === undefined || !["numpy", "pandas"].every((name) => linux.tier.capabilities.packages.includes(name))) {
    yield* Progress.say("  *** NOT MEASURED: dataframes: there is no sandbox of Linux, or no pandas in it")
    return []
  }
  yield* Progress.say("  dataframes")
  const files = yield* FileSystem.FileSystem
  const folder = yield* Effect.orDie(files.makeTempDirectoryScoped({ prefix: "castellan-bench-tables-" }))
  const ours = yield* castellanTables("Castellan, Linux: Arrow", linux.tier, rows)
  const pickle = "CPython, a pickle in a file"
  const kernelCsv = "ipykernel, CSV in a file"
  const others =
    peers === undefined
      ? []
      : [
          yield* fileTables(pickle, peers.cpythonReady, "pickle", rows, folder),
          ...(peers.ipykernelReady === undefined
            ? []
            : [yield* fileTables(kernelCsv, peers.ipykernelReady, "csv", rows, folder)])
        ]
  const measured = yield* alternate(
    [...others, ours].map(({ crossing, name }) => ({
      name,
      slice: crossing,
      tell: ({ asks, enters, leaves }: Crossing) =>
        `${milliseconds(enters)} in, ${milliseconds(asks)} asked, ${milliseconds(leaves)} out`
    })),
    rounds
  )
  const beside = [
    { name: kernelCsv, title: "ipykernel, CSV" },
    { name: pickle, title: "CPython, a pickle" }
  ]
  return [
    section(`A dataframe of ${count(rows)} rows in`, "ms", measured, ({ enters }) => enters, beside),
    section(`A dataframe of ${count(rows)} rows out`, "ms", measured, ({ leaves }) => leaves, beside),
    section(
      `The sums of a thousand groups of a dataframe of ${count(rows)} rows: ours by SQL (\`castellan.sql\`), for which all of it goes into an engine of its own, in a process with as few rights; the others by pandas, where the dataframe is`,
      "ms",
      measured,
      ({ asks }) => asks,
      beside
    )
  ]
}, Effect.provide(NodeFileSystem.layer))

interface Kept {
  readonly name: string
  readonly sessions: number
  /** MiB for each; nothing where the machine does not tell. */
  readonly each: number | undefined
}

/** What sessions hold that have run a program and wait for the next. */
const keeping = Effect.fnUntraced(function* ({ name, open }: PythonHost, sessions: number) {
  const before = yield* Effect.sync(ProcessMemory.below)
  yield* Effect.forEach(Array.from({ length: sessions }), () =>
    Effect.flatMap(open, ({ session }) => session.run(code))
  )
  const after = yield* Effect.sync(ProcessMemory.below)
  const kept: Kept = { name, sessions, each: after === undefined ? undefined : (after - (before ?? 0)) / sessions }
  yield* Progress.say(`  ${count(sessions)} of ${name}: ${kept.each === undefined ? "–" : figure(kept.each)} MiB each`)
  return kept
}, Effect.scoped)

const memory = Effect.fnUntraced(function* (
  { embedded, linux, peers }: Hosts,
  { many, some, ...plan }: Plan["memory"]
) {
  yield* Progress.say("  memory")
  const kept: Array<Kept> = []
  for (const host of [peers?.cpython, peers?.cpythonReady, peers?.ipykernel, peers?.ipykernelReady]) {
    if (host !== undefined) kept.push(yield* keeping(host, plan.peers))
  }
  if (linux !== undefined) kept.push(yield* keeping(linux.sessions, some), yield* keeping(linux.sessions, many))
  kept.push(yield* keeping(embedded.sessions, plan.embedded))
  const beside = [peers?.ipykernel, peers?.ipykernelReady].flatMap((peer) => {
    const found = kept.find(({ name }) => name === peer?.name)
    return found?.each === undefined ? [] : [{ title: `÷ ${found.name}`, each: found.each }]
  })
  const result: Section = {
    caption: `Memory of a session that waits, each page divided among those that share it (PSS). The peers share nothing but files: what one of ${count(plan.peers)} holds, one of ${count(many)} would hold as well`,
    table: {
      columns: ["by", "sessions", "MiB a session", ...beside.map(({ title }) => title)],
      rows: kept.map(({ each, name, sessions }) => [
        name,
        count(sessions),
        each === undefined ? "–" : figure(each),
        ...beside.map((peer) => (each === undefined ? "–" : (each / peer.each).toFixed(2)))
      ])
    }
  }
  return { kept, section: result }
})

const goal = (aim: string, value: number, below: number, unit: string): Goal => ({
  aim,
  outcome: `${figure(value)} ${unit}`,
  met: value < below
})

const goals = (
  { embedded, linux }: Hosts,
  started: ReadonlyArray<Measured<Start>>,
  ran: ReadonlyArray<Measured<Warm>>,
  kept: ReadonlyArray<Kept>
): ReadonlyArray<Goal> => {
  const start = (name: string): number => summaryOf(started, name, (one) => one.start).median
  const toldOfEmbedded = goal("an embedded session starts in less than 0.8 s", start(embedded.sessions.name), 800, "ms")
  if (linux === undefined) return [toldOfEmbedded]
  const { name } = linux.sessions
  return [
    goal("a session starts from the fork-server in less than 25 ms", start(name), 25, "ms"),
    goal("a program takes less than 1 ms", summaryOf(ran, name, ({ median }) => median).median, 1, "ms"),
    ...kept
      .filter((one) => one.name === name)
      .map(({ each, sessions }) =>
        goal(
          `a session that waits holds less than 10 MB, at ${count(sessions)}`,
          ((each ?? Number.POSITIVE_INFINITY) * 1024 ** 2) / 1e6,
          10,
          "MB"
        )
      ),
    toldOfEmbedded
  ]
}

/** The benchmark. */
export const sandboxes: Benchmark = {
  name: "sandboxes",
  title: "Sandboxes",
  about:
    "Sessions of Python, opened and used through the port. On Linux they are confined by namespaces, a filter of system calls and limits, and come as forks with numpy, pandas and matplotlib imported; embedded, they are Pyodide in a process without permissions. Beside them two that are confined by nothing: ipykernel, driven by jupyter_client, which takes the times in its own process, and plain CPython, a loop around `exec` that is spoken to over pipes. Ours records what was made (files, dataframes, figures), checks and bounds every frame that comes back, and answers with a stream of events. Tables go in as rows of a query's result and come out as Arrow; the peers read a CSV file or a pickle that is there already, and write one that nobody reads.",
  run: Effect.fnUntraced(function* ({ cores, size }) {
    const plan = plans[size]
    // There is no server here and no load: whoever computes may do so where there is room (`where`).
    if (cores !== undefined) {
      yield* Effect.acquireRelease(
        Effect.sync(() => Cores.hold(cores.server, cores.load)),
        () => Effect.sync(() => Cores.hold(cores.load))
      )
    }
    const hosts = yield* findHosts
    const started = yield* starts(hosts, plan)
    const ran = yield* Effect.scoped(warm(hosts, plan))
    const ofLinux: Array<Section> = []
    if (hosts.linux !== undefined) {
      ofLinux.push(yield* Effect.scoped(together(hosts, plan)))
      ofLinux.push(yield* Effect.scoped(interrupts(hosts, plan.interrupts, busy, "computes")))
      ofLinux.push(yield* Effect.scoped(interrupts(hosts, plan.interrupts, asleep, "sleeps")))
      ofLinux.push(...(yield* Effect.scoped(tables(hosts, plan.tables))))
    }
    const held = yield* memory(hosts, plan.memory)
    return {
      sections: [...started.sections, ran.section, ...ofLinux, held.section],
      goals: goals(hosts, started.measured, ran.measured, held.kept),
      measured: `${plan.starts.counted} starts, ${plan.coldStarts.counted} of them of a whole host, ${plan.warm.counted} rounds of ${count(plan.executions)} programs, ${plan.together.rounds.counted} of ${count(plan.together.each)} in each of ${plan.together.sessions} sessions, ${plan.interrupts.counted} interrupts and ${plan.tables.rounds.counted} tables of each kind, taking turns; every program is checked for how it ended.`,
      where: "every process wherever the system put it"
    }
  })
}
