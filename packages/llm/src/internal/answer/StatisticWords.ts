/**
 * Answers about statistics that a program computed: what it found, in sentences, and what that does not say.
 */
import * as Option from "effect/Option"
import { monthNames } from "../language/Calendar.ts"
import type { Grain } from "../language/Calendar.ts"
import { summaryColumns } from "../plan/Column.ts"
import type { StatisticsFindings } from "../plan/Findings.ts"
import { listed } from "../plan/Reading.ts"
import * as Figures from "../program/ProgramFigures.ts"
import { type FieldFacts, nameOf } from "../understanding/Facts.ts"
import { lowerFirst } from "../understanding/Measuring.ts"
import { escaped, groupValue, moment, plainNumber, withUnit } from "./Format.ts"
import { strengthOf } from "./Relations.ts"
import { table } from "./Table.ts"

const name = (facts: FieldFacts | undefined): string =>
  facts === undefined ? "the number" : escaped(lowerFirst(nameOf(facts)))

const share = (part: number, whole: number): string => withUnit(whole === 0 ? 0 : (100 * part) / whole, "%")

const decimal = (value: number, places = 2): string => value.toFixed(places).replace("-", "−")

/** The sentences of a statistic, from what its program printed; nothing where that is not in its form. */
export const sentences = (findings: StatisticsFindings, output: string): Option.Option<ReadonlyArray<string>> => {
  switch (findings.plan.kind) {
    case "distribution":
      return Option.map(Figures.read(Figures.DistributionFigures, output), (found) => distribution(findings, found))
    case "correlation":
      return Option.map(Figures.read(Figures.CorrelationFigures, output), (found) => correlation(findings, found))
    case "regression":
      return Option.map(Figures.read(Figures.RegressionFigures, output), (found) => regression(findings, found))
    case "decomposition":
      return Option.map(Figures.read(Figures.DecompositionFigures, output), (found) => decomposition(findings, found))
    case "outliers":
      return findings.plan.series === undefined
        ? Option.map(Figures.read(Figures.OutlierFigures, output), (found) => outliers(findings, found))
        : Option.map(Figures.read(Figures.FarFigures, output), (found) => far(findings, found))
  }
}

const lean = (skewness: number | null): string => {
  if (skewness === null) return "All values are the same."
  const said = `The skewness is ${decimal(skewness)}`
  if (Math.abs(skewness) < 0.5) return `${said}: the distribution is about symmetrical.`
  const side = skewness > 0 ? "upper" : "lower"
  return `${said}: the ${Math.abs(skewness) < 1 ? "" : "long "}tail is on the ${side} side.`
}

const distribution = (
  { plan }: StatisticsFindings,
  { deviation, highest, lowest, mean, quantiles, rows, skewness }: Figures.DistributionFigures
): ReadonlyArray<string> => {
  const [facts] = plan.columns
  const unit = facts?.unit
  const at = (wanted: number): string => {
    const found = quantiles.find((one) => Math.abs(one.share - wanted) < 1e-9)
    return found === undefined ? "–" : withUnit(found.value, unit)
  }
  const spread = deviation === null ? "" : `, with a standard deviation of ${withUnit(deviation, unit)}`
  return [
    `The median of ${name(facts)} is **${at(0.5)}** and the mean ${withUnit(mean, unit)}${spread}, over ${plainNumber(rows)} records. Half of them lie between ${at(0.25)} and ${at(0.75)}. ${lean(skewness)}`,
    table(
      [
        { text: "Quantile", numeric: false },
        { text: facts === undefined ? "" : nameOf(facts), numeric: true }
      ],
      [
        ["lowest", withUnit(lowest, unit)],
        ...quantiles.map((one) => [`${plainNumber(one.share * 100)} %`, withUnit(one.value, unit)]),
        ["highest", withUnit(highest, unit)]
      ]
    )
  ]
}

const correlation = (
  { plan }: StatisticsFindings,
  { matrix, rows }: Figures.CorrelationFigures
): ReadonlyArray<string> => {
  const names = plan.columns.map((facts) => name(facts))
  const pairs = matrix
    .flatMap((line, left) =>
      line.flatMap((value, right) =>
        right <= left || value === null ? [] : [{ left: names[left] ?? "", right: names[right] ?? "", value }]
      )
    )
    .toSorted((one, other) => Math.abs(other.value) - Math.abs(one.value))
  const [first] = pairs
  const strongest =
    first === undefined
      ? "None of them can be correlated: they do not change."
      : `The strongest correlation is between ${first.left} and ${first.right}: **${decimal(first.value)}** (Pearson), ${Math.abs(first.value) < 0.1 ? "practically none" : `${strengthOf(first.value)} ${first.value < 0 ? "negative" : "positive"} one`}. It is over ${plainNumber(rows)} records that have all of ${listed(names)}.`
  return [
    strongest,
    table(
      [{ text: "", numeric: false }, ...plan.columns.map((facts) => ({ text: nameOf(facts), numeric: true }))],
      matrix.map((line, index) => {
        const facts = plan.columns[index]
        return [
          facts === undefined ? "" : nameOf(facts),
          ...line.map((value) => (value === null ? "–" : decimal(value)))
        ]
      })
    ),
    "A correlation does not say that one causes the other."
  ]
}

