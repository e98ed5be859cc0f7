/**
 * An app: a published dashboard, a named, ordered set of a chat's assets.
 *
 * Source: api-v2.md "RPC surface" (`GetApp`); decisions.md §9.
 */
import * as Schema from "effect/Schema"
import { Access, Creator } from "../access/Access.ts"
import { Asset } from "../asset/Asset.ts"
import { ChatId } from "../chat/Chat.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { MemberId } from "../member/Member.ts"
import { OrganizationId } from "../organization/Organization.ts"

/** An app's id. */
export const AppId = Uuid.pipe(Schema.brand("AppId"))
export type AppId = typeof AppId.Type

/** An app of an organization. */
export class App extends Schema.Class<App>("@castellan/core/app/App")({
  id: AppId,
  organizationId: OrganizationId,
  name: Schema.NonEmptyString,
  description: Schema.String,
  /** The chat whose assets it shows. */
  chatId: ChatId,
  /** What it shows, in this order; each once. */
  assets: Schema.Array(Asset),
  access: Access,
  /** Who made the chat: row policies were applied for them, so that not everybody may see its assets. */
  chatCreator: Schema.optionalKey(Creator),
  createdBy: MemberId,
  createdAt: Schema.DateTimeUtc,
  updatedAt: Schema.DateTimeUtc
}) {}
