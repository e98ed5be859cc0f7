/**
 * The switch in a test worker: it says which mutant is on, and notes which ones a test reaches. vitest loads this
 * before each test file, and so before the files under test.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, beforeEach, expect, inject, vi } from "vitest"
import { switchName } from "./instrument.ts"
import { progress } from "./progress.ts"
import type { Step } from "./tests.ts"

const { hits, steps } = inject("mutation")
const idle: Step = { id: 0, path: "", limit: 0 }
const { id: active, limit, names } = steps[progress.next++] ?? idle

// An earlier file has caught it: this one need not even be loaded.
if (active !== 0 && progress.caught === active) throw new Error("caught already")
// Every step begins with modules of its own, so that what is computed as they load is computed by the mutant.
if (hits === "") vi.resetModules()

/** What is reached outside of any test, when the file is loaded or a layer is built, counts for all of its tests. */
const outside = new Set<number>()
const byTest = new Map<string, Set<number>>()
let reached = outside

const started = performance.now()
let ticks = 0

/** What the instrumented files call. */
const mutationSwitch = {
  is:
    hits === ""
      ? (id: number): boolean => id === active
      : (id: number): boolean => {
          reached.add(id)
          return false
        },
  /** A loop that a mutant made endless ends here. */
  tick: (): void => {
    ticks++
    if (active !== 0 && ticks % 4096 === 0 && performance.now() - started > limit) {
      throw new Error("past the mutant's time limit")
    }
  }
}

Object.assign(globalThis, { [switchName]: mutationSwitch })

beforeEach((context) => {
  const name = expect.getState().currentTestName ?? ""
  if ((names !== undefined && !names.includes(name)) || (active !== 0 && progress.caught === active)) context.skip()
  context.onTestFailed(() => {
    progress.caught = active
  })
  reached = byTest.get(name) ?? new Set()
  byTest.set(name, reached)
})

afterEach(() => {
  reached = outside
})

afterAll(() => {
  if (hits === "") return
  const tests = [...byTest].map(([name, ids]) => ({ name, reached: [...ids] }))
  const file = expect.getState().testPath ?? ""
  writeFileSync(join(hits, `${encodeURIComponent(file)}.json`), JSON.stringify({ file, outside: [...outside], tests }))
})
