/**
 * Runs of playbooks on the wire: asking for one, and the list of what ran, with where its reports went.
 *
 * Source: api-v2.md "Run Playbook"; decisions.md §6 ("Run", "`GET …/runs`", "Deliveries").
 */
import { ChatId } from "@castellan/core/chat/Chat"
import { type Delivery, DeliveryId } from "@castellan/core/delivery/Delivery"
import type { Counted } from "@castellan/core/page/Page"
import type { PlaybookResult, PlaybookRunView } from "@castellan/core/playbook/PlaybookExecution"
import { chatOf, type PlaybookRun, PlaybookRunId } from "@castellan/core/playbook/PlaybookRun"
import { ReportId } from "@castellan/core/report/Report"
import * as Schema from "effect/Schema"
import { AssetWire, ofAsset, type SignAsset } from "../asset/AssetWire.ts"
import { offsetFields } from "../wire/PageWire.ts"
import { count, flag, text, timestamp, uuid } from "../wire/WireValue.ts"
import { imageUrls, ofReport, ReportWire } from "./ReportWire.ts"

/** How to run a playbook. */
export const RunPlaybookRequest = Schema.Struct({
  dry_run: Schema.optionalKey(flag("True says whether the playbook could run, and leaves nothing behind")).annotateKey({
    default: false
  })
}).annotate({
  identifier: "RunPlaybookRequest",
  description: "How to run a playbook",
  message: "must be a JSON object"
})
export type RunPlaybookRequest = typeof RunPlaybookRequest.Type

/** What a run came to. */
export const PlaybookResultWire = Schema.Struct({
  chat_id: uuid(ChatId, "The chat that the run was asked in"),
  report: ReportWire,
  assets: Schema.Array(AssetWire).annotate({ description: "What the run made" })
}).annotate({ identifier: "PlaybookResult", description: "What a run of a playbook came to" })
export type PlaybookResultWire = typeof PlaybookResultWire.Type

/** A playbook could run. */
export const PlaybookValidationWire = Schema.Struct({
  valid: Schema.Literal(true).annotate({ description: "Always true" })
}).annotate({ identifier: "PlaybookValidation", description: "The playbook could run; nothing was left behind" })
export type PlaybookValidationWire = typeof PlaybookValidationWire.Type

/** One report on its way to one target. */
export const DeliveryWire = Schema.Struct({
  id: uuid(DeliveryId, "The delivery's id"),
  type: Schema.Literals(["email", "chat_channel"]).annotate({ description: "What kind of target it is" }),
  target: text("The e-mail address, or the channel's id"),
  status: Schema.Literals(["pending", "sending", "delivered", "failed", "given_up"]).annotate({
    description: "How far it has come; what `failed` is tried again"
  }),
  attempts: Schema.Int.annotate({ description: "Attempts that were begun" }),
  error: Schema.optionalKey(text("Why the last attempt failed")),
  delivered_at: Schema.optionalKey(timestamp("When it arrived")),
  next_attempt_at: Schema.optionalKey(timestamp("When it is tried again"))
}).annotate({ identifier: "Delivery", description: "One report on its way to one target" })
export type DeliveryWire = typeof DeliveryWire.Type

/** A run of a playbook. */
export const PlaybookRunWire = Schema.Struct({
  id: uuid(PlaybookRunId, "The run's id"),
  trigger: Schema.Literals(["manual", "schedule"]).annotate({ description: "What started it" }),
  due_at: Schema.optionalKey(timestamp("The time of the schedule that it ran for")),
  status: Schema.Literals(["queued", "running", "completed", "failed", "cancelled"]).annotate({
    description: "How far it has come"
  }),
  chat_id: Schema.optionalKey(uuid(ChatId, "The chat that it was asked in")),
  report_id: Schema.optionalKey(uuid(ReportId, "The report that came of it")),
  error_code: Schema.optionalKey(text("Why it failed, for programs: a code of the error envelope")),
  error: Schema.optionalKey(text("Why it failed, for people")),
  created_at: timestamp("When it was asked for"),
  started_at: Schema.optionalKey(timestamp("When it began")),
  ended_at: Schema.optionalKey(timestamp("When it ended")),
  deliveries: Schema.Array(DeliveryWire).annotate({ description: "Where its report went" })
}).annotate({ identifier: "PlaybookRun", description: "A run of a playbook" })
export type PlaybookRunWire = typeof PlaybookRunWire.Type

