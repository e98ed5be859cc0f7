/**
 * From nothing to running: what an import costs a host's start, and how long a server takes to answer.
 */
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Benchmark, Section, Size } from "../Benchmark.ts"
import { alternate, type Measured, type Rounds, slicesOf } from "../measure/Slices.ts"
import { difference, ratio, summarize } from "../measure/Statistics.ts"
import { figure, iqr, range, ratioWithRange } from "../report/Figure.ts"
import { comparison } from "../report/Comparison.ts"
import * as Progress from "../report/Progress.ts"
import { type ImportCost, importing } from "./Import.ts"
import { type Launch, launching } from "./Launch.ts"
import { publish } from "./Published.ts"

const rounds: { readonly [Key in Size]: { readonly imports: Rounds; readonly launches: Rounds } } = {
  full: { imports: { warming: 2, counted: 15 }, launches: { warming: 1, counted: 9 } },
  quick: { imports: { warming: 1, counted: 5 }, launches: { warming: 1, counted: 3 } },
  smoke: { imports: { warming: 0, counted: 1 }, launches: { warming: 0, counted: 1 } }
}

const bare = "nothing"
const effect = "effect"
const fastify = "Fastify, one route"

const workspace = join(import.meta.dirname, "../../..")

/** Fastify with the one route, and nothing of TypeScript to erase. */
const hello = `import Fastify from "fastify"
const server = Fastify()
server.get("/readyz", async () => ({ status: "ready" }))
await server.listen({ host: process.env.HOST, port: Number(process.env.PORT) })
process.on("SIGTERM", () => server.close())`

/** A folder for one server's data, removed with the scope. */
const dataFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "castellan-bench-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const standalone = (name: string, folder: string): Launch => ({
  name,
  args: [join(workspace, "examples/standalone-server/src/main.ts")],
  cwd: workspace,
  environment: { CASTELLAN_DATA_DIR: folder }
})

const importSection = (measured: ReadonlyArray<Measured<ImportCost>>): Section => {
  const time = (name: string) => slicesOf(measured, name).map((one) => one.milliseconds)
  return {
    caption: "A process that imports one thing, as published, and ends",
    table: {
      columns: ["import", "ms", "min–max", "IQR", "CPU ms", `ms − ${bare}`, `ms ÷ ${effect}`, "memory MiB"],
      rows: measured.map(({ name, slices }) => {
        const summary = summarize(time(name))
        return [
          name,
          figure(summary.median),
          range(summary),
          iqr(summary),
          figure(summarize(slices.map((one) => one.cpu)).median),
          name === bare ? "0" : figure(difference(time(name), time(bare)).median),
          name === effect ? "1" : ratioWithRange(ratio(time(name), time(effect))),
          figure(summarize(slices.map((one) => one.residentBytes / 1024 ** 2)).median)
        ]
      })
    }
  }
}

const launchSection = (measured: ReadonlyArray<Measured<number>>): Section =>
  comparison({
    caption: "A server, from its start to the first 200 of `/readyz`",
    of: "server",
    unit: "ms",
    measured,
    to: fastify
  })

/** The benchmark. */
export const coldStart: Benchmark = {
  name: "cold-start",
  title: "Cold start",
  about:
    'What `import "@castellan/core"` adds to the start of a host, beside Effect\'s own barrel and single modules of both; as published, which is JavaScript. Then the standalone server, run from its sources as `pnpm start` does, with its data in memory, DuckDB and the Malloy compiler behind it, beside a Fastify server that can do nothing but answer: a first start fills its data folder with the sample data, a later one finds it.',
  run: Effect.fnUntraced(function* ({ cores, size }) {
    const folder = yield* publish
    const imports: ReadonlyArray<readonly [string, string | undefined]> = [
      [bare, undefined],
      [effect, "effect"],
      ["effect/Effect", "effect/Effect"],
      ["@castellan/core", join(folder, "index.js")],
      ["@castellan/core/chat/Chat", join(folder, "chat/Chat.js")],
      ["@castellan/core/Castellan", join(folder, "Castellan.js")]
    ]
    const plan = rounds[size]
    yield* Progress.say("  imports")
    const imported = yield* alternate(
      imports.map(([name, specifier]) => ({
        name,
        slice: importing(specifier, cores?.server),
        tell: ({ milliseconds }: ImportCost) => `${figure(milliseconds)} ms`
      })),
      plan.imports
    )
    yield* Progress.say("  servers")
    const kept = yield* dataFolder
    const later = standalone("Castellan, a later start", kept)
    // What a later start finds.
    yield* launching(later, cores?.server)
    const first = Effect.scoped(
      Effect.flatMap(dataFolder, (empty) => launching(standalone("Castellan, a first start", empty), cores?.server))
    )
    const peer: Launch = {
      name: fastify,
      args: ["--input-type=module", "--eval", hello],
      cwd: join(workspace, "bench"),
      environment: {}
    }
    const tell = (milliseconds: number) => `${figure(milliseconds)} ms`
    const launched = yield* alternate(
      [
        { name: fastify, slice: launching(peer, cores?.server), tell },
        { name: later.name, slice: launching(later, cores?.server), tell },
        { name: "Castellan, a first start", slice: first, tell }
      ],
      plan.launches
    )
    return {
      sections: [importSection(imported), launchSection(launched)],
      goals: [],
      measured: `${plan.imports.counted} processes for each import and ${plan.launches.counted} for each server, after ${plan.imports.warming} and ${plan.launches.warming} that only warmed the file cache up.`
    }
  })
}
