/**
 * Programs over several numbers of the same rows: how they are correlated, and the line that fits two of them best.
 */
import { columnName, productName } from "../plan/StatisticsQueries.ts"
import { axis, colours, matplotlib, vega, wrapped } from "./Drawing.ts"
import { lines, literal } from "./Python.ts"

/** What the numbers are called, and where they are. */
export interface TogetherNames {
  readonly result: string
  readonly form: "rows" | "moments"
  readonly title: string
  readonly columns: ReadonlyArray<{ readonly label: string; readonly unit: string | undefined }>
  /** The result with averages over ranges, where there are too many rows to draw. */
  readonly bins: string | undefined
}

/** `count`, `means` and `covariance(i, j)`, from the rows, or from the means that a query took of all of them. */
const moments = ({ columns, form, result }: TogetherNames): string =>
  form === "rows"
    ? `
import json
import math

columns = [[float(value) for value in ${result}[name]] for name in ${literal(columns.map((_, index) => columnName(index)))}]
count = len(columns[0])
means = [math.fsum(column) / count for column in columns]


def covariance(left, right):
    products = ((x - means[left]) * (y - means[right]) for x, y in zip(columns[left], columns[right]))
    return math.fsum(products) / count
`
    : `
import json
import math

# Means of all rows and of their products, as the query took them: all follows from these.
row = {name: float(list(${result}[name])[0]) for name in ${literal([
        "rows_",
        ...columns.flatMap((_, i) => [columnName(i), ...columns.flatMap((__, j) => (j < i ? [] : [productName(i, j)]))])
      ])}}
count = int(row["rows_"])
means = [row[name] for name in ${literal(columns.map((_, index) => columnName(index)))}]


def covariance(left, right):
    left, right = sorted((left, right))
    return row[f"m{left + 1}_{right + 1}_"] - means[left] * means[right]
`

const matrixFigure = (names: TogetherNames): string => `
size = len(labels)
colours = matplotlib.colors.LinearSegmentedColormap.from_list("correlation", ${literal([...colours.diverging])})
figure, axes = plt.subplots(figsize=(max(6.6, 2.8 + 1.15 * size), max(4.6, 1.8 + 0.85 * size)))
shown = [[math.nan if value is None else value for value in line] for line in matrix]
image = axes.imshow(shown, cmap=colours, vmin=-1, vmax=1, aspect="auto")
axes.set_title("\\n".join(__import__("textwrap").wrap(${literal(names.title)}, int(5.4 * figure.get_figwidth()))))
wrap = lambda label: "\\n".join(__import__("textwrap").wrap(label, 16))
axes.set_xticks(range(size), [wrap(label) for label in labels], rotation=0 if size <= 5 else 45, ha="center" if size <= 5 else "right")
axes.set_yticks(range(size), [wrap(label) for label in labels])
axes.grid(False)
axes.tick_params(length=0)
for spine in axes.spines.values():
    spine.set_visible(False)
for line in range(size):
    for place in range(size):
        value = matrix[line][place]
        axes.text(place, line, "–" if value is None else f"{value:.2f}".replace("-", "\\u2212"), ha="center", va="center",
                  fontsize=11, color="white" if value is not None and abs(value) > 0.65 else "#14202e")
bar = figure.colorbar(image, ax=axes, shrink=0.85, pad=0.03, ticks=[-1, -0.5, 0, 0.5, 1])
bar.set_label("Correlation (Pearson)")
bar.outline.set_visible(False)
`

const matrixVega = (names: TogetherNames): string =>
  vega(`{
    "title": ${literal(names.title)},
    "data": {"values": [
        {"row": labels[line], "column": labels[place], "correlation": matrix[line][place]}
        for line in range(len(labels)) for place in range(len(labels))]},
    "encoding": {
        "x": {"field": "column", "type": "nominal", "sort": labels, "title": None},
        "y": {"field": "row", "type": "nominal", "sort": labels, "title": None}},
    "layer": [
        {"mark": "rect", "encoding": {"color": {
            "field": "correlation", "type": "quantitative", "title": "Correlation",
            "scale": {"domain": [-1, -0.6, -0.3, 0, 0.3, 0.6, 1], "interpolate": "rgb", "range": ${literal([...colours.diverging])}}}}},
        {"mark": {"type": "text"}, "encoding": {
            "text": {"field": "correlation", "type": "quantitative", "format": ".2f"},
            "color": {"condition": {"test": "abs(datum.correlation) > 0.65", "value": "white"}, "value": "#14202e"}}},
    ],
}`)

