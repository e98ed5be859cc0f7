/**
 * The operations of API keys, bound to their use cases.
 *
 * Source: api-v2.md "API keys"; decisions.md §3.
 */
import { Api } from "@castellan/api/Api"
import { ofApiKeys, ofIssued, ofRotated } from "@castellan/api/apikey/ApiKeyWire"
import { ApiKeys } from "@castellan/core/apikey/ApiKeys"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { PageTokens } from "../page/PageTokens.ts"
import { declared } from "../request/DeclaredFailures.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** The operations of API keys. */
export const layer = HttpApiBuilder.group(
  Api,
  "apiKeys",
  Effect.fnUntraced(function* (handlers) {
    const keys = yield* ApiKeys
    const tokens = (yield* PageTokens).of("api-keys")

    return handlers.handleAll({
      mint: Effect.fnUntraced(
        function* ({ payload }) {
          return ofIssued(yield* keys.mint(payload), yield* DateTime.now)
        },
        declared("InvalidRequest", "Unauthenticated", "PermissionDenied")
      ),

      list: Effect.fnUntraced(function* ({ query }) {
        const { include_revoked: includeRevoked, scope } = query
        const listed = yield* keys.list({
          ...(yield* tokens.page(query)),
          ...(scope === undefined ? {} : { scope }),
          ...(includeRevoked === undefined ? {} : { includeRevoked })
        })
        return ofApiKeys(listed, yield* DateTime.now, tokens.seal)
      }, declared("PermissionDenied")),

      revoke: Effect.fnUntraced(
        function* ({ params }) {
          yield* keys.revoke(params.id)
          return { id: params.id, success: true }
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound")
      ),

      rotate: Effect.fnUntraced(
        function* ({ params, payload }) {
          return ofRotated(yield* keys.rotate(params.id, payload), yield* DateTime.now)
        },
        declared("InvalidRequest", "Unauthenticated", "PermissionDenied", "NotFound")
      )
    })
  }, OperationServices.given)
)
