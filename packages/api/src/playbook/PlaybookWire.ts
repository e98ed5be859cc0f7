/**
 * Playbooks on the wire.
 *
 * Source: api-v2.md "Playbook", "Playbooks"; decisions.md §6.
 */
import { ConnectorId } from "@castellan/core/connector/Connector"
import type { Counted } from "@castellan/core/page/Page"
import { type Playbook, PlaybookId } from "@castellan/core/playbook/Playbook"
import {
  maximumAddresses,
  maximumEntries,
  maximumName,
  maximumPrompt,
  type PlaybookPatch
} from "@castellan/core/playbook/PlaybookPatch"
import type { PlaybookView } from "@castellan/core/playbook/Playbooks"
import type { Report } from "@castellan/core/report/Report"
import type * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import { offsetFields, searchTerm, sortFields, toOffsetPage } from "../wire/PageWire.ts"
import {
  boundedText,
  connectorId,
  count,
  emailAddress,
  listOf,
  oneOf,
  text,
  timestamp,
  uuid
} from "../wire/WireValue.ts"
import type { ImageUrl } from "./BlockWire.ts"
import { ofReport, ReportWire } from "./ReportWire.ts"

/** How far a playbook has come, in the wire's words. */
export const PlaybookStatusWire = Schema.Literals(["draft", "deployed"]).annotate({
  description: "How far the playbook has come"
})
export type PlaybookStatusWire = typeof PlaybookStatusWire.Type

/** A playbook. */
export const PlaybookWire = Schema.Struct({
  id: uuid(PlaybookId, "The playbook's id"),
  name: text("The playbook's name; empty until it has one"),
  prompt: text("What a run is asked; empty until it is set"),
  status: PlaybookStatusWire,
  created_at: timestamp("When the playbook was made"),
  updated_at: timestamp("When the playbook was last changed"),
  connector_ids: Schema.Array(ConnectorId).annotate({
    description: "The connectors that a run may use; none, every one that whoever it runs for may use"
  }),
  cron_string: Schema.optionalKey(text("When it runs; absent where it has no schedule")),
  timezone: text("The time zone whose clock the schedule goes by"),
  email_addresses: Schema.optionalKey(
    Schema.Array(Schema.String).annotate({ description: "Whom its reports are mailed to; absent where it is nobody" })
  ),
  chat_channel_id: Schema.optionalKey(text("The chat channel that its reports are posted to"))
}).annotate({ identifier: "Playbook", description: "A saved prompt, with a schedule and with targets of its reports" })
export type PlaybookWire = typeof PlaybookWire.Type

/** A page of playbooks. */
export const PlaybookListWire = Schema.Struct({
  playbooks: Schema.Array(PlaybookWire).annotate({ description: "The playbooks of this page" }),
  total_count: count("How many playbooks there are on all pages")
}).annotate({ identifier: "PlaybookList", description: "A page of playbooks" })
export type PlaybookListWire = typeof PlaybookListWire.Type

/** A playbook with a page of its reports. */
export const PlaybookViewWire = Schema.Struct({
  playbook: PlaybookWire,
  reports: Schema.Array(ReportWire).annotate({ description: "The reports of this page, newest first" }),
  total_reports_count: count("How many reports there are on all pages")
}).annotate({ identifier: "PlaybookView", description: "A playbook with a page of its reports" })
export type PlaybookViewWire = typeof PlaybookViewWire.Type

/** A playbook was deployed. */
export const PlaybookDeploymentWire = Schema.Struct({
  playbook_id: uuid(PlaybookId, "The playbook"),
  deployed_at: timestamp("When it was deployed")
}).annotate({ identifier: "PlaybookDeployment", description: "A playbook was deployed" })
export type PlaybookDeploymentWire = typeof PlaybookDeploymentWire.Type

/** A playbook is deployed no longer. */
export const PlaybookUndeploymentWire = Schema.Struct({
  playbook_id: uuid(PlaybookId, "The playbook"),
  undeployed_at: timestamp("When it was taken back")
}).annotate({ identifier: "PlaybookUndeployment", description: "A playbook is deployed no longer" })
export type PlaybookUndeploymentWire = typeof PlaybookUndeploymentWire.Type

/** A playbook was deleted. */
export const PlaybookDeletionWire = Schema.Struct({
  playbook_id: uuid(PlaybookId, "The playbook"),
  deleted_at: timestamp("When it was deleted")
}).annotate({ identifier: "PlaybookDeletion", description: "A playbook was deleted" })
export type PlaybookDeletionWire = typeof PlaybookDeletionWire.Type

const texts = (maximum: number, what: string, description: string) =>
  listOf(boundedText({ minimum: 1, maximum: 255 }, "An id"), { maximum }, what, description)

