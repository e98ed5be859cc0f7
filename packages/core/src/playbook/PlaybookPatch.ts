/**
 * A change of a playbook's configuration: what is omitted stays, an empty text or list clears.
 *
 * Source: api-v2.md (`PATCH /v2/playbooks/{id}`); decisions.md §6 ("PATCH").
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ConnectorId } from "../connector/Connector.ts"
import { ChatChannelId, ChatUserId } from "../delivery/Delivery.ts"
import { InvalidRequest } from "../error/Failure.ts"
import { EmailAddress } from "../member/EmailAddress.ts"
import * as Cron from "../schedule/Cron.ts"
import { emptyConfiguration, type PlaybookConfiguration } from "./Playbook.ts"

/** The fields of a change, as they were sent. */
export interface PlaybookPatch {
  readonly name?: string
  readonly prompt?: string
  readonly cronString?: string
  readonly timeZone?: string
  readonly connectorIds?: ReadonlyArray<number>
  readonly datasetIds?: ReadonlyArray<string>
  readonly emailAddresses?: ReadonlyArray<string>
  readonly chatChannelId?: string
  readonly taggedChatUserIds?: ReadonlyArray<string>
  readonly selectedTemplateDataIds?: ReadonlyArray<string>
}

/** Characters of a name at most. */
export const maximumName = 200

/** Characters of a prompt at most. */
export const maximumPrompt = 50_000

/** E-mail addresses at most. Source: decisions.md §6. */
export const maximumAddresses = 50

/** Entries of any other list at most. */
export const maximumEntries = 100

type Checked<A> = Result.Result<A, InvalidRequest>

const refuse = (message: string): Checked<never> => Result.fail(new InvalidRequest({ message }))

const text = (field: string, value: string, maximum: number): Checked<string> =>
  value.length > maximum ? refuse(`${field}: must be at most ${maximum} characters`) : Result.succeed(value)

const isEmailAddress = Schema.is(EmailAddress)
const isChatChannelId = Schema.is(ChatChannelId)
const isChatUserId = Schema.is(ChatUserId)
const isConnectorId = Schema.is(ConnectorId)

/** The entries of a list, each once; the first that is not what it should be is told by its place. */
const list = <A, B extends A>(
  field: string,
  values: ReadonlyArray<A>,
  rule: {
    readonly maximum: number
    readonly is: (value: A) => value is B
    readonly what: string
    readonly key: (value: B) => unknown
  }
): Checked<ReadonlyArray<B>> => {
  if (values.length > rule.maximum) return refuse(`${field}: must have at most ${rule.maximum} entries`)
  const kept = new Map<unknown, B>()
  for (const [index, value] of values.entries()) {
    if (!rule.is(value)) return refuse(`${field}[${index}]: ${JSON.stringify(value)} is not ${rule.what}`)
    if (!kept.has(rule.key(value))) kept.set(rule.key(value), value)
  }
  return Result.succeed([...kept.values()])
}

const isFilled = (value: string): value is string => value !== "" && value.length <= 255
const identifier = {
  maximum: maximumEntries,
  is: isFilled,
  what: "an id of 1 to 255 characters",
  key: (value: string) => value
}

/** The configuration after a change; the message of a refusal names the field and the rule. */
export const apply = (
  configuration: PlaybookConfiguration,
  patch: PlaybookPatch
): Result.Result<PlaybookConfiguration, InvalidRequest> =>
  Result.gen(function* () {
    const { chatChannelId: channelBefore, cron: cronBefore, ...before } = configuration
    const cron =
      patch.cronString === undefined
        ? cronBefore
        : patch.cronString.trim() === ""
          ? undefined
          : yield* Cron.parse(patch.cronString)
    if (patch.chatChannelId !== undefined && patch.chatChannelId !== "" && !isChatChannelId(patch.chatChannelId)) {
      return yield* refuse(`chat_channel_id: ${JSON.stringify(patch.chatChannelId)} is not a chat channel's id`)
    }
    const channel =
      patch.chatChannelId === undefined
        ? channelBefore
        : patch.chatChannelId === ""
          ? undefined
          : ChatChannelId.make(patch.chatChannelId)
    return {
      name: patch.name === undefined ? before.name : yield* text("name", patch.name, maximumName),
      prompt: patch.prompt === undefined ? before.prompt : yield* text("prompt", patch.prompt, maximumPrompt),
      ...(cron === undefined ? {} : { cron }),
      timeZone:
        patch.timeZone === undefined
          ? before.timeZone
          : patch.timeZone === ""
            ? emptyConfiguration.timeZone
            : yield* Cron.parseTimeZone(patch.timeZone),
      connectorIds:
        patch.connectorIds === undefined
          ? before.connectorIds
          : yield* list<number, ConnectorId>("connector_ids", patch.connectorIds, {
              maximum: maximumEntries,
              is: isConnectorId,
              what: "a connector's id",
              key: (value) => value
            }),
      emailAddresses:
        patch.emailAddresses === undefined
          ? before.emailAddresses
          : yield* list<string, EmailAddress>("email_addresses", patch.emailAddresses, {
              maximum: maximumAddresses,
              is: isEmailAddress,
              what: "an e-mail address",
              key: (value) => value.toLowerCase()
            }),
      ...(channel === undefined ? {} : { chatChannelId: channel }),
      taggedChatUserIds:
        patch.taggedChatUserIds === undefined
          ? before.taggedChatUserIds
          : yield* list<string, ChatUserId>("tagged_chat_user_ids", patch.taggedChatUserIds, {
              maximum: maximumEntries,
              is: isChatUserId,
              what: "a chat user's id",
              key: (value) => value
            }),
      datasetIds:
        patch.datasetIds === undefined ? before.datasetIds : yield* list("dataset_ids", patch.datasetIds, identifier),
      selectedTemplateDataIds:
        patch.selectedTemplateDataIds === undefined
          ? before.selectedTemplateDataIds
          : yield* list("selected_template_data_ids", patch.selectedTemplateDataIds, identifier)
    }
  })
