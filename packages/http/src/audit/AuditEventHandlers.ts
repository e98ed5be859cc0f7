/**
 * The operation of the audit log, bound to its use case.
 *
 * Source: decisions.md §3 (`GET /v2/audit-events`).
 */
import { Api } from "@castellan/api/Api"
import { ofAuditEvents, toAuditQuery } from "@castellan/api/audit/AuditWire"
import { AuditEvents } from "@castellan/core/audit/AuditEvents"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { PageTokens } from "../page/PageTokens.ts"
import { declared } from "../request/DeclaredFailures.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** The operations of the audit log. */
export const layer = HttpApiBuilder.group(
  Api,
  "auditEvents",
  Effect.fnUntraced(function* (handlers) {
    const events = yield* AuditEvents
    const tokens = (yield* PageTokens).of("audit-events")

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { after } = yield* tokens.page(query)
        return ofAuditEvents(yield* events.list(toAuditQuery(query, after)), tokens.seal)
      }, declared("PermissionDenied"))
    })
  }, OperationServices.given)
)