/** What to change of a playbook: what is omitted stays, an empty text or list clears. */
export const UpdatePlaybookRequest = Schema.Struct({
  name: Schema.optionalKey(boundedText({ minimum: 0, maximum: maximumName }, "The playbook's name")),
  prompt: Schema.optionalKey(boundedText({ minimum: 0, maximum: maximumPrompt }, "What a run is asked")),
  cron_string: Schema.optionalKey(
    boundedText(
      { minimum: 0, maximum: 255 },
      "When it runs: five cron fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`"
    )
  ),
  timezone: Schema.optionalKey(
    boundedText({ minimum: 0, maximum: 255 }, "The time zone of the schedule, by its IANA name; `UTC` at first")
  ),
  connector_ids: Schema.optionalKey(
    listOf(
      connectorId,
      { maximum: maximumEntries },
      "connector ids",
      "The connectors that a run may use; none, every one that whoever it runs for may use"
    )
  ),
  dataset_ids: Schema.optionalKey(texts(maximumEntries, "ids", "Datasets that a run starts from")),
  email_addresses: Schema.optionalKey(
    listOf(
      emailAddress("Whom its reports are mailed to"),
      { maximum: maximumAddresses },
      "e-mail addresses",
      "Whom its reports are mailed to"
    )
  ),
  chat_channel_id: Schema.optionalKey(
    boundedText({ minimum: 0, maximum: 255 }, "The chat channel that its reports are posted to")
  ),
  tagged_chat_user_ids: Schema.optionalKey(
    texts(maximumEntries, "ids", "People of the chat tool who are tagged where its reports are posted")
  ),
  selected_template_data_ids: Schema.optionalKey(texts(maximumEntries, "ids", "Template data that a run starts from"))
}).annotate({
  identifier: "UpdatePlaybookRequest",
  description: "What to change of a playbook: what is omitted stays, an empty text or list clears",
  message: "must be a JSON object"
})
export type UpdatePlaybookRequest = typeof UpdatePlaybookRequest.Type

/** Which playbooks to list. */
export const ListPlaybooksQuery = Schema.Struct({
  ...offsetFields("playbooks"),
  search_term: searchTerm("name or prompt"),
  ...sortFields,
  status_filter: Schema.optionalKey(oneOf(["draft", "deployed"], "Only playbooks that have come this far"))
})
export type ListPlaybooksQuery = typeof ListPlaybooksQuery.Type

/** Which reports of a playbook to list. */
export const ListReportsQuery = Schema.Struct(offsetFields("reports"))
export type ListReportsQuery = typeof ListReportsQuery.Type

const statuses = { draft: "Draft", deployed: "Deployed" } as const

/** The list of playbooks that a query asks for. */
export const toPlaybookQuery = (query: ListPlaybooksQuery) => ({
  ...toOffsetPage(query),
  // An empty term is in every text: it narrows nothing.
  ...(query.search_term === undefined || query.search_term === "" ? {} : { searchTerm: query.search_term }),
  sortBy: query.sort_by ?? "updated_at",
  sortDirection: query.sort_direction ?? "desc",
  ...(query.status_filter === undefined ? {} : { status: statuses[query.status_filter] })
})

/** The change that a request asks for, in the domain's terms. */
export const toPlaybookPatch = (request: UpdatePlaybookRequest): PlaybookPatch => ({
  ...(request.name === undefined ? {} : { name: request.name }),
  ...(request.prompt === undefined ? {} : { prompt: request.prompt }),
  ...(request.cron_string === undefined ? {} : { cronString: request.cron_string }),
  ...(request.timezone === undefined ? {} : { timeZone: request.timezone }),
  ...(request.connector_ids === undefined ? {} : { connectorIds: request.connector_ids }),
  ...(request.dataset_ids === undefined ? {} : { datasetIds: request.dataset_ids }),
  ...(request.email_addresses === undefined ? {} : { emailAddresses: request.email_addresses }),
  ...(request.chat_channel_id === undefined ? {} : { chatChannelId: request.chat_channel_id }),
  ...(request.tagged_chat_user_ids === undefined ? {} : { taggedChatUserIds: request.tagged_chat_user_ids }),
  ...(request.selected_template_data_ids === undefined
    ? {}
    : { selectedTemplateDataIds: request.selected_template_data_ids })
})

/** A playbook as the wire shows it. */
export const ofPlaybook = ({ configuration, createdAt, id, status, updatedAt }: Playbook): PlaybookWire => ({
  id,
  name: configuration.name,
  prompt: configuration.prompt,
  status: status._tag === "Deployed" ? "deployed" : "draft",
  created_at: createdAt,
  updated_at: updatedAt,
  connector_ids: configuration.connectorIds,
  ...(configuration.cron === undefined ? {} : { cron_string: configuration.cron }),
  timezone: configuration.timeZone,
  ...(configuration.emailAddresses.length === 0 ? {} : { email_addresses: configuration.emailAddresses }),
  ...(configuration.chatChannelId === undefined ? {} : { chat_channel_id: configuration.chatChannelId })
})

/** A page of playbooks as the wire shows it. */
export const ofPlaybooks = (page: Counted<Playbook>): PlaybookListWire => ({
  playbooks: page.items.map(ofPlaybook),
  total_count: page.totalCount
})

/** A playbook with a page of its reports as the wire shows it, given where the images of a report are. */
export const ofPlaybookView = (
  { playbook, reports }: PlaybookView,
  urlsOf: (report: Report) => ImageUrl
): PlaybookViewWire => ({
  playbook: ofPlaybook(playbook),
  reports: reports.items.map(({ htmlPreview, report }) => ofReport(report, htmlPreview, urlsOf(report))),
  total_reports_count: reports.totalCount
})

/** A deployment as the wire shows it. */
export const ofDeployment = (id: PlaybookId, at: DateTime.Utc): PlaybookDeploymentWire => ({
  playbook_id: id,
  deployed_at: at
})

/** An undeployment as the wire shows it. */
export const ofUndeployment = (id: PlaybookId, at: DateTime.Utc): PlaybookUndeploymentWire => ({
  playbook_id: id,
  undeployed_at: at
})

/** A deletion as the wire shows it. */
export const ofDeletion = (id: PlaybookId, at: DateTime.Utc): PlaybookDeletionWire => ({
  playbook_id: id,
  deleted_at: at
})
