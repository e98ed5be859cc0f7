/**
 * Programs over one number by one group: a series taken apart into trend, season and remainder, and groups that lie far
 * from all others.
 */
import type { Grain } from "../language/Calendar.ts"
import { colours, matplotlib, vega, wrapped } from "./Drawing.ts"
import { lines, literal } from "./Python.ts"

/** What the series is called, and where it is. */
export interface SeriesNames {
  readonly result: string
  readonly title: string
  /** The columns of the result. */
  readonly group: string
  readonly measure: string
  /** What the axes show. */
  readonly groupLabel: string
  readonly measureLabel: string
  readonly grain: Grain | undefined
}

/** How many steps make one round of seasons, by how fine they are. */
export const periods: { readonly [Step in Exclude<Grain, "year">]: number } = {
  quarter: 4,
  month: 12,
  week: 52,
  day: 7,
  hour: 24
}

const series = ({ group, measure, result }: SeriesNames): string => `
import json
import math

points = [
    (str(name), float(value))
    for name, value in zip(${result}[${literal(group)}], ${result}[${literal(measure)}])
    if value is not None and value == value
]
`

/** Days and their distances, so that a step that is missing is found. */
const steps = (grain: Exclude<Grain, "year">): string => `
from datetime import datetime

points = sorted((datetime.fromisoformat(name[:19].replace("T", " ")), value) for name, value in points)
times = [time for time, _ in points]
observed = [value for _, value in points]
period = ${periods[grain]}


def place(time):
    """The place of a step among all steps there are."""
    months = time.year * 12 + time.month - 1
    days = time.toordinal()
    return {"quarter": months // 3, "month": months, "week": days // 7, "day": days, "hour": days * 24 + time.hour}[${literal(grain)}]


count = len(points)
if count < 2 * period:
    raise SystemExit(f"a decomposition takes two rounds of seasons, {2 * period} steps, and there are {count}")
missing = place(times[-1]) - place(times[0]) - (count - 1)
if missing > 0:
    after = next(times[at] for at in range(count - 1, 0, -1) if place(times[at]) - place(times[at - 1]) > 1)
    raise SystemExit(
        f"{missing} of the steps have no value, and I do not make values up; "
        f"from {after:%Y-%m-%d} on none is missing, so ask for the time since then"
    )
`

const decomposed = `
def centred(at):
    """The mean of one whole round around a step; of an even round, both ends count half."""
    half = period // 2
    if at < half or at + half >= count:
        return None
    around = observed[at - half:at + half + 1]
    if period % 2 == 0:
        return (math.fsum(around) - (around[0] + around[-1]) / 2) / period
    return math.fsum(around) / period


trend = [centred(at) for at in range(count)]
phase = [place(time) % period for time in times]
detrended = {season: [] for season in range(period)}
for at in range(count):
    if trend[at] is not None:
        detrended[phase[at]].append(observed[at] - trend[at])
raw = {season: math.fsum(values) / len(values) for season, values in detrended.items() if values}
level = math.fsum(raw.values()) / len(raw)
effects = {season: value - level for season, value in raw.items()}
seasonal = [effects[season] for season in phase]
remainder = [None if trend[at] is None else observed[at] - trend[at] - seasonal[at] for at in range(count)]


def variance(values):
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / len(values)


known = [at for at in range(count) if trend[at] is not None]
noise = variance([remainder[at] for at in known])
strength = lambda part: max(0, 1 - noise / whole) if (whole := variance([part[at] + remainder[at] for at in known])) > 0 else 0
peak, trough = max(effects, key=effects.get), min(effects, key=effects.get)
`

const decompositionFigure = (names: SeriesNames): string => `
figure, panels = plt.subplots(4, 1, figsize=(9, 8), sharex=True)
parts = (("Observed", observed), ("Trend", trend), ("Season", seasonal), ("Remainder", remainder))
for panel, (name, values) in zip(panels, parts):
    drawn = [(time, value) for time, value in zip(times, values) if value is not None]
    if name == "Remainder":
        panel.vlines([time for time, _ in drawn], 0, [value for _, value in drawn], color=${literal(colours.contrast)}, lw=1.2)
    else:
        panel.plot([time for time, _ in drawn], [value for _, value in drawn], color=${literal(colours.accent)}, lw=1.7)
    if name in ("Season", "Remainder"):
        panel.axhline(0, color="#9aa5b3", lw=0.9)
    panel.set_ylabel(name, rotation=0, ha="left", va="center", labelpad=0, fontweight="bold")
    panel.yaxis.set_label_coords(1.012, 0.5)
    panel.yaxis.set_major_formatter(glance)
    panel.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(4))
panels[0].set_title(${wrapped(names.title)})
locator = matplotlib.dates.AutoDateLocator()
panels[-1].xaxis.set_major_locator(locator)
panels[-1].xaxis.set_major_formatter(matplotlib.dates.ConciseDateFormatter(locator))
panels[-1].set_xlabel(${literal(names.groupLabel)})
figure.supylabel(${literal(names.measureLabel)}, fontsize=10, color=${literal(colours.label)})
figure.align_ylabels(panels)
`

