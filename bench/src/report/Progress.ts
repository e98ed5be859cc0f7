/**
 * What is said while a benchmark runs. It goes to the standard error, so that the standard output holds the results
 * alone.
 */
import { Context, Effect } from "effect"

/** Where the lines go; tests replace it. */
export const Progress = Context.Reference<(line: string) => void>("@castellan-bench/all/report/Progress", {
  defaultValue: () => (line) => void process.stderr.write(`${line}\n`)
})

/** Says a line. */
export const say = (line: string): Effect.Effect<void> => Effect.map(Progress, (write) => write(line))
