/**
 * The program that computes a statistic from what the queries found. It needs nothing but the standard library for its
 * figures; it draws with what the sandbox has. Its last line is the figures as JSON.
 */
import { summaryColumns } from "../plan/Column.ts"
import type { StatisticsFindings } from "../plan/Findings.ts"
import { title } from "../plan/Reading.ts"
import { type FieldFacts, nameOf } from "../understanding/Facts.ts"
import { axis } from "./Drawing.ts"
import * as SeriesPrograms from "./SeriesPrograms.ts"
import * as SpreadPrograms from "./SpreadPrograms.ts"
import * as TogetherPrograms from "./TogetherPrograms.ts"

const named = (facts: FieldFacts) => ({ label: nameOf(facts), unit: facts.unit })

/** The program of a statistic, for a sandbox with these packages beside the standard library. */
export const program = (findings: StatisticsFindings, packages: ReadonlySet<string>): string => {
  const { bins, form, main, plan } = findings
  const heading = title(plan, 140)
  if (plan.series !== undefined) return seriesProgram(findings, heading, packages)
  const [first] = plan.columns
  if (plan.kind === "distribution" || plan.kind === "outliers") {
    const names = {
      result: main.result,
      title: heading,
      label: first === undefined ? "" : nameOf(first),
      unit: first?.unit
    }
    return plan.kind === "outliers"
      ? SpreadPrograms.outliers(names, packages)
      : SpreadPrograms.distribution(names, packages)
  }
  const names: TogetherPrograms.TogetherNames = {
    result: main.result,
    form: form === "moments" ? "moments" : "rows",
    title: heading,
    columns: plan.columns.map(named),
    bins: bins?.result
  }
  return plan.kind === "regression"
    ? TogetherPrograms.regression(names, packages)
    : TogetherPrograms.correlation(names, packages)
}

const seriesProgram = ({ main, plan }: StatisticsFindings, heading: string, packages: ReadonlySet<string>): string => {
  if (plan.series === undefined) return ""
  const columns = summaryColumns(plan.series)
  const [group] = columns.groups
  const [measure] = columns.measures
  const grain = group?.group._tag === "Grain" ? group.group.grain : undefined
  const names: SeriesPrograms.SeriesNames = {
    result: main.result,
    title: heading,
    group: group?.name ?? "",
    measure: measure?.name ?? "",
    groupLabel: group?.label ?? "",
    measureLabel: axis(measure?.label ?? "", measure?.unit),
    grain
  }
  return plan.kind === "decomposition" && grain !== undefined && grain !== "year"
    ? SeriesPrograms.decomposition({ ...names, grain }, packages)
    : SeriesPrograms.far(names, packages)
}
