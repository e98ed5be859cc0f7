/**
 * Examines files: instruments them, sees which test files reach which mutants, and tries every mutant on both cores.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { root } from "../packages.ts"
import { instrument, type Mutant } from "./instrument.ts"
import { Crew } from "./crew.ts"
import { bySeed } from "./seed.ts"
import type { Target } from "./targets.ts"
import { loadedBy } from "./imports.ts"
import { notesIn, type Reach, reachOf } from "./reach.ts"
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
  /** Parts of the names of the test files that count; none: all of them do. */
  readonly tests: ReadonlyArray<string>
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

/** Runs the tests once over the unchanged code, each file by itself. What fails then says nothing about a mutant. */
const survey = async (
  substitutes: Substitutes,
  folder: string,
  within: ReadonlyArray<string>
): Promise<ReadonlyArray<Reach>> => {
  const hits = join(folder, "hits")
  mkdirSync(hits)
  const vitest = await open(substitutes, "apart")
  vitest.provide("mutation", { hits, steps: [] })
  const files = Object.keys(substitutes.paths)
  const specifications = (await vitest.globTestSpecifications([...within])).filter(({ moduleId }) => {
    const loaded = loadedBy(moduleId)
    return files.some((file) => loaded.has(file))
  })
  const { testModules } = await vitest.runTestSpecifications(specifications)
  const notes = new Map(readdirSync(hits).map((name) => notesIn(join(hits, name))))
  const reach = testModules.flatMap((module): ReadonlyArray<Reach> => {
    const failure = failureOf(module)
    if (failure !== undefined) {
      console.log(`left out, it fails without a mutant: ${failure}`)
      return []
    }
    const durations = new Map(
      [...module.children.allTests()].map((test) => [test.fullName, test.diagnostic()?.duration ?? 0])
    )
    return [reachOf(module.moduleId, notes.get(module.moduleId), durations)]
  })
  await vitest.close()
  return reach
}

const seconds = (since: number): number => (performance.now() - since) / 1000

/** Examines files, telling how far it is on standard output. */
export const examine = async ({ files, sample, seed, tests, workers }: Assignment): Promise<Report> => {
  const started = performance.now()
  const folder = mkdtempSync(join(tmpdir(), "castellan-mutation-"))
  try {
    const mutants: Array<Mutant> = []
    const paths: Record<string, string> = {}
    for (const { file, source } of files) {
      const done = instrument(file, source, mutants.length + 1)
      if (done.mutants.length === 0) continue
      mutants.push(...done.mutants)
      const path = join(folder, file.replaceAll("/", "_"))
      writeFileSync(path, done.text)
      paths[join(root, file)] = path
    }
    const substitutes: Substitutes = { paths, cache: join(folder, "cache") }
    const manifest = join(folder, "substitutes.json")
    writeFileSync(manifest, JSON.stringify(substitutes))
    console.log(`${mutants.length} mutants in ${Object.keys(paths).length} files`)

    const reach = await survey(substitutes, folder, tests)
    console.log(`${reach.length} test files (${seconds(started).toFixed(0)} s)`)
    const tried = sample === undefined ? mutants : bySeed(mutants, seed).slice(0, sample)
    const crew = await Crew.open(
      manifest,
      reach.map(({ path }) => path)
    )
    const attempts = tried.map(async (mutant): Promise<Trial> => {
      const touching = reach.flatMap((one) => one.of(mutant.id) ?? [])
      if (touching.length === 0) return { mutant, verdict: "unreached" }
      const { failure, timedOut } = await crew.attempt(mutant, touching)
      if (timedOut) return { mutant, verdict: "timed out" }
      return failure === undefined ? { mutant, verdict: "survived" } : { mutant, verdict: "caught", failure }
    })
    await crew.run(workers)
    const trials = await Promise.all(attempts)
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
