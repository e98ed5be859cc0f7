/**
 * Where the request that is being carried out came from, for the audit log.
 *
 * Source: decisions.md §3 ("Audit log": request id, IP).
 */
import * as Context from "effect/Context"

/** A request's id and its client's address; neither where no request is behind the work. */
export interface RequestOrigin {
  readonly requestId?: string
  readonly address?: string
}

/** The origin of the request of this fiber. The adapter that speaks the wire provides it. */
export const RequestOrigin = Context.Reference<RequestOrigin>("@castellan/core/audit/RequestOrigin", {
  defaultValue: () => ({})
})