const regression = (
  { plan }: StatisticsFindings,
  { error, explained, intercept, rows, slope }: Figures.RegressionFigures
): ReadonlyArray<string> => {
  const [y, x] = plan.columns
  const one =
    x?.unit === undefined
      ? `for each unit of ${name(x)}`
      : `for each ${withUnit(1, x.unit).replace(/^1 /, "")} of ${name(x)}`
  const margin = error === null ? "" : ` (standard error ${plainNumber(error)})`
  return [
    `${one.charAt(0).toUpperCase()}${one.slice(1)}, ${name(y)} changes by **${withUnit(slope, y?.unit)}**${margin} on the line that fits best: ${name(y)} = ${plainNumber(intercept)} ${slope < 0 ? "−" : "+"} ${plainNumber(Math.abs(slope))} × ${name(x)}, by least squares over ${plainNumber(rows)} records.`,
    `The line accounts for ${withUnit(100 * explained, "%")} of the variance (R² = ${decimal(explained)}). It describes these records; it does not say that one causes the other.`
  ]
}

const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

const seasonName = (grain: Grain | undefined, season: number): string => {
  switch (grain) {
    case "month":
      return `in ${monthNames[season] ?? String(season)}`
    case "quarter":
      return `in Q${season + 1}`
    case "day":
      return `on ${weekdays[season] ?? String(season)}s`
    case "hour":
      return `at ${String(season).padStart(2, "0")}:00`
    default:
      return `in week ${season + 1} of the round`
  }
}

const strengthWord = (strength: number): string =>
  strength >= 0.9 ? "very strong" : strength >= 0.64 ? "strong" : strength >= 0.3 ? "moderate" : "weak"

const decomposition = ({ plan }: StatisticsFindings, found: Figures.DecompositionFigures): ReadonlyArray<string> => {
  const [group] = plan.series?.groups ?? []
  const [measure] = plan.series?.measures ?? []
  const grain = group?._tag === "Grain" ? group.grain : undefined
  const when = (time: string): string => (grain === undefined ? time : moment(time, grain))
  const effect = (value: number): string =>
    `${withUnit(Math.abs(value), measure?.unit)} ${value < 0 ? "below" : "above"} the trend`
  const moved =
    found.trend_last === found.trend_first
      ? `stays at ${withUnit(found.trend_first, measure?.unit)}`
      : `${found.trend_last > found.trend_first ? "rises" : "falls"} from ${withUnit(found.trend_first, measure?.unit)} to ${withUnit(found.trend_last, measure?.unit)}`
  return [
    `The trend of the ${escaped(measure?.label ?? "number")} ${moved} over ${plainNumber(found.steps)} steps from ${when(found.first)} to ${when(found.last)}.`,
    `The season is **${strengthWord(found.season_strength)}** (strength ${decimal(found.season_strength)} of 1): it is highest ${seasonName(grain, found.peak.season)}, ${effect(found.peak.effect)}, and lowest ${seasonName(grain, found.trough.season)}, ${effect(found.trough.effect)}. The trend is ${strengthWord(found.trend_strength)} (${decimal(found.trend_strength)}).`,
    "The series is taken as the sum of its trend (a centred moving average over one round of seasons), a season that is the same each time, and a remainder."
  ]
}

const outliers = (
  { plan }: StatisticsFindings,
  { above, below, highest, lower, lowest, rows, upper }: Figures.OutlierFigures
): ReadonlyArray<string> => {
  const [facts] = plan.columns
  const unit = facts?.unit
  const fences = `between ${withUnit(lower, unit)} and ${withUnit(upper, unit)}`
  if (above + below === 0) {
    return [`There are **no outliers** in ${name(facts)}: all ${plainNumber(rows)} records lie ${fences}.`, fenceWords]
  }
  const sides = [
    ...(above > 0 ? [`${plainNumber(above)} above, up to ${withUnit(highest, unit)}`] : []),
    ...(below > 0 ? [`${plainNumber(below)} below, down to ${withUnit(lowest, unit)}`] : [])
  ]
  return [
    `**${plainNumber(above + below)}** of ${plainNumber(rows)} records (${share(above + below, rows)}) are outliers in ${name(facts)}: ${listed(sides)}. All others lie ${fences}.`,
    fenceWords
  ]
}

const fenceWords =
  "An outlier here is a value that lies more than one and a half times the width of the middle half beyond it (Tukey's fences). Being far from the others does not make a value wrong."

const far = (
  { plan }: StatisticsFindings,
  { farthest, groups, lower, outliers: number, upper }: Figures.FarFigures
): ReadonlyArray<string> => {
  const { series } = plan
  const columns = series === undefined ? undefined : summaryColumns(series)
  const group = columns?.groups[0]
  const measure = columns?.measures[0]
  const unit = measure?.unit
  const label = escaped(lowerFirst(measure?.label ?? "number"))
  const fences = `between ${withUnit(lower, unit)} and ${withUnit(upper, unit)}`
  if (number === 0) {
    return [`There are **no outliers** in the ${label}: all ${plainNumber(groups)} lie ${fences}.`, fenceWords]
  }
  return [
    `**${plainNumber(number)}** of ${plainNumber(groups)} are outliers in the ${label}. All others lie ${fences}.`,
    table(
      [
        { text: group?.label ?? "", numeric: false },
        { text: measure?.label ?? "", numeric: true }
      ],
      farthest.map((one) => [
        group === undefined ? one.group : groupValue(one.group, group.group),
        withUnit(one.value, unit)
      ])
    ),
    fenceWords
  ]
}
