/**
 * The operations of changes, bound to their use cases.
 *
 * Source: api-v2.md "Changes"; decisions.md §8.
 */
import { Api } from "@castellan/api/Api"
import * as ChangeWire from "@castellan/api/change/ChangeWire"
import { success } from "@castellan/api/wire/Outcome"
import { Changes } from "@castellan/core/change/Changes"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { PageTokens } from "../page/PageTokens.ts"
import { declared } from "../request/DeclaredFailures.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** The operations of changes. */
export const layer = HttpApiBuilder.group(
  Api,
  "changes",
  Effect.fnUntraced(function* (handlers) {
    const changes = yield* Changes
    const tokens = (yield* PageTokens).of("changes")

    return handlers.handleAll({
      list: Effect.fnUntraced(
        function* ({ query }) {
          const { after } = yield* tokens.page(query)
          return ChangeWire.ofChanges(yield* changes.list(ChangeWire.toChangeQuery(query, after)), tokens.seal)
        },
        declared("InvalidRequest", "PermissionDenied")
      ),

      get: Effect.fnUntraced(
        function* ({ params, query }) {
          return ChangeWire.ofChange(yield* changes.get(params.id, query.revision))
        },
        declared("PermissionDenied", "NotFound")
      ),

      approve: Effect.fnUntraced(
        function* ({ params, payload }) {
          return ChangeWire.ofApproved(yield* changes.approve(params.id, payload.expected_git_ref))
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      deny: Effect.fnUntraced(
        function* ({ params, payload }) {
          yield* changes.deny(params.id, payload.expected_git_ref)
          return success
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      restore: Effect.fnUntraced(
        function* ({ params, payload }) {
          return ChangeWire.ofMoved(yield* changes.restore(params.id, payload.expected_git_ref))
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      submit: Effect.fnUntraced(
        function* ({ params }) {
          return ChangeWire.ofMoved(yield* changes.submit(params.id))
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      )
    })
  }, OperationServices.given)
)
