/**
 * The use cases of apps.
 *
 * Source: api-v2.md "RPC surface" (`GetApp`); decisions.md §9.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { creatorOf } from "../access/Access.ts"
import { enforce } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import type { Asset, AssetId } from "../asset/Asset.ts"
import type { AuditEntry, AuditTarget } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import type { ChatId } from "../chat/Chat.ts"
import { Chats } from "../chat/Chats.ts"
import { type Failure, InvalidRequest, NotFound } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import type { Counted, OffsetPage } from "../page/Page.ts"
import { App, AppId } from "./App.ts"
import * as AppPatch from "./AppPatch.ts"
import * as AppPolicy from "./AppPolicy.ts"
import { AppStore } from "./AppStore.ts"

/** An app to make. */
export interface NewApp {
  readonly name: string
  readonly description?: string
  /** The chat whose assets it shows; the caller must be able to read it. */
  readonly chatId: ChatId
  /** What it shows, in this order; absent: every asset of the chat. */
  readonly assetIds?: ReadonlyArray<AssetId>
}

/** The use cases of apps. */
export class Apps extends Context.Service<
  Apps,
  {
    readonly create: (app: NewApp) => Effect.Effect<App, Failure, CurrentPrincipal>
    /** The apps that the caller may read. */
    readonly list: (page: OffsetPage) => Effect.Effect<Counted<App>, Failure, CurrentPrincipal>
    readonly get: (id: AppId) => Effect.Effect<App, Failure, CurrentPrincipal>
    /** Changes an app: what is omitted stays. New assets are taken from its chat, which the caller must then read. */
    readonly update: (id: AppId, patch: AppPatch.AppPatch) => Effect.Effect<App, Failure, CurrentPrincipal>
    readonly delete: (id: AppId) => Effect.Effect<void, Failure, CurrentPrincipal>
  }
>()("@castellan/core/app/Apps") {}

const target = (id: AppId): AuditTarget => ({ type: "app", id })

const said = (app: App) => ({
  name: app.name,
  description: app.description,
  assets: app.assets.map((asset) => asset.id)
})

/** The use cases over the store and the chats. */
export const layer: Layer.Layer<Apps, never, AppStore | Chats | SecureRandom.SecureRandom | UseCase> = Layer.effect(
  Apps,
  Effect.gen(function* () {
    const chats = yield* Chats
    const random = yield* SecureRandom.SecureRandom
    const store = yield* AppStore
    const useCase = yield* UseCase

    const find = Effect.fnUntraced(function* (principal: Principal, id: AppId, action: AppPolicy.AppAction) {
      const found = yield* store.get(principal.organizationId, id)
      if (Option.isNone(found)) return yield* new NotFound({ message: "app not found" })
      yield* enforce(AppPolicy.may(principal, action, found.value, yield* DateTime.now))
      return found.value
    })

    /** The assets that a changed app shows. Those that it has shown before need no sight of the chat. */
    const assetsOf = Effect.fnUntraced(function* (app: App, assetIds: ReadonlyArray<AssetId> | undefined) {
      if (assetIds === undefined) return app.assets
      const own = new Set(app.assets.map((asset) => asset.id))
      const more: ReadonlyArray<Asset> = assetIds.every((id) => own.has(id))
        ? []
        : (yield* chats.get(app.chatId)).transcript.assets
      return yield* Effect.fromResult(AppPatch.choose(assetIds, [...app.assets, ...more]))
    })

    return Apps.of({
      create: Effect.fn("Apps.create")(function* (sent) {
        yield* Effect.fromResult(AppPatch.shapeOf(sent))
        return yield* useCase.run({ action: "create", target: { type: "app" } }, (principal) =>
          Effect.gen(function* () {
            const { chat, transcript } = yield* chats.get(sent.chatId)
            yield* enforce(requires(principal, "app:write"))
            const assets =
              sent.assetIds === undefined
                ? transcript.assets.slice(0, AppPatch.maximumAssets)
                : yield* Effect.fromResult(AppPatch.choose(sent.assetIds, transcript.assets))
            if (assets.length === 0) {
              return yield* new InvalidRequest({ message: "asset_ids: an app shows at least one asset of its chat" })
            }
            const now = yield* DateTime.now
            const app = new App({
              id: AppId.make(yield* Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)),
              organizationId: principal.organizationId,
              name: sent.name,
              description: sent.description ?? "",
              chatId: chat.id,
              assets,
              access: { isPublic: false, grants: [], creator: creatorOf(principal) },
              ...(chat.access.creator === undefined ? {} : { chatCreator: chat.access.creator }),
              createdBy: principal.memberId,
              createdAt: now,
              updatedAt: now
            })
            yield* store.save(app)
            const entry: AuditEntry = { action: "create", target: target(app.id), after: said(app) }
            return { answer: app, entries: [entry] }
          })
        )
      }),

      list: Effect.fn("Apps.list")(function* (page) {
        return yield* useCase.read({ action: "list", target: { type: "app" } }, (reader) =>
          Effect.gen(function* () {
            yield* enforce(requires(reader, "app:read"))
            return yield* store.list({ ...page, reader, now: yield* DateTime.now })
          })
        )
      }),

      get: Effect.fn("Apps.get")(function* (id) {
        return yield* useCase.read({ action: "read", target: target(id) }, (reader) => find(reader, id, "read"))
      }),

      update: Effect.fn("Apps.update")(function* (id, patch) {
        yield* Effect.fromResult(AppPatch.shapeOf(patch))
        if (patch.assetIds?.length === 0) {
          return yield* new InvalidRequest({ message: "asset_ids: an app shows at least one asset of its chat" })
        }
        return yield* useCase.run({ action: "update", target: target(id) }, (principal) =>
          Effect.gen(function* () {
            const app = yield* find(principal, id, "update")
            const changed = new App({
              ...app,
              name: patch.name ?? app.name,
              description: patch.description ?? app.description,
              assets: yield* assetsOf(app, patch.assetIds),
              updatedAt: yield* DateTime.now
            })
            yield* store.save(changed)
            const entry: AuditEntry = { action: "update", target: target(id), before: said(app), after: said(changed) }
            return { answer: changed, entries: [entry] }
          })
        )
      }),

      delete: Effect.fn("Apps.delete")(function* (id) {
        yield* useCase.run({ action: "delete", target: target(id) }, (principal) =>
          Effect.gen(function* () {
            const app = yield* find(principal, id, "delete")
            yield* store.remove(principal.organizationId, id)
            const entry: AuditEntry = { action: "delete", target: target(id), before: said(app) }
            return { answer: undefined, entries: [entry] }
          })
        )
      })
    })
  })
)
