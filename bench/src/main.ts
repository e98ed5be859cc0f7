/**
 * `pnpm bench [names...] [--quick] [--write]`: ours beside a named peer, in one run. Results go to the standard output,
 * progress to the standard error.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Result } from "effect"
import { BenchmarkFailure } from "./BenchmarkFailure.ts"
import { benchmarks } from "./Benchmarks.ts"
import * as CommandLine from "./CommandLine.ts"
import * as Progress from "./report/Progress.ts"
import * as Runner from "./Runner.ts"

const program = Effect.gen(function* () {
  const request = CommandLine.read(process.argv.slice(2), benchmarks)
  if (Result.isFailure(request)) {
    return yield* new BenchmarkFailure({ message: `${request.failure}\n\n${CommandLine.usage(benchmarks)}` })
  }
  yield* Runner.run(request.success)
})

NodeRuntime.runMain(
  Effect.tapError(program, ({ message }) => Progress.say(`\n${message}`)),
  { disableErrorReporting: true }
)