/** A page of a playbook's runs. */
export const PlaybookRunListWire = Schema.Struct({
  runs: Schema.Array(PlaybookRunWire).annotate({ description: "The runs of this page, newest first" }),
  total_count: count("How many runs there are on all pages")
}).annotate({ identifier: "PlaybookRunList", description: "A page of a playbook's runs" })
export type PlaybookRunListWire = typeof PlaybookRunListWire.Type

/** Which runs of a playbook to list. */
export const ListPlaybookRunsQuery = Schema.Struct(offsetFields("runs"))
export type ListPlaybookRunsQuery = typeof ListPlaybookRunsQuery.Type

const progressOf = (
  status: Delivery["status"]
): Pick<DeliveryWire, "status" | "attempts" | "error" | "delivered_at" | "next_attempt_at"> => {
  switch (status._tag) {
    case "Pending":
      return { status: "pending", attempts: 0 }
    case "Sending":
      return { status: "sending", attempts: status.attempts }
    case "Delivered":
      return { status: "delivered", attempts: status.attempts, delivered_at: status.deliveredAt }
    case "Failed":
      return { status: "failed", attempts: status.attempts, error: status.error, next_attempt_at: status.nextAt }
    case "GivenUp":
      return { status: "given_up", attempts: status.attempts, error: status.error }
  }
}

/** A delivery as the wire shows it. */
export const ofDelivery = (delivery: Delivery): DeliveryWire => ({
  id: delivery.id,
  type: delivery.target._tag === "Email" ? "email" : "chat_channel",
  target: delivery.target._tag === "Email" ? delivery.target.address : delivery.target.channelId,
  ...progressOf(delivery.status)
})

const stateOf = (
  status: PlaybookRun["status"]
): Pick<PlaybookRunWire, "status" | "report_id" | "error_code" | "error" | "started_at" | "ended_at"> => {
  switch (status._tag) {
    case "Queued":
      return { status: "queued" }
    case "Running":
      return { status: "running", started_at: status.startedAt }
    case "Completed":
      return {
        status: "completed",
        report_id: status.reportId,
        started_at: status.startedAt,
        ended_at: status.endedAt
      }
    case "Failed":
      return { status: "failed", error_code: status.failure, error: status.error, ended_at: status.endedAt }
    case "Cancelled":
      return { status: "cancelled", ended_at: status.endedAt }
  }
}

/** A run as the wire shows it, with where its report went. */
export const ofPlaybookRun = ({ deliveries, run }: PlaybookRunView): PlaybookRunWire => {
  const chat = chatOf(run)
  return {
    id: run.id,
    trigger: run.trigger._tag === "Manual" ? "manual" : "schedule",
    ...(run.trigger._tag === "Schedule" ? { due_at: run.trigger.dueAt } : {}),
    ...(chat === undefined ? {} : { chat_id: chat.chatId }),
    ...stateOf(run.status),
    created_at: run.createdAt,
    deliveries: deliveries.map(ofDelivery)
  }
}

/** A page of runs as the wire shows it. */
export const ofPlaybookRuns = (page: Counted<PlaybookRunView>): PlaybookRunListWire => ({
  runs: page.items.map(ofPlaybookRun),
  total_count: page.totalCount
})

/** What a run came to, as the wire shows it. */
export const ofResult = (result: PlaybookResult, sign: SignAsset): PlaybookResultWire => ({
  chat_id: result.chatId,
  report: ofReport(result.report, result.htmlPreview, imageUrls(result.assets, sign)),
  assets: result.assets.map((asset) => ofAsset(asset, sign))
})
