/**
 * The use cases of the audit log: it is read, and nothing else. A read that is refused is on it.
 *
 * Source: decisions.md §3 ("Audit log").
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { enforce } from "../access/Decision.ts"
import type { CurrentPrincipal } from "../access/Principal.ts"
import type { NotFound, PermissionDenied } from "../error/Failure.ts"
import type { Slice } from "../page/Page.ts"
import type { AuditEvent } from "./AuditEvent.ts"
import * as AuditPolicy from "./AuditPolicy.ts"
import { type AuditQuery, AuditStore } from "./AuditStore.ts"
import { UseCase } from "./UseCase.ts"

/** The use cases of the audit log. */
export class AuditEvents extends Context.Service<
  AuditEvents,
  {
    /** The organization's events that match, newest first. */
    readonly list: (
      query: AuditQuery
    ) => Effect.Effect<Slice<AuditEvent>, PermissionDenied | NotFound, CurrentPrincipal>
  }
>()("@castellan/core/audit/AuditEvents") {}

/** The use cases over the store. */
export const layer: Layer.Layer<AuditEvents, never, AuditStore | UseCase> = Layer.effect(
  AuditEvents,
  Effect.gen(function* () {
    const store = yield* AuditStore
    const useCase = yield* UseCase
    return AuditEvents.of({
      list: Effect.fn("AuditEvents.list")(function* (query) {
        return yield* useCase.read(
          { action: "list", target: { type: "audit_log" } },
          Effect.fnUntraced(function* (principal) {
            yield* enforce(AuditPolicy.list(principal))
            return yield* store.list(principal.organizationId, query)
          })
        )
      })
    })
  })
)