const decompositionVega = (names: SeriesNames): string =>
  vega(`{
    "title": ${literal(names.title)},
    "data": {"values": [
        {"time": time.isoformat(), "observed": observed[at], "trend": trend[at], "season": seasonal[at], "remainder": remainder[at]}
        for at, time in enumerate(times)]},
    "vconcat": [
        {"height": 90, "mark": {"type": "line", "color": ${literal(colours.accent)}, "strokeWidth": 1.8, "point": False}, "encoding": {
            "x": {"field": "time", "type": "temporal", "title": ${literal(names.groupLabel)} if part == "remainder" else None},
            "y": {"field": part, "type": "quantitative", "title": part.capitalize(), "scale": {"zero": False}}}}
        for part in ("observed", "trend", "season", "remainder")],
}`)

/** A series as the sum of its trend, a season that repeats, and what is left (classical additive decomposition). */
export const decomposition = (
  names: SeriesNames & { readonly grain: Exclude<Grain, "year"> },
  packages: ReadonlySet<string>
): string => {
  const drawn = packages.has("matplotlib")
  return lines(
    series(names),
    steps(names.grain),
    decomposed,
    drawn ? `import matplotlib.dates\n${matplotlib.trimStart()}` : undefined,
    drawn ? decompositionFigure(names) : decompositionVega(names),
    `
print(json.dumps({
    "steps": count, "first": times[0].isoformat(), "last": times[-1].isoformat(),
    "trend_first": next(value for value in trend if value is not None),
    "trend_last": next(value for value in reversed(trend) if value is not None),
    "trend_strength": strength(trend), "season_strength": strength(seasonal),
    "peak": {"season": peak, "effect": effects[peak]}, "trough": {"season": trough, "effect": effects[trough]},
}))
`
  )
}

const farFigure = (names: SeriesNames): string => `
figure, axes = plt.subplots(figsize=(9, 5))
places = range(len(points))
if timed:
    places = [datetime.fromisoformat(name[:19].replace("T", " ")) for name, _ in points]
    axes.plot(places, [value for _, value in points], color=${literal(colours.accent)}, lw=1.7)
    locator = matplotlib.dates.AutoDateLocator()
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(matplotlib.dates.ConciseDateFormatter(locator))
else:
    axes.scatter(places, [value for _, value in points], s=26, lw=0, alpha=0.75, color=${literal(colours.accent)})
    axes.set_xticks([])
axes.scatter([place for place, (_, value) in zip(places, points) if is_far(value)], [value for _, value in points if is_far(value)],
             s=54, color=${literal(colours.contrast)}, zorder=3, label=f"outliers: {len(far)}")
axes.axhspan(lower, upper, color=${literal(colours.accent)}, alpha=0.07, lw=0, label=f"within {short(lower)} and {short(upper)}")
if not timed:
    # The farthest are named, as far as their names do not run into each other.
    room = 0.05 * (max(value for _, value in points) - min(value for _, value in points))
    placed = []
    for name, value in far[:10]:
        place = next(at for at, point in enumerate(points) if point == (name, value))
        if all(abs(value - other) > room for other in placed):
            placed.append(value)
            right = place > 0.7 * len(points)
            axes.annotate(name[:32], (place, value), xytext=(-8 if right else 8, 0), textcoords="offset points",
                          ha="right" if right else "left", va="center", fontsize=9)
axes.set_title(${wrapped(names.title)})
axes.set_xlabel(${literal(names.groupLabel)})
axes.set_ylabel(${literal(names.measureLabel)})
axes.yaxis.set_major_formatter(glance)
axes.legend(loc="best")
`

const farVega = (names: SeriesNames): string =>
  vega(`{
    "title": ${literal(names.title)},
    "data": {"values": [{"group": name, "value": value, "kind": "outlier" if is_far(value) else "within the fences"} for name, value in points]},
    "mark": {"type": "point", "filled": True, "size": 60},
    "encoding": {
        "x": {"field": "group", "type": "temporal" if timed else "nominal", "title": ${literal(names.groupLabel)}, "axis": {} if timed else {"labels": False, "ticks": False}},
        "y": {"field": "value", "type": "quantitative", "title": ${literal(names.measureLabel)}, "scale": {"zero": False}},
        "color": {"field": "kind", "type": "nominal", "title": None, "scale": {"domain": ["within the fences", "outlier"], "range": [${literal(colours.accent)}, ${literal(colours.contrast)}]}}},
}`)

/** The groups whose number lies beyond Tukey's fences. */
export const far = (names: SeriesNames, packages: ReadonlySet<string>): string => {
  const drawn = packages.has("matplotlib")
  return lines(
    series(names),
    `
from datetime import datetime

timed = ${names.grain === undefined ? "False" : "True"}
if len(points) < 4:
    raise SystemExit(f"outliers take four groups at least, and there are {len(points)}")
if timed:
    points.sort()
ordered = sorted(value for _, value in points)


def quantile(share):
    place = (len(ordered) - 1) * share
    low, part = int(place), place - int(place)
    return ordered[low] + part * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


# Tukey's fences: one and a half times the width of the middle half, on either side of it.
quarter, three_quarters = quantile(0.25), quantile(0.75)
reach = 1.5 * (three_quarters - quarter)
lower, upper = quarter - reach, three_quarters + reach
is_far = lambda value: value < lower or value > upper
far = sorted((point for point in points if is_far(point[1])), key=lambda point: -abs(point[1] - quantile(0.5)))
`,
    drawn ? `import matplotlib.dates\n${matplotlib.trimStart()}` : undefined,
    drawn ? farFigure(names) : farVega(names),
    `
print(json.dumps({
    "groups": len(points), "lower": lower, "upper": upper, "outliers": len(far),
    "farthest": [{"group": name, "value": value} for name, value in far[:10]],
}))
`
  )
}
