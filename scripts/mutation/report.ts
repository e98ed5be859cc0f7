/**
 * What an examination says: a line for each file, every survivor with its change, and whether that is good enough.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../packages.ts"
import type { Report, Trial } from "./examine.ts"
import { isExplainedBy, read } from "./survivors.ts"

/** At least this share of the mutants is caught. */
export const threshold = 0.9

const isCaught = ({ verdict }: Trial): boolean => verdict === "caught" || verdict === "timed out"

/** The share of the mutants that were caught; all of none. */
export const score = (trials: ReadonlyArray<Trial>): number =>
  trials.length === 0 ? 1 : trials.filter(isCaught).length / trials.length

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ")

const percent = (share: number): string => `${(Math.floor(share * 1000) / 10).toFixed(1)} %`

const row = (name: string, trials: ReadonlyArray<Trial>): string => {
  const count = (verdict: string) => String(trials.filter((one) => one.verdict === verdict).length).padStart(9)
  const counts = ["caught", "timed out", "survived", "unreached"].map(count).join(" ")
  return `${name.padEnd(64)} ${percent(score(trials)).padStart(8)} ${counts}`
}

const survivors = (trials: ReadonlyArray<Trial>): ReadonlyArray<Trial> => trials.filter((one) => !isCaught(one))

/** The lines of a report. */
export const lines = (report: Report): ReadonlyArray<string> => {
  const explanations = read()
  const files = [...new Set(report.trials.map(({ mutant }) => mutant.file))].toSorted()
  const told = files.flatMap((file) =>
    survivors(report.trials.filter(({ mutant }) => mutant.file === file)).flatMap(({ mutant, verdict }) => [
      "",
      `${verdict} ${mutant.file}:${mutant.line} ${mutant.within} (${mutant.mutator}, #${mutant.occurrence})`,
      `  - ${oneLine(mutant.original)}`,
      `  + ${oneLine(mutant.replacement)}`,
      `  ${explanations.find((one) => isExplainedBy(mutant, one))?.reason ?? "NOT EXPLAINED"}`
    ])
  )
  return [
    ...told,
    "",
    `${"file".padEnd(64)} ${"score".padStart(8)} ${["caught", "timed out", "survived", "unreached"].map((name) => name.padStart(9)).join(" ")}`,
    ...files.map((file) =>
      row(
        file.replace("packages/core/src/", ""),
        report.trials.filter(({ mutant }) => mutant.file === file)
      )
    ),
    row("all", report.trials),
    `${report.trials.length} mutants in ${report.seconds.toFixed(0)} s`,
    `${survivors(report.trials).length} not caught, ${unexplained(report).length} of them without an explanation`,
    ...stale(report).map((one) => `explained, but no longer there: ${one.file} ${one.within}: ${oneLine(one.original)}`)
  ]
}

/** The survivors that no explanation covers. */
export const unexplained = (report: Report): ReadonlyArray<Trial> => {
  const explanations = read()
  return survivors(report.trials).filter(({ mutant }) => !explanations.some((one) => isExplainedBy(mutant, one)))
}

/** The explanations of an examined file that no survivor needs any more; nobody can say after a sample. */
export const stale = (report: Report): ReturnType<typeof read> =>
  report.whole
    ? read().filter(
        (one) =>
          report.files.includes(one.file) && !survivors(report.trials).some(({ mutant }) => isExplainedBy(mutant, one))
      )
    : []

/** Whether a report is good enough; strictly, only if every survivor is explained, and every explanation needed. */
export const passes = (report: Report, strict: boolean): boolean =>
  score(report.trials) >= threshold && (!strict || (unexplained(report).length === 0 && stale(report).length === 0))

/** Prints a report, and leaves all of it in `coverage/mutation.json`. */
export const print = (report: Report): void => {
  for (const line of lines(report)) console.log(line)
  const folder = join(root, "coverage")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "mutation.json"), `${JSON.stringify(report, undefined, 2)}\n`)
}
