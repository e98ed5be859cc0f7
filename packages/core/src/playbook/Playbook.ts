/**
 * A playbook: a saved prompt, with an optional schedule, and with targets that its reports are delivered to.
 *
 * Source: api-v2.md "Playbook"; decisions.md §6.
 */
import * as Schema from "effect/Schema"
import { Access } from "../access/Access.ts"
import { ConnectorId } from "../connector/Connector.ts"
import { ChatChannelId, ChatUserId, DeliveryTarget } from "../delivery/Delivery.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { EmailAddress } from "../member/EmailAddress.ts"
import { MemberId } from "../member/Member.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { CronText, TimeZoneName } from "../schedule/Cron.ts"

/** A playbook's id. */
export const PlaybookId = Uuid.pipe(Schema.brand("PlaybookId"))
export type PlaybookId = typeof PlaybookId.Type

/** How far a playbook has come. A deleted one is kept for its runs, and shown to nobody. */
export const PlaybookStatus = Schema.TaggedUnion({
  Draft: {},
  /** Its schedule, where it has one, is in force. */
  Deployed: { deployedAt: Schema.DateTimeUtc },
  Deleted: { deletedAt: Schema.DateTimeUtc }
})
export type PlaybookStatus = typeof PlaybookStatus.Type

/** What a playbook does: all that a PATCH changes. Texts and lists that nobody has set are empty. */
export const PlaybookConfiguration = Schema.Struct({
  name: Schema.String,
  prompt: Schema.String,
  /** The connectors that a run may use; none: every one that whoever it runs for may use. */
  connectorIds: Schema.Array(ConnectorId),
  cron: Schema.optionalKey(CronText),
  /** The zone whose clock the schedule goes by. */
  timeZone: TimeZoneName,
  emailAddresses: Schema.Array(EmailAddress),
  chatChannelId: Schema.optionalKey(ChatChannelId),
  taggedChatUserIds: Schema.Array(ChatUserId),
  datasetIds: Schema.Array(Schema.String),
  selectedTemplateDataIds: Schema.Array(Schema.String)
})
export type PlaybookConfiguration = typeof PlaybookConfiguration.Type

/** The configuration of a new playbook. */
export const emptyConfiguration: PlaybookConfiguration = {
  name: "",
  prompt: "",
  connectorIds: [],
  timeZone: TimeZoneName.make("UTC"),
  emailAddresses: [],
  taggedChatUserIds: [],
  datasetIds: [],
  selectedTemplateDataIds: []
}

/** A playbook of an organization. */
export class Playbook extends Schema.Class<Playbook>("@castellan/core/playbook/Playbook")({
  id: PlaybookId,
  organizationId: OrganizationId,
  configuration: PlaybookConfiguration,
  status: PlaybookStatus,
  access: Access,
  createdBy: MemberId,
  createdAt: Schema.DateTimeUtc,
  updatedAt: Schema.DateTimeUtc
}) {}

/** Where the reports of a playbook go, each target once. */
export const targetsOf = (configuration: PlaybookConfiguration): ReadonlyArray<DeliveryTarget> => [
  ...configuration.emailAddresses.map((address) => DeliveryTarget.cases.Email.make({ address })),
  ...(configuration.chatChannelId === undefined
    ? []
    : [
        DeliveryTarget.cases.ChatChannel.make({
          channelId: configuration.chatChannelId,
          taggedUserIds: configuration.taggedChatUserIds
        })
      ])
]
