/**
 * A compiled chart, run to the end: what Vega laid out, as a scene that can be measured and written as SVG.
 */
import * as Result from "effect/Result"
import * as vega from "vega"
import { expressionInterpreter } from "vega-interpreter"
import { compile, type TopLevelSpec } from "vega-lite"
import type { Problem } from "../specification/Json.ts"
import * as Fonts from "../theme/Fonts.ts"

declare module "vega" {
  /** How Vega measures text. It is exported by `vega-scenegraph` but not declared by its typings. */
  export const textMetrics: { width: (item: TextItem, text: unknown) => number }
  /** Vega's source of random numbers, for jitter and samples. */
  export const setRandom: (random: () => number) => void
  /** A seeded source of random numbers. */
  export const randomLCG: (seed: number) => () => number

  interface TextItem {
    readonly fontSize?: number | null
    readonly fontWeight?: number | string
    readonly limit?: number
  }
}

/** A chart that was laid out. */
export interface Scene {
  readonly view: vega.View
  /** What Vega-Lite made of the specification. */
  readonly compiled: vega.Spec
  readonly close: () => void
}

/** Without a canvas Vega guesses widths at 0.8 em a letter, which leaves labels far from where they belong. */
vega.textMetrics.width = (item, text) => {
  const fontSize = item.fontSize ?? 11
  const line = text === null || text === undefined ? "" : String(text).trim()
  const natural = Fonts.width(line, fontSize, item.fontWeight)
  return item.limit !== undefined && item.limit > 0 ? Math.min(natural, item.limit) : natural
}

const refuse = (): Promise<never> => Promise.reject(new Error("a chart may not load anything"))

/** A loader that loads nothing. The specification was checked before; this is the second lock on the same door. */
const loader: vega.Loader = { load: refuse, sanitize: refuse, http: refuse, file: refuse }

/** Keeps what Vega would have written to a console. Its dataflow reports errors there instead of throwing them. */
const recorder = () => {
  const errors: Array<string> = []
  const logger: vega.LoggerInterface = {
    level: () => logger,
    error: (...messages) => {
      errors.push(messages.map(String).join(" "))
      return logger
    },
    warn: () => logger,
    info: () => logger,
    debug: () => logger
  }
  return { errors, logger }
}

const vegaProblem = (message: string): Problem => ({
  place: [],
  message: `Vega cannot draw this specification: ${message.replace(/^Error: /, "")}`
})

/** Compiles a specification and lays it out. The same specification gives the same scene, byte for byte. */
export const layOut = async (specification: TopLevelSpec): Promise<Result.Result<Scene, Problem>> => {
  const { errors, logger } = recorder()
  vega.resetSVGDefIds()
  vega.setRandom(vega.randomLCG(0.5))
  try {
    const compiled = compile(specification, { logger }).spec
    const runtime = vega.parse(compiled, undefined, { ast: true })
    const view = new vega.View(runtime, { expr: expressionInterpreter, loader, logger, renderer: "none" })
    await view.runAsync()
    const [error] = errors
    if (error === undefined) return Result.succeed({ view, compiled, close: () => view.finalize() })
    view.finalize()
    return Result.fail(vegaProblem(error))
  } catch (error) {
    // Vega and Vega-Lite throw on what they cannot compile, and that is the specification's fault.
    return Result.fail(vegaProblem(error instanceof Error ? error.message : String(error)))
  }
}
