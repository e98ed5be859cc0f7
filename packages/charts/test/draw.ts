/**
 * Opens the specifications that the renderer hands out as anyone else would, in plain Vega under the time zone of this
 * process, and writes to the output what is to be read in each picture. It is a program of its own so that a test can
 * start it under another time zone.
 */
import * as VegaRenderer from "@castellan/charts/vega/VegaRenderer"
import { ChartRenderer } from "@castellan/core/asset/ChartRenderer"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import * as vega from "vega"
import { compile } from "vega-lite"
import * as Drawing from "./Drawing.ts"
import { examples } from "./Gallery.ts"

const names = new Set(process.argv.slice(2))

const opened = async (specification: string): Promise<string> => {
  const view = new vega.View(vega.parse(compile(JSON.parse(specification)).spec), { renderer: "none" })
  const svg = await view.toSVG()
  view.finalize()
  return svg
}

const draw = Effect.gen(function* () {
  const charts = yield* ChartRenderer
  for (const { data, name, specification } of examples.filter((each) => names.has(each.name))) {
    const chart = yield* charts.render(specification, data)
    const svg = yield* Effect.promise(() => opened(chart.specification))
    const line = {
      name,
      drawn: createHash("sha256").update(chart.svg).update(chart.png).update(chart.specification).digest("hex"),
      opened: createHash("sha256").update(svg).digest("hex"),
      texts: Drawing.read(svg).texts.map(({ text }) => text)
    }
    process.stdout.write(`${JSON.stringify(line)}\n`)
  }
})

await Effect.runPromise(Effect.provide(draw, VegaRenderer.layerWith({ timeLimit: "100 seconds" })))
