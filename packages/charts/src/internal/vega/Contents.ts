/**
 * What a laid-out chart draws, counted: nothing at all is not a chart, and too much is not legible.
 */
import type { View } from "vega"
import type { Problem } from "../specification/Json.ts"

/** How much one chart draws at most. */
export const limits = {
  /** Bars, points, texts and other single shapes. */
  shapes: 5000,
  /** Points of lines and areas together. */
  points: 50_000,
  /** Small multiples. */
  plots: 150
} as const

interface Contents {
  readonly shapes: number
  readonly points: number
  readonly plots: number
}

/** What is wrong with the amount that a chart draws, if anything. */
export const check = (view: View): Problem | undefined => {
  const { plots, points, shapes } = count(property(view.scenegraph(), "root"))
  const amount = (value: number): string => value.toLocaleString("en-US")
  if (shapes > limits.shapes) {
    return problem(
      `the chart draws ${amount(shapes)} marks, at most ${amount(limits.shapes)} are legible: aggregate, bin or sample the data`
    )
  }
  if (points > limits.points) {
    return problem(
      `the lines have ${amount(points)} points, at most ${amount(limits.points)} are drawn: aggregate over longer times`
    )
  }
  if (plots > limits.plots) {
    return problem(
      `the chart is split into ${amount(plots)} plots, at most ${limits.plots} are drawn: filter to the most important ones`
    )
  }
  return shapes + points === 0
    ? problem(
        "the chart would be empty: no row has values for all of the fields that it shows, or the filters leave none"
      )
    : undefined
}

const problem = (message: string): Problem => ({ place: [], message })

/** Vega's typings know only part of its scene graph, so it is read property by property. */
const property = (node: unknown, key: string): unknown =>
  typeof node === "object" && node !== null ? Reflect.get(node, key) : undefined

const itemsOf = (node: unknown): ReadonlyArray<unknown> => {
  const items = property(node, "items")
  return Array.isArray(items) ? items : []
}

const lines: ReadonlySet<unknown> = new Set(["line", "area", "trail"])

/** Counts a mark and what is inside. Axes, legends and titles have other roles and do not count. */
const count = (mark: unknown): Contents => {
  const items = itemsOf(mark)
  const role = property(mark, "role")
  if (property(mark, "marktype") === "group") {
    const inside = items.flatMap(itemsOf).map(count)
    // Vega-Lite calls the group of one small multiple a cell; it makes other groups too, one for each line, say.
    const cells = String(property(mark, "name")).endsWith("cell") ? items.length : 0
    return inside.reduce<Contents>(sum, { shapes: 0, points: 0, plots: cells })
  }
  if (role !== "mark") return { shapes: 0, points: 0, plots: 0 }
  return lines.has(property(mark, "marktype"))
    ? { shapes: 0, points: items.length, plots: 0 }
    : { shapes: items.length, points: 0, plots: 0 }
}

const sum = (left: Contents, right: Contents): Contents => ({
  shapes: left.shapes + right.shapes,
  points: left.points + right.points,
  plots: left.plots + right.plots
})
