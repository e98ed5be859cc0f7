/**
 * The port that keeps the audit log. It has no way to change or remove an entry.
 *
 * Source: decisions.md §3 ("Append-only").
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { MemberId } from "../member/Member.ts"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import * as Page from "../page/Page.ts"
import type { AuditAction, AuditEvent, AuditEventId, AuditTargetType } from "./AuditEvent.ts"

/** Which entries to list; what is absent narrows nothing. */
export interface AuditQuery extends Page.PositionPage {
  readonly action?: AuditAction
  readonly targetType?: AuditTargetType
  readonly targetId?: string
  readonly memberId?: MemberId
  readonly outcome?: AuditEvent["outcome"]["_tag"]
  /** Entries at this moment or later. */
  readonly from?: DateTime.Utc
  /** Entries before this moment. */
  readonly until?: DateTime.Utc
}

/** Keeps audit events. No answer ever holds one of another organization. */
export class AuditStore extends Context.Service<
  AuditStore,
  {
    /** Adds an entry; part of the transaction that runs. */
    readonly append: (event: AuditEvent) => Effect.Effect<void>
    /** Entries newest first. */
    readonly list: (organizationId: OrganizationId, query: AuditQuery) => Effect.Effect<Page.Slice<AuditEvent>>
  }
>()("@castellan/core/audit/AuditStore") {}

const matches = (event: AuditEvent, query: AuditQuery): boolean =>
  (query.action === undefined || event.action === query.action) &&
  (query.targetType === undefined || event.target.type === query.targetType) &&
  (query.targetId === undefined || event.target.id === query.targetId) &&
  (query.memberId === undefined || event.actor.memberId === query.memberId) &&
  (query.outcome === undefined || event.outcome._tag === query.outcome) &&
  (query.from === undefined || DateTime.isGreaterThanOrEqualTo(event.at, query.from)) &&
  (query.until === undefined || DateTime.isLessThan(event.at, query.until))

/** Keeps audit events in memory. */
export const layerMemory: Layer.Layer<AuditStore> = Layer.effect(
  AuditStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<AuditEventId, AuditEvent>()
    return AuditStore.of({
      append: (event) => table.set(event.id, event),
      list: (organizationId, query) =>
        Effect.map(
          table.where((event) => event.organizationId === organizationId && matches(event, query)),
          (found) => Page.slice(found, query, ({ at, id }) => ({ at, id }))
        )
    })
  })
)
