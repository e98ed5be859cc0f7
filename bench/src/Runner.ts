/**
 * Runs benchmarks one after the other, prints what comes out, and writes it on the page when asked to.
 */
import { DateTime, Effect, Result } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Benchmark, Circumstances, Report } from "./Benchmark.ts"
import { BenchmarkFailure } from "./BenchmarkFailure.ts"
import type { Request } from "./CommandLine.ts"
import { describe, thisMachine } from "./report/Machine.ts"
import * as Page from "./report/Page.ts"
import * as Progress from "./report/Progress.ts"
import * as Cores from "./server/Cores.ts"

const page = join(import.meta.dirname, "../../docs/benchmarks.md")

const print = (text: string): Effect.Effect<void> => Effect.sync(() => void process.stdout.write(`${text}\n`))

const placesOf = (cores: Cores.Cores | undefined): string =>
  cores === undefined ? "server and load wherever the system put them" : "the server on one core, the load on another"

/** When and where a figure was measured. */
const originOf = (where: string) =>
  Effect.map(
    DateTime.now,
    (now) => `Measured on ${DateTime.formatIsoDateUtc(now)}: ${describe(thisMachine())}; ${where}.`
  )

const publish = (benchmark: Benchmark, report: Report, origin: string): Effect.Effect<void, BenchmarkFailure> =>
  Effect.suspend(() => {
    const fresh = Page.replace(readFileSync(page, "utf8"), benchmark.name, Page.stretch(benchmark, report, origin))
    if (fresh === undefined) {
      return Effect.fail(new BenchmarkFailure({ message: `docs/benchmarks.md has no place for ${benchmark.name}` }))
    }
    return Effect.sync(() => writeFileSync(page, fresh))
  })

const runOne = Effect.fnUntraced(function* (benchmark: Benchmark, circumstances: Circumstances, write: boolean) {
  yield* Progress.say(`${benchmark.name}: ${benchmark.title}`)
  const report = yield* Effect.scoped(benchmark.run(circumstances))
  const origin = yield* originOf(report.where ?? placesOf(circumstances.cores))
  yield* print(`\n## ${benchmark.title}\n\n${Page.markdown(report)}\n\n${origin}\n`)
  if (write) yield* publish(benchmark, report, origin)
})

/** Runs what was asked for. A benchmark that fails does not stop the others; the failures come out together. */
export const run: (request: Request) => Effect.Effect<void, BenchmarkFailure> = Effect.fnUntraced(function* (request) {
  const cores = Cores.divide()
  if (cores !== undefined) yield* Effect.sync(() => Cores.hold(cores.load))
  const circumstances: Circumstances = { size: request.quick ? "quick" : "full", cores }
  const failures: Array<string> = []
  for (const benchmark of request.benchmarks) {
    const outcome = yield* Effect.result(runOne(benchmark, circumstances, request.write))
    if (Result.isFailure(outcome)) {
      failures.push(`${benchmark.name}: ${outcome.failure.message}`)
      yield* Progress.say(`  FAILED: ${outcome.failure.message}`)
    }
  }
  if (failures.length > 0) return yield* new BenchmarkFailure({ message: failures.join("\n") })
})
