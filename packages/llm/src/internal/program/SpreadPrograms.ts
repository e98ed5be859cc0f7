/**
 * Programs over the values of one number, each with how many rows have it: how they are distributed, and which lie far
 * from all others.
 */
import { axis, colours, matplotlib, vega, wrapped } from "./Drawing.ts"
import { lines, literal } from "./Python.ts"

/** What is drawn and how it is called. */
export interface SpreadNames {
  readonly result: string
  readonly title: string
  /** The number, and its unit. */
  readonly label: string
  readonly unit: string | undefined
}

const figures = (result: string): string => `
import json
import math

pairs = sorted((float(value), int(rows)) for value, rows in zip(${result}["value_"], ${result}["rows_"]))
total = sum(rows for _, rows in pairs)
mean = math.fsum(value * rows for value, rows in pairs) / total
moment = lambda power: math.fsum(rows * (value - mean) ** power for value, rows in pairs) / total
spread = moment(2)
deviation = math.sqrt(spread * total / (total - 1)) if total > 1 else None
skewness = moment(3) / spread ** 1.5 if spread > 0 else None


def value_at(place):
    """The value at a place in the order of all rows, counted from 0."""
    for value, rows in pairs:
        if place < rows:
            return value
        place -= rows
    return pairs[-1][0]


def quantile(share):
    """The value that this share of the rows does not exceed, interpolated between two neighbours."""
    place = (total - 1) * share
    low, part = int(place), place - int(place)
    return value_at(low) + part * (value_at(min(low + 1, total - 1)) - value_at(low))


quantiles = {share: quantile(share) for share in (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)}
quarter, median, three_quarters = quantiles[0.25], quantiles[0.5], quantiles[0.75]
`

/** Bars of equal width over a part of the values; whole numbers are never split. */
const bars = `
whole = all(value.is_integer() for value, _ in pairs)
shown = [(value, rows) for value, rows in pairs if start <= value <= end]
width = (end - start) / 40 or 1
if whole:
    width = max(1, math.ceil(width))
    start = math.floor(start)
heights = {}
for value, rows in shown:
    place = math.floor((value - start) / width)
    heights[place] = heights.get(place, 0) + rows
bars = [(start + place * width, heights.get(place, 0)) for place in range(max(heights) + 1)]
beyond = total - sum(rows for _, rows in shown)
`

const distributionFigure = (names: SpreadNames): string => `
figure, axes = plt.subplots(figsize=(9, 5))
axes.bar([low for low, _ in bars], [rows for _, rows in bars], width=width * 0.94, align="edge", color=${literal(colours.accent)})
axes.set_title(${wrapped(names.title)})
axes.set_xlabel(${literal(axis(names.label, names.unit))} + (f"; {beyond:,} records lie beyond the range shown" if beyond else ""))
axes.set_ylabel("Records")
axes.xaxis.set_major_formatter(glance)
axes.yaxis.set_major_formatter(glance)
axes.grid(axis="x", visible=False)
axes.axvspan(quarter, three_quarters, color=${literal(colours.contrast)}, alpha=0.14, lw=0, zorder=0, label=f"middle half: {short(quarter)} to {short(three_quarters)}")
axes.axvline(median, color=${literal(colours.contrast)}, lw=2, label=f"median: {short(median)}")
axes.axvline(mean, color="#254261", lw=1.6, ls=(0, (4, 2)), label=f"mean: {short(mean)}")
axes.legend(loc="upper right" if skewness is None or skewness > -0.5 else "upper left")
`

const distributionVega = (names: SpreadNames): string =>
  vega(`{
    "title": ${literal(names.title)},
    "data": {"values": [{"from": low, "to": low + width, "records": rows} for low, rows in bars]},
    "layer": [
        {"mark": {"type": "bar", "color": ${literal(colours.accent)}}, "encoding": {
            "x": {"field": "from", "type": "quantitative", "bin": {"binned": True}, "title": ${literal(axis(names.label, names.unit))}},
            "x2": {"field": "to"},
            "y": {"field": "records", "type": "quantitative", "title": "Records"}}},
        {"mark": {"type": "rule", "color": ${literal(colours.contrast)}, "strokeWidth": 2},
         "encoding": {"x": {"datum": median, "type": "quantitative"}}},
    ],
}`)

