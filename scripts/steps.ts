/**
 * Runs named steps one after another. A failed step does not stop the others, so that one run tells everything, and
 * the exit code still tells that something failed.
 */
import { spawnSync } from "node:child_process"
import { delimiter, join } from "node:path"
import { root } from "./packages.ts"

/** A step works, or throws an error whose message says what is wrong. */
export interface Step {
  readonly name: string
  readonly run: () => void | Promise<void>
}

/** Runs a command of the workspace with its output in view, and throws when it fails. */
export const command = (program: string, args: ReadonlyArray<string>, cwd: string = root): void => {
  const path = [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter)
  const done = spawnSync(program, args, { cwd, stdio: "inherit", env: { ...process.env, PATH: path } })
  if (done.error !== undefined) throw done.error
  if (done.status !== 0) throw new Error(`${program} ended with ${done.status ?? done.signal}`)
}

/** Runs the steps, reports each with its time, and answers the names of those that failed. */
export const runSteps = async (
  steps: ReadonlyArray<Step>,
  print: (line: string) => void = console.log
): Promise<ReadonlyArray<string>> => {
  const report: Array<string> = []
  const failed: Array<string> = []
  for (const { name, run } of steps) {
    print(`\n── ${name}`)
    const start = performance.now()
    let outcome = "ok"
    try {
      // oxlint-disable-next-line no-await-in-loop -- one after another is the point: the output stays readable
      await run()
    } catch (error) {
      outcome = "FAILED"
      failed.push(name)
      print(error instanceof Error ? error.message : String(error))
    }
    const line = `${outcome.padEnd(6)} ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`
    report.push(line)
    print(line)
  }
  print(`\n${report.join("\n")}\n${steps.length - failed.length} of ${steps.length} steps passed`)
  return failed
}

/** The whole of a script that is a list of steps. */
export const main = async (steps: ReadonlyArray<Step>): Promise<void> => {
  const failed = await runSteps(steps)
  if (failed.length > 0) process.exitCode = 1
}
