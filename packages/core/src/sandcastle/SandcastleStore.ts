/**
 * The port that keeps sandcastles: who has which, and how it is. Their sessions are the runtime's.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Principal } from "../access/Principal.ts"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import * as Page from "../page/Page.ts"
import { lastUsedAt, type Sandcastle, type SandcastleId } from "./Sandcastle.ts"
import { owns } from "./SandcastlePolicy.ts"

/** Which sandcastles a list holds. Source: decisions.md §7 (`GET /v2/sandcastles`). */
export interface SandcastleQuery extends Page.PositionPage {
  /** Only its own. */
  readonly reader: Principal
  /** `running` holds all that were not stopped: those that are stale or unknown as well. */
  readonly status: "running" | "stopped" | "all"
}

/** Keeps sandcastles. No answer ever holds one of another organization, but for `idleSince`. */
export class SandcastleStore extends Context.Service<
  SandcastleStore,
  {
    readonly get: (organizationId: OrganizationId, id: SandcastleId) => Effect.Effect<Option.Option<Sandcastle>>
    /** Sandcastles newest first. */
    readonly list: (query: SandcastleQuery) => Effect.Effect<Page.Slice<Sandcastle>>
    /** Inserts the sandcastle, or replaces the one of the same id. */
    readonly save: (sandcastle: Sandcastle) => Effect.Effect<void>
    /**
     * Replaces a sandcastle that was not used or stopped since it was found. False, and nothing is changed, where it
     * was: of all servers that find it idle, one stops it.
     */
    readonly replace: (found: Sandcastle, next: Sandcastle) => Effect.Effect<boolean>
    /** The sandcastles of every organization that were not stopped and not used since a moment, for the sweep. */
    readonly idleSince: (moment: DateTime.Utc) => Effect.Effect<ReadonlyArray<Sandcastle>>
  }
>()("@castellan/core/sandcastle/SandcastleStore") {}

const matches = (query: SandcastleQuery, sandcastle: Sandcastle): boolean =>
  sandcastle.organizationId === query.reader.organizationId &&
  owns(query.reader, sandcastle) &&
  (query.status === "all" || (query.status === "stopped") === (sandcastle.status._tag === "Stopped"))

/** Keeps sandcastles in memory. */
export const layerMemory: Layer.Layer<SandcastleStore> = Layer.effect(
  SandcastleStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<SandcastleId, Sandcastle>()
    return SandcastleStore.of({
      get: (organizationId, id) =>
        Effect.map(
          table.get(id),
          Option.filter((sandcastle) => sandcastle.organizationId === organizationId)
        ),
      list: (query) =>
        Effect.map(
          table.where((sandcastle) => matches(query, sandcastle)),
          (found) => Page.slice(found, query, ({ createdAt, id }) => ({ at: createdAt, id }))
        ),
      save: (sandcastle) => table.set(sandcastle.id, sandcastle),
      replace: (found, next) =>
        table.modify((rows) => {
          const current = rows.get(found.id)
          return current !== undefined &&
            current.organizationId === found.organizationId &&
            Equal.equals(lastUsedAt(current), lastUsedAt(found))
            ? [true, [[next.id, next]]]
            : [false, []]
        }),
      idleSince: (moment) =>
        table.where((sandcastle) => {
          const used = lastUsedAt(sandcastle)
          return used !== undefined && DateTime.isLessThanOrEqualTo(used, moment)
        })
    })
  })
)
