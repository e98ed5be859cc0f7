/**
 * The decisions that a designer takes when the data is on the table: how large the picture is, how labels stand, how
 * numbers and days are written, where the legend goes.
 *
 * Whatever the author of the specification decided stands; only what is open is filled in.
 */
import {
  arrayAt,
  at,
  isArray,
  isObject,
  numberAt,
  objectAt,
  textAt,
  type Json,
  type JsonObject
} from "../specification/Json.ts"
import * as Axes from "./Axes.ts"
import type { Rows } from "./Rows.ts"
import * as Fonts from "./Fonts.ts"
import * as Legends from "./Legends.ts"
import * as Palette from "./Palette.ts"
import * as Plots from "./Plots.ts"
import * as Room from "./Room.ts"
import * as Sizes from "./Sizes.ts"
import type { Survey } from "./Survey.ts"
import * as Theme from "./Theme.ts"

/** Typesets a dressed specification. A result that a limit cut short says so: the chart would be taken for the whole. */
export const typeset = (specification: JsonObject, survey: Survey, rows: Rows, truncated: boolean): JsonObject => ({
  ...arrange(specification, Room.whole, [], { survey, rows }),
  ...heading(
    specification,
    truncated ? `Only the first ${rows.length.toLocaleString("en-US")} rows of the result` : undefined
  )
})

/** The title over the chart, broken into lines that fit above it. */
const heading = (specification: JsonObject, note: string | undefined): JsonObject => {
  const title = at(specification, "title")
  const written = typeof title === "string" || isArray(title) ? { text: title } : title
  if (!isObject(written)) {
    const quiet = { fontSize: Theme.size.subtitle, fontWeight: 400, color: Palette.ink.label }
    return note === undefined ? {} : { title: { text: note, ...quiet } }
  }
  const broken = (text: Json | undefined, size: number, weight: number): Json | undefined => {
    if (typeof text !== "string") return text
    const lines = Fonts.lines(text, Room.pictureWidth - Room.margins, size, weight)
    return lines.length < 2 ? text : lines
  }
  const text = broken(at(written, "text"), Theme.size.title, 600)
  const subtitle = broken(at(written, "subtitle"), Theme.size.subtitle, 400)
  return {
    title: {
      ...written,
      ...(text === undefined ? {} : { text }),
      ...(subtitle === undefined && note === undefined
        ? {}
        : { subtitle: [subtitle ?? [], note ?? []].flat().filter((line) => typeof line === "string") })
    }
  }
}

/** A view in its room: a plot, small multiples of one, or several side by side. */
const arrange = (view: JsonObject, room: Room.Room, views: ReadonlyArray<string>, facts: Room.Facts): JsonObject => {
  const spec = at(view, "spec")
  if (Plots.isFaceted(view) && isObject(spec)) return faceted(view, spec, room, views, facts)
  for (const key of ["concat", "hconcat", "vconcat"]) {
    if (Object.hasOwn(view, key)) return sideBySide(view, key, room, views, facts)
  }
  return plotIn(view, room, views, facts)
}

const sideBySide = (
  view: JsonObject,
  key: string,
  room: Room.Room,
  views: ReadonlyArray<string>,
  facts: Room.Facts
): JsonObject => {
  const children = arrayAt(view, key)
  const most =
    key === "vconcat"
      ? 1
      : key === "hconcat"
        ? children.length
        : (numberAt(view, "columns") ?? Room.wrap(children.length))
  const columns = Math.max(1, Math.min(most, children.length))
  const inner = Room.beside(room, columns)
  return {
    spacing: 28,
    ...view,
    ...(key === "concat" ? { columns } : {}),
    [key]: children.map((child, index) =>
      isObject(child) ? subtitled(arrange(child, inner, [...views, `concat_${index}`], facts)) : child
    )
  }
}

/** The title of one of several plots stands back behind the title of them all. */
const subtitled = (view: JsonObject): JsonObject => {
  const title = at(view, "title")
  const written = typeof title === "string" || isArray(title) ? { text: title } : title
  return isObject(written) ? { ...view, title: { fontSize: Theme.size.plotTitle, offset: 10, ...written } } : view
}

const faceted = (
  view: JsonObject,
  spec: JsonObject,
  room: Room.Room,
  views: ReadonlyArray<string>,
  facts: Room.Facts
): JsonObject => {
  const facet = objectAt(view, "facet")
  const count = (definition: JsonObject): number => Room.distinct(facts.rows, definition)
  const wrapped = Object.hasOwn(facet, "field")
  const columns = wrapped
    ? (numberAt(view, "columns") ?? Room.wrap(count(facet)))
    : Math.max(1, count(objectAt(facet, "column")))
  return {
    spacing: 22,
    ...view,
    ...(wrapped ? { columns } : {}),
    spec: arrange(spec, Room.multiple(room, columns), views, facts)
  }
}

const plotIn = (plot: JsonObject, whole: Room.Room, views: ReadonlyArray<string>, facts: Room.Facts): JsonObject => {
  const layers = Plots.layersOf(plot)
  const split = splitBy(layers, facts.rows)
  const room = split === undefined ? whole : Room.multiple(whole, split)
  const resolved = textAt(objectAt(objectAt(plot, "resolve"), "scale"), "y") === "independent"
  const legend = Legends.of(layers, room, views, facts)

  const size = Sizes.of(plot, layers, room, views, facts, legend.width)
  const written = Plots.mapEncodings(
    plot,
    (encoding, where) =>
      Plots.mapDefinitions(encoding, (channel, definition) => {
        if (!Plots.isShown(definition)) return definition
        if (channel === "x" || channel === "y") {
          return Axes.set(channel, definition, where, { facts, size, layers, views, small: room.faceted, resolved })
        }
        const repeats = layers.some((layer) => Legends.repeatsAxis(definition, layer))
        if (Legends.channels.has(channel) && repeats) return { legend: null, ...definition }
        return Legends.channels.has(channel)
          ? Legends.set(channel, definition, where.views, facts, legend.properties)
          : definition
      }),
    views
  )
  const wrapped = at(objectAt(plot, "encoding"), "facet") === undefined || split === undefined ? {} : { columns: split }
  return { ...written, ...size.properties, ...columnsOfFacet(written, wrapped) }
}

/** Puts the number of columns where a wrapped facet channel has it. */
const columnsOfFacet = (plot: JsonObject, wrapped: JsonObject): JsonObject => {
  const encoding = objectAt(plot, "encoding")
  const facet = at(encoding, "facet")
  return isObject(facet) ? { encoding: { ...encoding, facet: { ...wrapped, spacing: 22, ...facet } } } : {}
}

/** How many columns the facet channels of a plot split it into. */
const splitBy = (layers: ReadonlyArray<Plots.Layer>, rows: Rows): number | undefined => {
  const encoding = layers[0]?.encoding ?? {}
  const [facet] = Plots.definitionsOf(encoding, "facet")
  const [column] = Plots.definitionsOf(encoding, "column")
  if (facet !== undefined) return numberAt(facet, "columns") ?? Room.wrap(Room.distinct(rows, facet))
  if (column !== undefined) return Room.distinct(rows, column)
  return Plots.definitionsOf(encoding, "row").length > 0 ? 1 : undefined
}
