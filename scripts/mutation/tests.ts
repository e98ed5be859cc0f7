/**
 * The tests over the instrumented files, by vitest's own programming interface: a run costs a new thread and no new
 * process, and what was transformed once stays so.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { BaseSequencer, createVitest, type TestModule, type TestSpecification, type Vitest } from "vitest/node"
import { root } from "../packages.ts"

/** One test file to be run with one mutant on. */
export interface Step {
  /** The mutant that is on; 0 for none. */
  readonly id: number
  /** The file's absolute path. */
  readonly path: string
  /** The names of the only tests to run; absent: all of them. */
  readonly names?: ReadonlyArray<string>
  /** Milliseconds after which a loop gives up. */
  readonly limit: number
}

/** What a test worker is told. */
export interface Orders {
  /** The folder for what each test file reaches; empty when that is not asked. */
  readonly hits: string
  /** What is run, in this order, by one thread. */
  readonly steps: ReadonlyArray<Step>
}

declare module "vitest" {
  interface ProvidedContext {
    readonly mutation: Orders
  }
}

/** What stands in for source files while they are examined. */
export interface Substitutes {
  /** Where the instrumented text of each source file lies, both as absolute paths. */
  readonly paths: Readonly<Record<string, string>>
  /** The folder for what vitest has transformed. Its usual one must never hold an instrumented file. */
  readonly cache: string
}

/** Keeps the caller's order: it is the best guess of which file fails first. */
class Unsorted extends BaseSequencer {
  override sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return Promise.resolve(files)
  }
}

/** How the tests are run: each file by itself, to see what it reaches, or step by step in one thread. */
export type Manner = "apart" | "together"

/** A vitest that loads substitutes for some source files. */
export const open = (
  substitutes: Substitutes,
  manner: Manner,
  onEnd: (module: TestModule) => void = () => undefined
): Promise<Vitest> =>
  createVitest(
    "test",
    {
      root,
      config: false,
      watch: false,
      include: ["packages/core/test/**/*.test.ts"],
      // Tests of the tests' own speed have no place here.
      env: { CASTELLAN_MUTATION: "1" },
      fsModuleCachePath: substitutes.cache,
      pool: "threads",
      isolate: manner === "apart",
      maxWorkers: manner === "apart" ? 2 : 1,
      sequence: { sequencer: Unsorted },
      testTimeout: 30_000,
      hookTimeout: 30_000,
      setupFiles: [join(import.meta.dirname, "switch.ts")],
      reporters: [{ onTestModuleEnd: onEnd }],
      silent: true,
      provide: { mutation: { hits: "", steps: [] } }
    },
    {
      plugins: [
        {
          name: "castellan-mutation",
          enforce: "pre",
          load: (id: string) => {
            const substitute = substitutes.paths[id]
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