/** Pearson's correlations of some numbers, each with each. */
export const correlation = (names: TogetherNames, packages: ReadonlySet<string>): string => {
  const drawn = packages.has("matplotlib")
  return lines(
    moments(names),
    `
labels = ${literal(names.columns.map(({ label }) => label))}


def correlation(left, right):
    scale = math.sqrt(max(0, covariance(left, left)) * max(0, covariance(right, right)))
    return max(-1, min(1, covariance(left, right) / scale)) if scale > 0 else None


matrix = [[correlation(left, right) for right in range(len(labels))] for left in range(len(labels))]
`,
    drawn ? `import matplotlib\n${matplotlib.trimStart()}` : undefined,
    drawn ? matrixFigure(names) : matrixVega(names),
    `
print(json.dumps({"rows": count, "matrix": matrix}))
`
  )
}

/** The points that are drawn: each row, or the averages over ranges. */
const points = ({ bins }: TogetherNames): string =>
  bins === undefined
    ? `
points = list(zip(columns[1], columns[0]))
`
    : `
points = [(float(x), float(y)) for x, y in zip(${bins}["x_"], ${bins}["y_"])]
`

const lineFigure = (names: TogetherNames, y: string, x: string): string => `
figure, axes = plt.subplots(figsize=(9, 5.4))
axes.scatter([x for x, _ in points], [y for _, y in points], s=${names.bins === undefined ? "16" : "28"}, alpha=${names.bins === undefined ? "0.45" : "0.9"}, lw=0, color=${literal(colours.accent)}, label=${literal(names.bins === undefined ? "records" : "averages over ranges")})
ends = [min(x for x, _ in points), max(x for x, _ in points)]
axes.plot(ends, [intercept + slope * end for end in ends], color=${literal(colours.contrast)}, lw=2.4, label=f"least squares, R\\u00b2 = {explained:.2f}")
axes.set_title(${wrapped(names.title)})
axes.set_xlabel(${literal(x)})
axes.set_ylabel(${literal(y)})
axes.xaxis.set_major_formatter(glance)
axes.yaxis.set_major_formatter(glance)
axes.legend(loc="best")
`

const lineVega = (names: TogetherNames, y: string, x: string): string => `
ends = [min(x for x, _ in points), max(x for x, _ in points)]
${vega(`{
    "title": ${literal(names.title)},
    "data": {"values": [{"x": x, "y": y, "line": None} for x, y in points] + [{"x": end, "y": None, "line": intercept + slope * end} for end in ends]},
    "layer": [
        {"mark": {"type": "point", "filled": True, "opacity": 0.5, "color": ${literal(colours.accent)}}, "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": ${literal(x)}},
            "y": {"field": "y", "type": "quantitative", "title": ${literal(y)}}}},
        {"transform": [{"filter": {"field": "line", "valid": True}}],
         "mark": {"type": "line", "color": ${literal(colours.contrast)}, "strokeWidth": 2.5}, "encoding": {
            "x": {"field": "x", "type": "quantitative"}, "y": {"field": "line", "type": "quantitative"}}},
    ],
}`).trimStart()}
`

/** The line that fits one number on another best, by least squares. */
export const regression = (names: TogetherNames, packages: ReadonlySet<string>): string => {
  const drawn = packages.has("matplotlib")
  const [y, x] = names.columns.map(({ label, unit }) => axis(label, unit))
  return lines(
    moments(names),
    `
spread = covariance(1, 1)
if spread <= 0:
    raise SystemExit("there is no line: one of the two never changes")
slope = covariance(0, 1) / spread
intercept = means[0] - slope * means[1]
whole = covariance(0, 0)
explained = min(1, covariance(0, 1) ** 2 / (spread * whole)) if whole > 0 else 0
left = max(0, whole - slope * covariance(0, 1)) * count / (count - 2) if count > 2 else None
error = math.sqrt(left / (count * spread)) if left is not None else None
`,
    points(names),
    drawn ? `import matplotlib\n${matplotlib.trimStart()}` : undefined,
    drawn ? lineFigure(names, y ?? "", x ?? "") : lineVega(names, y ?? "", x ?? ""),
    `
print(json.dumps({"rows": count, "slope": slope, "intercept": intercept, "explained": explained, "error": error}))
`
  )
}
