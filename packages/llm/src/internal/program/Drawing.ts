/**
 * How programs draw: with matplotlib where the sandbox has it, else as a Vega-Lite specification that the host draws.
 * Both look like the analyst's other charts: few lines, one accent, titles that say what is shown.
 */
import { literal } from "./Python.ts"

/** Colours of the charts' theme. */
export const colours = {
  accent: "#2f6fde",
  contrast: "#e7811d",
  text: "#3d4a5a",
  label: "#5c6878",
  grid: "#e8ecf1",
  /** From negative through none to positive. */
  diverging: ["#a94f10", "#e5853a", "#f7c08a", "#f4f6f8", "#9cc0ea", "#4f86cf", "#1f4e99"]
} as const

/** The beginning of a program that draws with matplotlib. */
export const matplotlib = `
import matplotlib.pyplot as plt

plt.rcParams.update({
    "figure.dpi": 150, "savefig.dpi": 150, "figure.facecolor": "white",
    "figure.constrained_layout.use": True, "figure.constrained_layout.h_pad": 0.12, "figure.constrained_layout.w_pad": 0.12,
    "font.family": "DejaVu Sans", "font.size": 10, "text.color": ${literal(colours.text)},
    "axes.titlesize": 13, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titlepad": 12,
    "axes.titlecolor": "#14202e", "axes.labelcolor": ${literal(colours.label)}, "axes.edgecolor": "#9aa5b3",
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "axes.grid": True, "grid.color": ${literal(colours.grid)}, "grid.linewidth": 0.9,
    "xtick.color": ${literal(colours.label)}, "ytick.color": ${literal(colours.label)},
    "legend.frameon": False, "axes.formatter.useoffset": False,
})


def short(value):
    """A number as a reader takes it in at a glance: 1,250, 25M."""
    for size, sign in ((1e9, "B"), (1e6, "M")):
        if abs(value) >= size:
            return f"{value / size:,.4g}{sign}".replace("-", "\u2212")
    return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.4g}").replace("-", "\u2212")


glance = matplotlib.ticker.FuncFormatter(lambda value, _: short(value))
`

/** A chart that the host draws. */
export const vega = (specification: string): string => `
import castellan

castellan.chart(${specification.trim()})
`

/** A title that does not run out of its figure. */
export const wrapped = (title: string): string => `"\\n".join(__import__("textwrap").wrap(${literal(title)}, 74))`

/** What an axis shows, with its unit. */
export const axis = (label: string, unit: string | undefined): string =>
  unit === undefined || label.includes(unit) ? label : `${label} (${unit})`
