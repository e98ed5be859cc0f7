/**
 * What a sandbox can do, in the words in which models are told: they are part of the tool's description, and a model
 * that is a program reads them there.
 */
import type { SandboxCapabilities } from "../sandcastle/SandboxRuntime.ts"

/** Packages of a sandbox that are named, at most. */
const maximumNamed = 60

/** Whether there is a sandbox at all, with a Python whose variables stay. */
export const hasPython = ({ statefulPython }: SandboxCapabilities): boolean => statefulPython

/** Whether there is a sandbox that runs commands. */
export const hasShell = ({ realBash, statefulPython }: SandboxCapabilities): boolean => realBash || statefulPython

/** What Python can import and display, as sentences that are added to the description of its tool. */
export const pythonSentences = ({ packages }: SandboxCapabilities): string =>
  [
    `Packages beside the standard library: ${packages.slice(0, maximumNamed).join(", ") || "none"}.`,
    packages.includes("pandas")
      ? "Dataframes are pandas.DataFrame."
      : "There is no pandas: a dataframe is a castellan.Table, with columns, rows, len() and iteration over its rows as dicts.",
    "`import castellan` gives castellan.sql(statement), DuckDB over the dataframes, and castellan.chart(spec), which shows a Vega-Lite specification with its rows in data.values."
  ].join(" ")

/** The packages that a description of the tool tells of. */
export const packagesIn = (description: string): ReadonlySet<string> => {
  const told = /Packages beside the standard library: ([^.]*)\./.exec(description)?.[1] ?? "none"
  return new Set(told === "none" ? [] : told.split(", "))
}

/** What is said of a shell that is not a real one. */
export const shellSentence = ({ realBash }: SandboxCapabilities): string =>
  realBash ? "" : " The shell imitates bash, with the usual commands for files and texts, and starts no other programs."
