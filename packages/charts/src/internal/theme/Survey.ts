/**
 * What a first layout of a chart found out: which values its scales really cover, after all transforms, aggregates and
 * stacks. The house style is decided on these facts, not on guesses about the data.
 */
import type { View } from "vega"
import type { Json } from "../specification/Json.ts"

/** A range of numbers. */
export interface Quantitative {
  readonly kind: "quantitative"
  readonly low: number
  readonly high: number
  readonly logarithmic: boolean
}

/** A range of moments, in milliseconds. */
export interface Temporal {
  readonly kind: "temporal"
  readonly low: number
  readonly high: number
  /** The ticks that Vega would set, about so many. */
  readonly ticks: (count: number) => ReadonlyArray<number>
}

/** Categories in their order. */
export interface Discrete {
  readonly kind: "discrete"
  readonly values: ReadonlyArray<Json>
}

/** What one scale covers. */
export type Extent = Quantitative | Temporal | Discrete

/** Looks up what the scale of a channel covers. The names of views lead to it, from the outermost to the innermost. */
export interface Survey {
  readonly extent: (channel: string, views: ReadonlyArray<string>) => Extent | undefined
}

/** The part of Vega's scales that is read here. */
interface Scale {
  readonly type: string
  readonly domain: () => ReadonlyArray<Json | Date>
  readonly ticks?: (count: number) => ReadonlyArray<number | Date>
}

/** Reads the scales of a chart that was laid out. */
export const of = (view: View, names: ReadonlySet<string>): Survey => ({
  extent: (channel, views) => {
    // A scale belongs to the innermost view that does not share it; Vega-Lite puts the names of the views before it.
    for (let depth = views.length; depth >= 0; depth--) {
      const name = [...views.slice(0, depth), channel].join("_")
      if (names.has(name)) return read(view.scale(name))
    }
    return undefined
  }
})

const read = (scale: Scale): Extent | undefined => {
  const domain = scale.domain()
  switch (scale.type) {
    case "band":
    case "point":
    case "ordinal":
      return { kind: "discrete", values: domain.map((value) => (value instanceof Date ? value.getTime() : value)) }
    case "utc":
    case "time": {
      const { high, low } = ends(domain)
      return { kind: "temporal", low, high, ticks: (count) => (scale.ticks?.(count) ?? []).map(Number) }
    }
    case "sequential-linear":
    case "sequential-log":
    case "linear":
    case "log":
    case "pow":
    case "sqrt":
    case "symlog":
      return { kind: "quantitative", ...ends(domain), logarithmic: scale.type.endsWith("log") }
    default:
      return undefined
  }
}

const ends = (domain: ReadonlyArray<Json | Date>): { readonly low: number; readonly high: number } => {
  const numbers = domain.map(Number).filter(Number.isFinite)
  return numbers.length === 0 ? { low: 0, high: 0 } : { low: Math.min(...numbers), high: Math.max(...numbers) }
}
