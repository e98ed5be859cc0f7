/**
 * Examines files: instruments them, sees which test files reach which mutants, and tries every mutant on both cores.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { root } from "../packages.ts"
import { instrument, type Mutant } from "./instrument.ts"
import { Crew } from "./crew.ts"
import { bySeed } from "./seed.ts"
import type { Target } from "./targets.ts"
import { failureOf, open, type Substitutes } from "./tests.ts"

/** What became of a mutant. A timeout is as good as a failed test. */
export type Verdict = "caught" | "timed out" | "survived" | "unreached"

/** A mutant that was tried. */
export interface Trial {
  readonly mutant: Mutant
  readonly verdict: Verdict
  /** The test that failed, and how. */
  readonly failure?: string
}

/** What is to be examined. */
export interface Assignment {
  readonly files: ReadonlyArray<Target>
  readonly sample: number | undefined
  readonly seed: number
  readonly workers: number
}

/** What came of it. */
export interface Report {
  readonly trials: ReadonlyArray<Trial>
  /** Whether every mutant of every target was tried. */
  readonly whole: boolean
  /** The files, below the root, that were examined. */
  readonly files: ReadonlyArray<string>
  readonly seconds: number
}

/** A test file, with what it reaches. */
interface Reach {
  readonly path: string
  readonly reached: ReadonlySet<number>
  readonly milliseconds: number
}

/** Runs every test once over the unchanged code, each file by itself. What fails then says nothing about a mutant. */
const survey = async (substitutes: Substitutes, folder: string): Promise<ReadonlyArray<Reach>> => {
  const hits = join(folder, "hits")
  mkdirSync(hits)
  const vitest = await open(substitutes, "apart")
  vitest.provide("mutation", { active: 0, hits, limit: 0 })
  const { testModules } = await vitest.runTestSpecifications(await vitest.globTestSpecifications())
  const reached = new Map(
    readdirSync(hits).map((name): readonly [string, ReadonlySet<number>] => {
      const hit: { readonly file: string; readonly reached: ReadonlyArray<number> } = JSON.parse(
        readFileSync(join(hits, name), "utf8")
      )
      return [hit.file, new Set(hit.reached)]
    })
  )
  const reach = testModules.flatMap((module): ReadonlyArray<Reach> => {
    const failure = failureOf(module)
    if (failure !== undefined) {
      console.log(`left out, it fails without a mutant: ${failure}`)
      return []
    }
    const { collectDuration, duration } = module.diagnostic()
    const path = module.moduleId
    return [{ path, reached: reached.get(path) ?? new Set(), milliseconds: collectDuration + duration }]
  })
  await vitest.close()
  return reach.filter((one) => one.reached.size > 0)
}

const seconds = (since: number): number => (performance.now() - since) / 1000

/** Examines files, telling how far it is on standard output. */
export const examine = async ({ files, sample, seed, workers }: Assignment): Promise<Report> => {
  const started = performance.now()
  const folder = mkdtempSync(join(tmpdir(), "castellan-mutation-"))
  try {
    const mutants: Array<Mutant> = []
    const substitutes: Record<string, string> = {}
    for (const { file, source } of files) {
      const done = instrument(file, source, mutants.length + 1)
      if (done.mutants.length === 0) continue
      mutants.push(...done.mutants)
      const path = join(folder, file.replaceAll("/", "_"))
      writeFileSync(path, done.text)
      substitutes[join(root, file)] = path
    }
    const manifest = join(folder, "substitutes.json")
    writeFileSync(manifest, JSON.stringify(substitutes))
    console.log(`${mutants.length} mutants in ${Object.keys(substitutes).length} files`)

    const reach = await survey(substitutes, folder)
    console.log(`${reach.length} test files reach them (${seconds(started).toFixed(0)} s)`)
    const tried = sample === undefined ? mutants : bySeed(mutants, seed).slice(0, sample)
    const crew = await Crew.open(manifest, workers, new Map(reach.map((one) => [one.path, one.milliseconds])))
    const testsOf = (mutant: Mutant): ReadonlyArray<string> =>
      reach.filter((one) => one.reached.has(mutant.id)).map((one) => one.path)
    const trials = await Promise.all(
      tried.map(async (mutant): Promise<Trial> => {
        const tests = testsOf(mutant)
        if (tests.length === 0) return { mutant, verdict: "unreached" }
        const { failure, timedOut } = await crew.attempt(mutant, tests)
        if (timedOut) return { mutant, verdict: "timed out" }
        return failure === undefined ? { mutant, verdict: "survived" } : { mutant, verdict: "caught", failure }
      })
    )
    crew.close()
    return {
      trials,
      whole: sample === undefined,
      files: files.map(({ file }) => relative(root, join(root, file))),
      seconds: seconds(started)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
