/**
 * What one run used up, and on whose behalf: the rows that usage is summed from.
 *
 * Source: decisions.md §4 ("Usage").
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ClientMetadata } from "../access/ClientMetadata.ts"
import { ChatId } from "../chat/Chat.ts"
import { MemberId } from "../member/Member.ts"
import { ModelId } from "../model/Model.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { RoleId } from "../role/Role.ts"
import { type Run, RunId } from "../run/Run.ts"
import { costOf, Micros, type ModelPrice } from "./ModelPrices.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** What one run used up. A run has one record, made when it ends, however it ends. */
export class UsageRecord extends Schema.Class<UsageRecord>("@castellan/core/usage/UsageRecord")({
  runId: RunId,
  organizationId: OrganizationId,
  chatId: ChatId,
  /** The member that the run acted as. */
  memberId: MemberId,
  /** The effective roles that it ran with. */
  roles: Schema.Array(RoleId),
  clientMetadata: Schema.optionalKey(ClientMetadata),
  model: ModelId,
  inputTokens: Count,
  outputTokens: Count,
  toolCalls: Count,
  /** From the moment that the question was asked to the end, in milliseconds. */
  durationMillis: Count,
  /** Absent where the model has no price. */
  cost: Schema.optionalKey(Micros),
  /** When the run ended. */
  at: Schema.DateTimeUtc
}) {}

/** The record of a run that has ended, at its model's price; none of one that goes on. */
export const ofRun = (run: Run, price: ModelPrice | undefined): Option.Option<UsageRecord> => {
  const { principal, status, usage } = run
  if (status._tag === "Queued" || status._tag === "Running") return Option.none()
  return Option.some(
    new UsageRecord({
      runId: run.id,
      organizationId: run.organizationId,
      chatId: run.chatId,
      memberId: principal.memberId,
      roles: [...new Set(principal.roles.map((role) => role.id))],
      ...(principal.clientMetadata === undefined ? {} : { clientMetadata: principal.clientMetadata }),
      model: run.model,
      ...usage,
      durationMillis: Math.max(0, DateTime.toEpochMillis(status.endedAt) - DateTime.toEpochMillis(run.createdAt)),
      ...(price === undefined ? {} : { cost: costOf(usage, price) }),
      at: status.endedAt
    })
  )
}
