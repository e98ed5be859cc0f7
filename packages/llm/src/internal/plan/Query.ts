/**
 * The queries of a plan, in the order in which they can be asked: some need what an earlier one found, such as how
 * wide the bars of a histogram should be.
 */
import type { Answered, Progress } from "./Findings.ts"
import type { Plan } from "./Plan.ts"
import { rows } from "./RowsQueries.ts"
import { scatter } from "./ScatterQueries.ts"
import { statistics } from "./StatisticsQueries.ts"
import { summary } from "./SummaryQueries.ts"

/** What to ask next for a plan, or what was found. */
export const progress = (plan: Plan, answered: Answered): Progress => {
  switch (plan._tag) {
    case "Summary":
      return summary(plan, answered)
    case "Rows":
      return rows(plan, answered)
    case "Scatter":
      return scatter(plan, answered)
    case "Statistics":
      return statistics(plan, answered)
  }
}
