/**
 * The port that keeps reports.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Principal } from "../access/Principal.ts"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import * as Page from "../page/Page.ts"
import { shownTo } from "../rowpolicy/RowVisibility.ts"
import type { Report, ReportId } from "./Report.ts"

/** Which reports a list holds. */
export interface ReportQuery extends Page.OffsetPage {
  /** Only reports whose rows it may be shown. */
  readonly reader: Principal
  readonly playbookId: Report["playbookId"]
}

/** Keeps reports. No answer ever holds one of another organization. */
export class ReportStore extends Context.Service<
  ReportStore,
  {
    readonly get: (organizationId: OrganizationId, id: ReportId) => Effect.Effect<Option.Option<Report>>
    /** The reports of a playbook, newest first. */
    readonly list: (query: ReportQuery) => Effect.Effect<Page.Counted<Report>>
    /** Keeps a new report. */
    readonly add: (report: Report) => Effect.Effect<void>
  }
>()("@castellan/core/report/ReportStore") {}

const position = (report: Report): Page.Position => ({ at: report.createdAt, id: report.id })

/** Keeps reports in memory. */
export const layerMemory: Layer.Layer<ReportStore> = Layer.effect(
  ReportStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<ReportId, Report>()
    return ReportStore.of({
      get: (organizationId, id) =>
        Effect.map(
          table.get(id),
          Option.filter((report) => report.organizationId === organizationId)
        ),
      list: (query) =>
        Effect.map(
          table.where(
            (report) =>
              report.organizationId === query.reader.organizationId &&
              report.playbookId === query.playbookId &&
              shownTo(query.reader, report.creator)
          ),
          (found) =>
            Page.counted(
              found.toSorted((a, b) => Page.newestFirst(position(a), position(b))),
              query
            )
        ),
      add: (report) => table.set(report.id, report)
    })
  })
)
