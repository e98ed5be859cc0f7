/**
 * A report: what a playbook's run found, laid out to be read away from the chat.
 *
 * Source: api-v2.md "Report"; decisions.md §6.
 */
import * as Schema from "effect/Schema"
import { Creator } from "../access/Access.ts"
import { ChatId } from "../chat/Chat.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { Blocks } from "./Block.ts"

/** A report's id. */
export const ReportId = Uuid.pipe(Schema.brand("ReportId"))
export type ReportId = typeof ReportId.Type

/** A report of one run of a playbook. It never changes. */
export class Report extends Schema.Class<Report>("@castellan/core/report/Report")({
  id: ReportId,
  organizationId: OrganizationId,
  playbookId: Uuid.pipe(Schema.brand("PlaybookId")),
  /** The playbook's run that it is of. */
  runId: Uuid.pipe(Schema.brand("PlaybookRunId")),
  /** The chat that it was found out in. */
  chatId: ChatId,
  /** One line: the subject of the mail. */
  subject: Schema.NonEmptyString,
  /** What it comes to, in a sentence or two of plain text; empty where the run found no words. */
  summary: Schema.String,
  blocks: Blocks,
  /** On whose behalf it was made: row policies were applied for them, so that not everybody may read it. */
  creator: Creator,
  createdAt: Schema.DateTimeUtc
}) {}
