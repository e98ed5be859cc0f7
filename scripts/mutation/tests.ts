/**
 * The tests over the instrumented files, by vitest's own programming interface: a run costs a new thread and no new
 * process, and what was transformed once stays so.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { BaseSequencer, createVitest, type TestModule, type TestSpecification, type Vitest } from "vitest/node"
import { root } from "../packages.ts"

/** What a test worker is told. */
export interface Orders {
  /** The mutant that is on; 0 for none. */
  readonly active: number
  /** The folder for what each test file reaches; empty when that is not asked. */
  readonly hits: string
  /** Milliseconds after which a loop gives up. */
  readonly limit: number
}

declare module "vitest" {
  interface ProvidedContext {
    readonly mutation: Orders
  }
}

/** Where the instrumented text of each source file lies, both as absolute paths. */
export type Substitutes = Readonly<Record<string, string>>

/** Keeps the caller's order: it is the best guess of which file fails first. */
class Unsorted extends BaseSequencer {
  override sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return Promise.resolve(files)
  }
}

/** How the tests are run: each file by itself to see what it reaches, or all in one thread until the first failure. */
export type Manner = "apart" | "together"

/** A vitest that loads substitutes for some source files. */
export const open = (substitutes: Substitutes, manner: Manner): Promise<Vitest> =>
  createVitest(
    "test",
    {
      root,
      config: false,
      watch: false,
      include: ["packages/core/test/**/*.test.ts"],
      // Tests of the tests' own speed have no place here.
      env: { CASTELLAN_MUTATION: "1" },
      pool: "threads",
      isolate: manner === "apart",
      maxWorkers: manner === "apart" ? 2 : 1,
      bail: manner === "apart" ? 0 : 1,
      sequence: { sequencer: Unsorted },
      testTimeout: 30_000,
      hookTimeout: 30_000,
      setupFiles: [join(import.meta.dirname, "switch.ts")],
      reporters: [{}],
      silent: true,
      provide: { mutation: { active: 0, hits: "", limit: 0 } }
    },
    {
      plugins: [
        {
          name: "castellan-mutation",
          enforce: "pre",
          load: (id: string) => {
            const substitute = substitutes[id]
            return substitute === undefined ? undefined : readFileSync(substitute, "utf8")
          }
        }
      ]
    }
  )

/** The first line of what went wrong in a test file, nothing when it passed. */
export const failureOf = (module: TestModule): string | undefined => {
  if (module.ok()) return undefined
  const failed = [...module.children.allTests("failed")].at(0)
  const message = failed?.result().errors?.[0]?.message ?? module.errors()[0]?.message ?? module.state()
  return `${failed?.fullName ?? module.relativeModuleId}: ${message.split("\n")[0] ?? ""}`
}
