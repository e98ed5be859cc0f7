/**
 * The house style of charts, as a Vega-Lite configuration: quiet axes, a light grid, one typeface, room to breathe.
 *
 * Only what every chart shares is here. What depends on the data (the format of an axis, the angle of labels, the size
 * of the picture) is decided by `Typesetting.ts` when the data is known.
 */
import type { JsonObject } from "../specification/Json.ts"
import * as Palette from "./Palette.ts"

/** The typeface, and what a reader's browser may take instead. */
export const font = "Inter, -apple-system, BlinkMacSystemFont, Segoe UI, Helvetica, Arial, sans-serif"

/** Text sizes in pixels. */
export const size = { title: 16, plotTitle: 13, subtitle: 12.5, label: 11.5, axisTitle: 11.5, legend: 11.5 } as const

/** The widest that a label of a category may be, in pixels; a longer one is cut. */
export const longestLabel = 240

/** The configuration. */
export const config: JsonObject = {
  background: Palette.ink.surface,
  padding: { left: 20, top: 18, right: 24, bottom: 18 },
  font,
  customFormatTypes: true,
  view: { stroke: null, continuousWidth: 640, continuousHeight: 340, discreteWidth: 640, discreteHeight: 340 },
  title: {
    anchor: "start",
    frame: "bounds",
    color: Palette.ink.title,
    fontSize: size.title,
    fontWeight: 600,
    lineHeight: 21,
    offset: 16,
    subtitleColor: Palette.ink.label,
    subtitleFontSize: size.subtitle,
    subtitleFontWeight: 400,
    subtitleLineHeight: 18,
    subtitlePadding: 5
  },
  axis: {
    domainColor: Palette.ink.axis,
    gridColor: Palette.ink.grid,
    labelColor: Palette.ink.label,
    labelFontSize: size.label,
    labelPadding: 6,
    tickColor: Palette.ink.axis,
    tickSize: 4,
    titleColor: Palette.ink.text,
    titleFontSize: size.axisTitle,
    titleFontWeight: 500,
    titlePadding: 10,
    labelLimit: longestLabel
  },
  axisX: { grid: false, labelFlush: false, labelSeparation: 8 },
  axisY: { domain: false, ticks: false, labelPadding: 8 },
  axisBand: { ticks: false, grid: false },
  axisQuantitative: { grid: true, domain: false, ticks: false },
  axisTemporal: { grid: false },
  legend: {
    labelColor: Palette.ink.text,
    labelFontSize: size.legend,
    labelLimit: 220,
    symbolStrokeWidth: 2,
    symbolType: "circle",
    // Legends above a chart begin where its title begins, left of the axis.
    layout: {
      expr: "{ offset: 18, anchor: 'start', direction: 'vertical', margin: 16, top: { frame: 'bounds', direction: 'horizontal', center: true, margin: 8 } }"
    },
    symbolSize: 80,
    titleColor: Palette.ink.label,
    titleFontSize: size.legend,
    titleFontWeight: 500,
    gradientThickness: 10,
    gradientLength: 160
  },
  header: {
    labelAnchor: "start",
    labelColor: Palette.ink.text,
    labelFontSize: 12,
    labelFontWeight: 600,
    titleColor: Palette.ink.label,
    titleFontSize: size.axisTitle,
    titleFontWeight: 500
  },
  headerRow: { labelAnchor: "middle" },
  range: {
    category: [...Palette.categorical],
    ordinal: [...Palette.sequential],
    ramp: [...Palette.sequential],
    heatmap: [...Palette.sequential],
    diverging: [...Palette.diverging]
  },
  bar: {
    color: Palette.categorical[0] ?? "",

    discreteBandSize: { band: 0.72 },
    timeUnitBandSize: 0.8
  },
  line: { strokeWidth: 2.25, strokeCap: "round", strokeJoin: "round" },
  area: { fillOpacity: 0.9 },
  point: { filled: true, size: 46, opacity: 0.75 },
  circle: { size: 46, opacity: 0.75 },
  text: { color: Palette.ink.text, fontSize: size.label },
  rule: { color: Palette.ink.label },
  boxplot: { size: 30, median: { color: Palette.ink.surface, strokeWidth: 2 } },
  mark: { color: Palette.categorical[0] ?? "" },
  arc: { innerRadius: 70, stroke: Palette.ink.surface, strokeWidth: 1.5 }
}

/**
 * The configuration of the first layout, which only measures: scales cover their data and no more, so that it can be
 * decided whether they should.
 */
export const measuring: JsonObject = { ...config, scale: { zero: false } }