/** How the values of one number are distributed: their middle, their spread, their lean, their quantiles. */
export const distribution = (names: SpreadNames, packages: ReadonlySet<string>): string => {
  const drawn = packages.has("matplotlib")
  return lines(
    figures(names.result),
    `
# A long tail does not squeeze all others together: what lies beyond is said.
start, end = pairs[0][0], pairs[-1][0]
if end - start > 1.6 * (quantiles[0.99] - quantiles[0.01]) > 0:
    start, end = quantiles[0.01], quantiles[0.99]
`,
    bars,
    drawn ? `import matplotlib\n${matplotlib.trimStart()}` : undefined,
    drawn ? distributionFigure(names) : distributionVega(names),
    `
print(json.dumps({
    "rows": total, "mean": mean, "deviation": deviation, "skewness": skewness,
    "lowest": pairs[0][0], "highest": pairs[-1][0],
    "quantiles": [{"share": share, "value": value} for share, value in quantiles.items()],
}))
`
  )
}

const outliersFigure = (names: SpreadNames): string => `
figure, axes = plt.subplots(figsize=(9, 5))
for_outliers = lambda low: low + width <= lower or low >= upper
for outlying, colour, label in ((False, ${literal(colours.accent)}, "within the fences"), (True, ${literal(colours.contrast)}, f"outliers: {below + above:,}")):
    some = [(low, rows) for low, rows in bars if for_outliers(low) == outlying]
    axes.bar([low for low, _ in some], [rows for _, rows in some], width=width * 0.94, align="edge", color=colour, label=label)
for fence in (lower, upper):
    if start <= fence <= end:
        axes.axvline(fence, color="#254261", lw=1.4, ls=(0, (4, 2)))
axes.set_yscale("log")
axes.set_title(${wrapped(names.title)})
axes.set_xlabel(${literal(axis(names.label, names.unit))})
axes.set_ylabel("Records (logarithmic)")
axes.xaxis.set_major_formatter(glance)
axes.yaxis.set_major_formatter(glance)
axes.grid(axis="x", visible=False)
axes.legend(loc="upper right")
`

const outliersVega = (names: SpreadNames): string =>
  vega(`{
    "title": ${literal(names.title)},
    "data": {"values": [
        {"from": low, "to": low + width, "records": rows, "base": 0.7, "kind": "outlier" if low + width <= lower or low >= upper else "within the fences"}
        for low, rows in bars if rows > 0]},
    "mark": "bar",
    "encoding": {
        "x": {"field": "from", "type": "quantitative", "bin": {"binned": True}, "title": ${literal(axis(names.label, names.unit))}},
        "x2": {"field": "to"},
        "y": {"field": "records", "type": "quantitative", "scale": {"type": "log", "domainMin": 0.7, "nice": False}, "title": "Records (logarithmic)"},
        "y2": {"field": "base"},
        "color": {"field": "kind", "type": "nominal", "title": None, "scale": {"domain": ["within the fences", "outlier"], "range": [${literal(colours.accent)}, ${literal(colours.contrast)}]}}},
}`)

/** Which values lie beyond one and a half times the middle half's width from it (Tukey's fences). */
export const outliers = (names: SpreadNames, packages: ReadonlySet<string>): string => {
  const drawn = packages.has("matplotlib")
  return lines(
    figures(names.result),
    `
# Tukey's fences: one and a half times the width of the middle half, on either side of it.
reach = 1.5 * (three_quarters - quarter)
lower, upper = quarter - reach, three_quarters + reach
below = sum(rows for value, rows in pairs if value < lower)
above = sum(rows for value, rows in pairs if value > upper)
start, end = pairs[0][0], pairs[-1][0]
`,
    bars,
    drawn ? `import matplotlib\n${matplotlib.trimStart()}` : undefined,
    drawn ? outliersFigure(names) : outliersVega(names),
    `
print(json.dumps({
    "rows": total, "below": below, "above": above, "lower": lower, "upper": upper,
    "quarter": quarter, "three_quarters": three_quarters, "lowest": pairs[0][0], "highest": pairs[-1][0],
}))
`
  )
}
