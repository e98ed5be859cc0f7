/**
 * The operation of sessions, bound to its use case.
 *
 * Source: decisions.md §3 (`POST /v2/sessions`).
 */
import { Api } from "@castellan/api/Api"
import { ofMintedSession } from "@castellan/api/session/SessionWire"
import { Sessions } from "@castellan/core/session/Sessions"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { declared } from "../request/DeclaredFailures.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** The operations of sessions. */
export const layer = HttpApiBuilder.group(
  Api,
  "sessions",
  Effect.fnUntraced(function* (handlers) {
    const sessions = yield* Sessions
    return handlers.handleAll({
      mint: () => Effect.map(sessions.mint, ofMintedSession).pipe(declared("Unauthenticated", "PermissionDenied"))
    })
  }, OperationServices.given)
)
