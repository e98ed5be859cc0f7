/**
 * The port that keeps changes.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import * as Page from "../page/Page.ts"
import { type Change, type ChangeId, ChangeNumber, type ChangeStatusName, statusName } from "./Change.ts"

/** Which changes are meant. */
export interface ChangeSelection {
  /** Only changes in one of these; absent: in any. */
  readonly statuses?: ReadonlyArray<ChangeStatusName>
  /** Whether changes that a folder's own exception approved are meant too. */
  readonly includeAutoApproved: boolean
  /**
   * Only those that the reader may see. Authority is by path and by the policies of the moment, so no store can know it
   * by an index: it asks for each change that it would answer with, in the order of its answer, and stops when it has
   * enough.
   */
  readonly visible: (change: Change) => boolean
}

/** How many changes there are in each status. */
export type ChangeCounts = { readonly [Status in ChangeStatusName]: number }

/** Keeps changes. No answer ever holds one of another organization. */
export class ChangeStore extends Context.Service<
  ChangeStore,
  {
    readonly get: (organizationId: OrganizationId, id: ChangeId) => Effect.Effect<Option.Option<Change>>
    readonly numbered: (organizationId: OrganizationId, number: ChangeNumber) => Effect.Effect<Option.Option<Change>>
    /**
     * Keeps a new change under the organization's next number: the numbers of an organization are 1, 2, 3 and so on,
     * without a gap or a repeat, whoever creates changes at the same time and whatever transaction is undone.
     */
    readonly add: (organizationId: OrganizationId, make: (number: ChangeNumber) => Change) => Effect.Effect<Change>
    /** Replaces the change of the same id. */
    readonly save: (change: Change) => Effect.Effect<void>
    /** Changes newest first, by their creation. */
    readonly list: (
      organizationId: OrganizationId,
      query: ChangeSelection & Page.PositionPage
    ) => Effect.Effect<Page.Slice<Change>>
    /** How many there are of each status, whatever statuses are asked for. */
    readonly counts: (
      organizationId: OrganizationId,
      selection: Omit<ChangeSelection, "statuses">
    ) => Effect.Effect<ChangeCounts>
  }
>()("@castellan/core/change/ChangeStore") {}

/** Where a change stands on a list. */
export const positionOf = (change: Change): Page.Position => ({ at: change.createdAt, id: change.id })

/** Whether a change is meant by a selection, the reader's sight aside. */
export const selects = (selection: Omit<ChangeSelection, "visible">, change: Change): boolean =>
  (selection.includeAutoApproved || !change.autoApproved) &&
  (selection.statuses === undefined || selection.statuses.includes(statusName(change.status)))

/** Counts changes by status. */
export const count = (changes: Iterable<Pick<Change, "status">>): ChangeCounts => {
  const counts = { draft: 0, open: 0, reserved: 0, approved: 0, denied: 0 }
  for (const change of changes) counts[statusName(change.status)] += 1
  return counts
}

/** Keeps changes in memory. */
export const layerMemory: Layer.Layer<ChangeStore> = Layer.effect(
  ChangeStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<ChangeId, Change>()
    const within = (organizationId: OrganizationId) => (change: Change) => change.organizationId === organizationId
    return ChangeStore.of({
      get: (organizationId, id) => Effect.map(table.get(id), Option.filter(within(organizationId))),
      numbered: (organizationId, number) =>
        Effect.map(
          table.where((change) => change.organizationId === organizationId && change.number === number),
          ([found]) => Option.fromUndefinedOr(found)
        ),
      add: (organizationId, make) =>
        table.modify((rows) => {
          let last = 0
          for (const change of rows.values()) if (within(organizationId)(change)) last = Math.max(last, change.number)
          const added = make(ChangeNumber.make(last + 1))
          return [added, [[added.id, added]]]
        }),
      save: (change) => table.set(change.id, change),
      list: (organizationId, query) =>
        Effect.map(
          table.where((change) => within(organizationId)(change) && selects(query, change) && query.visible(change)),
          (found) => Page.slice(found, query, positionOf)
        ),
      counts: (organizationId, selection) =>
        Effect.map(
          table.where(
            (change) => within(organizationId)(change) && selects(selection, change) && selection.visible(change)
          ),
          count
        )
    })
  })
)
