/**
 * The operations of apps, bound to their use cases.
 *
 * Source: decisions.md §9 (`/v2/apps`).
 */
import { Api } from "@castellan/api/Api"
import * as AppWire from "@castellan/api/app/AppWire"
import { toOffsetPage } from "@castellan/api/wire/PageWire"
import { Apps } from "@castellan/core/app/Apps"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { AssetSignature } from "../asset/AssetSignature.ts"
import { declared } from "../request/DeclaredFailures.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** The operations of apps. */
export const layer = HttpApiBuilder.group(
  Api,
  "apps",
  Effect.fnUntraced(function* (handlers) {
    const apps = yield* Apps
    const signature = yield* AssetSignature

    const sign = Effect.map(Clock.currentTimeMillis, signature.signer)

    return handlers.handleAll({
      create: Effect.fnUntraced(
        function* ({ payload }) {
          const { asset_ids: assetIds, chat_id: chatId, description, name } = payload
          const made = yield* apps.create({
            name,
            chatId,
            ...(description === undefined ? {} : { description }),
            ...(assetIds === undefined ? {} : { assetIds })
          })
          return AppWire.ofApp(made, yield* sign)
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      list: Effect.fnUntraced(function* ({ query }) {
        return AppWire.ofApps(yield* apps.list(toOffsetPage(query)), yield* sign)
      }, declared("PermissionDenied")),

      get: Effect.fnUntraced(
        function* ({ params }) {
          return AppWire.ofApp(yield* apps.get(params.id), yield* sign)
        },
        declared("PermissionDenied", "NotFound")
      ),

      update: Effect.fnUntraced(
        function* ({ params, payload }) {
          const { asset_ids: assetIds, description, name } = payload
          const changed = yield* apps.update(params.id, {
            ...(name === undefined ? {} : { name }),
            ...(description === undefined ? {} : { description }),
            ...(assetIds === undefined ? {} : { assetIds })
          })
          return AppWire.ofApp(changed, yield* sign)
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      delete: Effect.fnUntraced(
        function* ({ params }) {
          yield* apps.delete(params.id)
          return { id: params.id, success: true }
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      )
    })
  }, OperationServices.given)
)
