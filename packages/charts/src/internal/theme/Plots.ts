/**
 * The plots of a specification (each a pair of axes and what is drawn between them), and how to rewrite them.
 */
import { at, isArray, isObject, objectAt, textAt, type Json, type JsonObject } from "../specification/Json.ts"

/** One layer of a plot: a mark and its encoding, with what it shares with the layers around it. */
export interface Layer {
  /** `bar`, `line`, … */
  readonly mark: string
  /** Its own encoding on top of the shared one. */
  readonly encoding: JsonObject
}

/** Whether a view puts other views beside one another instead of drawing itself. */
export const isArrangement = (view: JsonObject): boolean =>
  ["concat", "hconcat", "vconcat"].some((key) => Object.hasOwn(view, key))

/** Whether a view splits another view into small multiples. */
export const isFaceted = (view: JsonObject): boolean => Object.hasOwn(view, "facet") && Object.hasOwn(view, "spec")

/** The name of a view's mark. */
export const markOf = (view: JsonObject): string | undefined => {
  const mark = at(view, "mark")
  return typeof mark === "string" ? mark : textAt(mark, "type")
}

/** The layers of a plot, bottom first. */
export const layersOf = (plot: JsonObject, shared: JsonObject = {}): ReadonlyArray<Layer> => {
  const encoding = { ...shared, ...objectAt(plot, "encoding") }
  const layer = at(plot, "layer")
  if (isArray(layer)) return layer.flatMap((each) => (isObject(each) ? layersOf(each, encoding) : []))
  const mark = markOf(plot)
  return mark === undefined ? [] : [{ mark, encoding }]
}

/** The definitions of a channel: one, or several for channels that take a list. */
export const definitionsOf = (encoding: JsonObject, channel: string): ReadonlyArray<JsonObject> => {
  const definition = at(encoding, channel)
  if (isArray(definition)) return definition.filter(isObject)
  return isObject(definition) ? [definition] : []
}

/** The first definition of a channel in a plot, and the layer it is in. */
export const firstOf = (
  layers: ReadonlyArray<Layer>,
  channel: string
): { readonly layer: Layer; readonly definition: JsonObject } | undefined => {
  for (const layer of layers) {
    const [definition] = definitionsOf(layer.encoding, channel)
    if (definition !== undefined && isShown(definition)) return { layer, definition }
  }
  return undefined
}

/** Whether a definition shows data, in contrast to a fixed value. */
export const isShown = (definition: JsonObject): boolean =>
  Object.hasOwn(definition, "field") || Object.hasOwn(definition, "aggregate")

/** The axis along which bars and areas reach: the one of the two that is not their place. */
export const lengthOf = (encoding: JsonObject): "x" | "y" => {
  const [x] = definitionsOf(encoding, "x")
  const [y] = definitionsOf(encoding, "y")
  const isMeasure = (definition: JsonObject | undefined): boolean =>
    definition !== undefined && textAt(definition, "type") === "quantitative" && !Object.hasOwn(definition, "bin")
  if (isMeasure(x) !== isMeasure(y)) return isMeasure(x) ? "x" : "y"
  return Object.hasOwn(x ?? {}, "aggregate") && !Object.hasOwn(y ?? {}, "aggregate") ? "x" : "y"
}

/** How the parts of a specification are rewritten. */
export interface Rewrite {
  /** A view that draws: a unit, or a layer of units. */
  readonly plot: (plot: JsonObject) => JsonObject
  /** What small multiples are split by. */
  readonly facet: (definition: JsonObject) => JsonObject
}

/** Rewrites every view that draws, wherever it is. */
export const mapPlots = (view: JsonObject, rewrite: Rewrite): JsonObject => {
  if (!isArrangement(view) && !Object.hasOwn(view, "spec")) return rewrite.plot(view)
  return Object.fromEntries(
    Object.entries(view).map(([key, inner]): [string, Json] => {
      if (key === "spec" && isObject(inner)) return [key, mapPlots(inner, rewrite)]
      if (key === "facet" && isObject(inner)) {
        const both = mapDefinitions(inner, (_, definition) => rewrite.facet(definition))
        return [key, Object.hasOwn(inner, "field") ? rewrite.facet(inner) : both]
      }
      return ["concat", "hconcat", "vconcat"].includes(key) && isArray(inner)
        ? [key, inner.map((each) => (isObject(each) ? mapPlots(each, rewrite) : each))]
        : [key, inner]
    })
  )
}

/** What is known where an encoding stands. */
export interface Where {
  /** The mark that it belongs to; for a shared encoding the first mark below. */
  readonly mark: string
  /** The names that Vega-Lite gives to the layers around it. */
  readonly views: ReadonlyArray<string>
}

/** Rewrites the encodings of a plot, own and shared ones. */
export const mapEncodings = (
  plot: JsonObject,
  rewrite: (encoding: JsonObject, where: Where) => JsonObject,
  views: ReadonlyArray<string> = []
): JsonObject => {
  const layer = at(plot, "layer")
  const encoding = at(plot, "encoding")
  const mark = layersOf(plot)[0]?.mark ?? ""
  return {
    ...plot,
    ...(isObject(encoding) ? { encoding: rewrite(encoding, { mark, views }) } : {}),
    ...(isArray(layer)
      ? {
          layer: layer.map((each, index) =>
            isObject(each) ? mapEncodings(each, rewrite, [...views, `layer_${index}`]) : each
          )
        }
      : {})
  }
}

/** Rewrites each definition of an encoding. */
export const mapDefinitions = (
  encoding: JsonObject,
  rewrite: (channel: string, definition: JsonObject) => JsonObject
): JsonObject =>
  Object.fromEntries(
    Object.entries(encoding).map(([channel, definition]): [string, Json] => {
      if (isArray(definition))
        return [channel, definition.map((each) => (isObject(each) ? rewrite(channel, each) : each))]
      return [channel, isObject(definition) ? rewrite(channel, definition) : definition]
    })
  )
