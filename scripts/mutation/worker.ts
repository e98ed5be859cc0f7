/**
 * One of the processes that try mutants: it takes a mutant and the test files that reach it, runs them until one fails,
 * and answers. Should a mutant hang it beyond every limit, it is killed, and nothing is lost but that mutant.
 */
import { readFileSync } from "node:fs"
import { failureOf, open, type Substitutes } from "./tests.ts"

/** One mutant to try; 0 is the code as it is. */
export interface Task {
  readonly id: number
  /** Absolute paths of test files, the likeliest to fail first. */
  readonly tests: ReadonlyArray<string>
  readonly limit: number
}

/** What came of it. */
export interface Outcome {
  readonly id: number
  /** The test that failed, and how; absent when all passed. */
  readonly failure?: string
  /** The test files that failed. */
  readonly failed: ReadonlyArray<string>
  readonly milliseconds: number
}

const substitutes: Substitutes = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"))
const vitest = await open(substitutes, "together")
const specifications = new Map((await vitest.globTestSpecifications()).map((one) => [one.moduleId, one]))

const attempt = async ({ id, limit, tests }: Task): Promise<Outcome> => {
  const started = performance.now()
  vitest.config.bail = id === 0 ? 0 : 1
  vitest.provide("mutation", { active: id, hits: "", limit })
  const chosen = tests.flatMap((path) => specifications.get(path) ?? [])
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(chosen)
  const failures = testModules.flatMap((module) => {
    const failure = failureOf(module)
    return failure === undefined ? [] : [{ failure, path: module.moduleId }]
  })
  vitest.state.errorsSet.clear()
  const failure = failures[0]?.failure ?? (unhandledErrors.length === 0 ? undefined : String(unhandledErrors[0]))
  return {
    id,
    ...(failure === undefined ? {} : { failure }),
    failed: failures.map(({ path }) => path),
    milliseconds: performance.now() - started
  }
}

process.on("message", (task: Task) => {
  attempt(task).then(
    (outcome) => process.send?.(outcome),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    }
  )
})
process.send?.("ready")
