/**
 * A report as it is shown: with its preview.
 *
 * Source: api-v2.md "Report" (`html_preview`).
 */
import type { Report } from "./Report.ts"

/** A report with the HTML that shows it. */
export interface ReportView {
  readonly report: Report
  readonly htmlPreview: string
}
