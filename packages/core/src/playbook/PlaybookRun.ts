/**
 * A run of a playbook: its prompt asked in a chat of its own, and the report that came of it.
 *
 * Source: api-v2.md "Run Playbook"; decisions.md §6 ("`GET …/runs`").
 */
import * as Schema from "effect/Schema"
import { KeptPrincipal } from "../access/Principal.ts"
import { ChatId } from "../chat/Chat.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { ReportId } from "../report/Report.ts"
import { RunId } from "../run/Run.ts"
import { PlaybookConfiguration, PlaybookId } from "./Playbook.ts"

/** A playbook run's id. */
export const PlaybookRunId = Uuid.pipe(Schema.brand("PlaybookRunId"))
export type PlaybookRunId = typeof PlaybookRunId.Type

/** What started a run. */
export const PlaybookRunTrigger = Schema.TaggedUnion({
  /** Somebody asked for it. */
  Manual: {},
  /** Its schedule did; at most one run stands for a due time. */
  Schedule: { dueAt: Schema.DateTimeUtc }
})
export type PlaybookRunTrigger = typeof PlaybookRunTrigger.Type

/** Why a run has no report: the code that whoever waited for it was answered with. */
export const PlaybookRunFailure = Schema.Literals([
  "timeout",
  "execution_failed",
  "no_report",
  "invalid_request",
  "unauthenticated",
  "permission_denied",
  "not_found",
  "conflict",
  "rate_limit_exceeded"
])
export type PlaybookRunFailure = typeof PlaybookRunFailure.Type

/** The chat that a run was asked in, and the chat's run. */
const asked = { chatId: ChatId, runId: RunId }

/** How far a run has come. */
export const PlaybookRunStatus = Schema.TaggedUnion({
  /** Kept, and not asked yet. */
  Queued: {},
  /** Asked in a chat, whose run goes on. */
  Running: { ...asked, startedAt: Schema.DateTimeUtc },
  Completed: { ...asked, startedAt: Schema.DateTimeUtc, endedAt: Schema.DateTimeUtc, reportId: ReportId },
  /** Without a report; without a chat where it could not even be asked. */
  Failed: {
    asked: Schema.optionalKey(Schema.Struct(asked)),
    endedAt: Schema.DateTimeUtc,
    failure: PlaybookRunFailure,
    error: Schema.String
  },
  Cancelled: { asked: Schema.optionalKey(Schema.Struct(asked)), endedAt: Schema.DateTimeUtc }
})
export type PlaybookRunStatus = typeof PlaybookRunStatus.Type

/** A run of a playbook. */
export class PlaybookRun extends Schema.Class<PlaybookRun>("@castellan/core/playbook/PlaybookRun")({
  id: PlaybookRunId,
  organizationId: OrganizationId,
  playbookId: PlaybookId,
  trigger: PlaybookRunTrigger,
  /** On whose behalf it runs. */
  principal: KeptPrincipal,
  /** What the playbook was when the run was started: a later edit does not reach it. */
  configuration: PlaybookConfiguration,
  status: PlaybookRunStatus,
  createdAt: Schema.DateTimeUtc
}) {}

/** The chat that a run was asked in, where it was. */
export const chatOf = (run: PlaybookRun): { readonly chatId: ChatId; readonly runId: RunId } | undefined => {
  switch (run.status._tag) {
    case "Queued":
      return undefined
    case "Running":
    case "Completed":
      return { chatId: run.status.chatId, runId: run.status.runId }
    case "Failed":
    case "Cancelled":
      return run.status.asked
  }
}

/** Whether a run has ended, one way or another. */
export const isEnded = (run: PlaybookRun): boolean => run.status._tag !== "Queued" && run.status._tag !== "Running"
