/**
 * What can be said to the benchmarks: `pnpm bench [names...] [--quick] [--write]`.
 */
import { Result } from "effect"
import { parseArgs } from "node:util"
import type { Benchmark } from "./Benchmark.ts"

/** What was asked for. */
export interface Request {
  readonly benchmarks: ReadonlyArray<Benchmark>
  /** A first look instead of figures to keep. */
  readonly quick: boolean
  /** Whether the page of results is brought up to date. */
  readonly write: boolean
}

/** How it is used. */
export const usage = (known: ReadonlyArray<Benchmark>): string =>
  [
    "pnpm bench [names...] [--quick] [--write]",
    "",
    ...known.map(({ name, title }) => `  ${name.padEnd(14)}${title}`),
    "",
    "  --quick       a first look: fewer and shorter slices",
    "  --write       bring docs/benchmarks.md up to date"
  ].join("\n")

/** Reads the arguments; fails with a sentence about what is wrong with them. */
export const read = (args: ReadonlyArray<string>, known: ReadonlyArray<Benchmark>): Result.Result<Request, string> => {
  const flag = { type: "boolean", default: false } as const
  const parsed = Result.try({
    try: () => parseArgs({ args: [...args], allowPositionals: true, options: { quick: flag, write: flag } }),
    catch: (error) => (error instanceof Error ? error.message : String(error))
  })
  return Result.flatMap(parsed, ({ positionals, values: { quick, write } }) => {
    const unknown = positionals.filter((name) => !known.some((one) => one.name === name))
    if (unknown.length > 0) return Result.fail(`there is no benchmark ${unknown.join(", ")}`)
    if (quick && write) return Result.fail("a first look is not for the page: --quick and --write exclude each other")
    const benchmarks = positionals.length === 0 ? known : known.filter(({ name }) => positionals.includes(name))
    return Result.succeed({ benchmarks, quick, write })
  })
}
