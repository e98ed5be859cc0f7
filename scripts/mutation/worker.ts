/**
 * One of the processes that try mutants: it takes a batch of them with the tests that reach each, runs these step by
 * step in one thread, and tells of every mutant as soon as it knows. Should one hang beyond every limit, the process is
 * killed, and nothing is lost but that mutant.
 */
import { readFileSync } from "node:fs"
import { failureOf, open, type Step, type Substitutes } from "./tests.ts"

/** One mutant to try; 0 is the code as it is. */
export interface Task {
  readonly id: number
  /** The test files with what is run of each, the likeliest to fail first. */
  readonly tests: ReadonlyArray<Pick<Step, "path" | "names">>
  readonly limit: number
}

/** What came of it. */
export interface Outcome {
  readonly id: number
  /** The test that failed, and how; absent when all passed. */
  readonly failure?: string
  /** The test files that failed. */
  readonly failed: ReadonlyArray<string>
}

/** What a worker says: it is free, it has done a further step, or it knows what came of a mutant. */
export type Word = "free" | "step" | Outcome

const say = (word: Word): void => void process.send?.(word)

const substitutes: Substitutes = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"))

let steps: ReadonlyArray<Step> = []
let done = 0
let failures: Array<{ readonly path: string; readonly failure: string }> = []

// vitest ends the files in the order of the steps.
const vitest = await open(substitutes, "together", (module) => {
  const step = steps[done]
  const next = steps[done + 1]
  done++
  const failure = failureOf(module)
  if (failure !== undefined) failures.push({ path: module.moduleId, failure })
  if (step === undefined || step.id === next?.id) return say("step")
  const [first] = failures
  say({
    id: step.id,
    ...(first === undefined ? {} : { failure: first.failure }),
    failed: step.id === 0 ? failures.map(({ path }) => path) : failures.slice(0, 1).map(({ path }) => path)
  })
  failures = []
})
const specifications = new Map((await vitest.globTestSpecifications()).map((one) => [one.moduleId, one]))

const run = async (tasks: ReadonlyArray<Task>): Promise<void> => {
  steps = tasks.flatMap(({ id, limit, tests }) => tests.map((test): Step => ({ ...test, id, limit })))
  done = 0
  vitest.provide("mutation", { hits: "", steps })
  await vitest.runTestSpecifications(steps.flatMap(({ path }) => specifications.get(path) ?? []))
  vitest.state.errorsSet.clear()
}

process.on("message", (tasks: ReadonlyArray<Task>) => {
  run(tasks).then(
    () => say("free"),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    }
  )
})
say("free")
