/**
 * The switch in a test worker: it says which mutant is on, and notes which ones a test file reaches. vitest loads this
 * before each test file, and so before the files under test.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, expect, inject } from "vitest"
import { switchName } from "./instrument.ts"

const { active, hits, limit } = inject("mutation")

const reached = new Set<number>()
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

afterAll(() => {
  if (hits === "") return
  const file = expect.getState().testPath ?? ""
  writeFileSync(join(hits, `${encodeURIComponent(file)}.json`), JSON.stringify({ file, reached: [...reached] }))
})
