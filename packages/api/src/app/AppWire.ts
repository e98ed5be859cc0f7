/**
 * Apps on the wire.
 *
 * Source: decisions.md §9 (`/v2/apps`).
 */
import { type App, AppId } from "@castellan/core/app/App"
import { maximumAssets, maximumDescription, maximumName } from "@castellan/core/app/AppPatch"
import { AssetId } from "@castellan/core/asset/Asset"
import { ChatId } from "@castellan/core/chat/Chat"
import type { Counted } from "@castellan/core/page/Page"
import * as Schema from "effect/Schema"
import { AssetWire, ofAsset, type SignAsset } from "../asset/AssetWire.ts"
import { offsetFields } from "../wire/PageWire.ts"
import { boundedText, count, flag, listOf, text, timestamp, uuid } from "../wire/WireValue.ts"

/** An app. */
export const AppWire = Schema.Struct({
  id: uuid(AppId, "The app's id"),
  name: text("The app's name"),
  description: text("What the app shows; may be empty"),
  chat_id: uuid(ChatId, "The chat whose assets it shows"),
  assets: Schema.Array(AssetWire).annotate({ description: "What it shows, in this order" }),
  created_at: timestamp("When the app was made"),
  updated_at: timestamp("When the app was last changed")
}).annotate({ identifier: "App", description: "A published dashboard: some of a chat's assets, in an order" })
export type AppWire = typeof AppWire.Type

/** A page of apps. */
export const AppListWire = Schema.Struct({
  apps: Schema.Array(AppWire).annotate({ description: "The apps of this page" }),
  total_count: count("How many apps there are on all pages")
}).annotate({ identifier: "AppList", description: "A page of apps" })
export type AppListWire = typeof AppListWire.Type

/** An app was deleted. */
export const AppDeletionWire = Schema.Struct({
  id: uuid(AppId, "The app that was deleted"),
  success: flag("Always true")
}).annotate({ identifier: "AppDeletion", description: "An app was deleted" })
export type AppDeletionWire = typeof AppDeletionWire.Type

const name = boundedText({ minimum: 1, maximum: maximumName }, "The app's name")
const description = boundedText({ minimum: 0, maximum: maximumDescription }, "What the app shows")
const assetIds = listOf(
  uuid(AssetId, "An asset's id"),
  { minimum: 1, maximum: maximumAssets },
  "asset ids",
  "The assets of the chat that it shows, in this order"
)

/** An app to be made. */
export const CreateAppRequest = Schema.Struct({
  name,
  description: Schema.optionalKey(description),
  chat_id: uuid(ChatId, "The chat whose assets it shows"),
  asset_ids: Schema.optionalKey(
    assetIds.annotate({ description: "The assets of the chat that it shows, in this order; absent, every one" })
  )
}).annotate({ identifier: "CreateAppRequest", description: "An app to be made", message: "must be a JSON object" })
export type CreateAppRequest = typeof CreateAppRequest.Type

/** What to change of an app; what is absent stays. */
export const UpdateAppRequest = Schema.Struct({
  name: Schema.optionalKey(name),
  description: Schema.optionalKey(description),
  asset_ids: Schema.optionalKey(assetIds)
}).annotate({
  identifier: "UpdateAppRequest",
  description: "What to change of an app; what is absent stays",
  message: "must be a JSON object"
})
export type UpdateAppRequest = typeof UpdateAppRequest.Type

/** Which apps to list. */
export const ListAppsQuery = Schema.Struct(offsetFields("apps"))
export type ListAppsQuery = typeof ListAppsQuery.Type

/** An app as the wire shows it. */
export const ofApp = (app: App, sign: SignAsset): AppWire => ({
  id: app.id,
  name: app.name,
  description: app.description,
  chat_id: app.chatId,
  assets: app.assets.map((asset) => ofAsset(asset, sign)),
  created_at: app.createdAt,
  updated_at: app.updatedAt
})

/** A page of apps as the wire shows it. */
export const ofApps = (page: Counted<App>, sign: SignAsset): AppListWire => ({
  apps: page.items.map((app) => ofApp(app, sign)),
  total_count: page.totalCount
})
