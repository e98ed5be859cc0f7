/**
 * The page of results. Each benchmark has a stretch of it between two comments, and writes nothing else.
 */
import type { Benchmark, Goal, Report } from "../Benchmark.ts"
import { render } from "./Table.ts"

const goalLine = ({ aim, met, outcome }: Goal): string => `- ${aim}: ${outcome}, ${met ? "reached" : "**not reached**"}`

/** What a benchmark came to, as Markdown. */
export const markdown = (report: Report): string => {
  const tables = report.sections.flatMap(({ caption, table }) => [`${caption}:`, render(table)])
  const goals = report.goals.length === 0 ? [] : ["Goals:", report.goals.map(goalLine).join("\n")]
  return [...tables, ...goals, report.measured].join("\n\n")
}

/** The stretch of a benchmark. `origin` says when and where it was measured. */
export const stretch = (benchmark: Benchmark, report: Report, origin: string): string =>
  [`## ${benchmark.title}`, benchmark.about, markdown(report), origin].join("\n\n")

const opening = (name: string): string => `<!-- bench: ${name} -->`
const closing = "<!-- /bench -->"

/** The page with the stretch of one benchmark replaced; nothing when the page has none for it. */
export const replace = (page: string, name: string, text: string): string | undefined => {
  const start = page.indexOf(opening(name))
  const end = page.indexOf(closing, start)
  if (start === -1 || end === -1) return undefined
  return `${page.slice(0, start)}${opening(name)}\n\n${text}\n\n${page.slice(end)}`
}
