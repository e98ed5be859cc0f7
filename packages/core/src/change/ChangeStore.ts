/**
 * The port that keeps changes.
 *
 * Source: decisions.md §8; architecture.md §2 (optimistic checks).
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import * as Page from "../page/Page.ts"
import { type Change, ChangeId, ChangeNumber, type ChangeStatusName, statusName } from "./Change.ts"
import { type ChangeReader, sees } from "./ChangeReader.ts"

/** Which changes are meant. */
export interface ChangeSelection {
  /** Only changes in one of these; absent: in any. */
  readonly statuses?: ReadonlyArray<ChangeStatusName>
  /** Whether changes that a folder's own exception approved are meant too. */
  readonly includeAutoApproved: boolean
  /** Only those that are there for the reader. */
  readonly reader: ChangeReader
}

/** A change is no longer what it was expected to be: somebody else has written to it. */
export class ChangeMoved extends Schema.TaggedError<ChangeMoved>()("ChangeMoved", { id: ChangeId }) {
  override get message(): string {
    return `the change ${this.id} is no longer what it was`
  }
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
    /**
     * Replaces a change by what became of it, if it still is what it was: in its status, its latest revision and its
     * approvals. Of several that replace the same one, exactly one succeeds. Revisions that were there stay as they were.
     */
    readonly replace: (before: Change, after: Change) => Effect.Effect<void, ChangeMoved>
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

/** Whether a change is meant by a selection. */
export const selects = (selection: ChangeSelection, change: Change): boolean =>
  (selection.includeAutoApproved || !change.autoApproved) &&
  (selection.statuses === undefined || selection.statuses.includes(statusName(change.status))) &&
  sees(selection.reader, change)

/** Whether a change that is kept is still what it was, as far as it is written to at all. */
export const stands = (kept: Change, before: Change): boolean =>
  statusName(kept.status) === statusName(before.status) &&
  kept.autoApproved === before.autoApproved &&
  kept.gitRef === before.gitRef &&
  kept.approvals.length === before.approvals.length

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
      replace: (before, after) =>
        Effect.flatMap(
          table.modify((rows) => {
            const kept = rows.get(before.id)
            const isSame = kept !== undefined && within(before.organizationId)(kept) && stands(kept, before)
            return [isSame, isSame ? [[before.id, after]] : []]
          }),
          (isSame) => (isSame ? Effect.void : Effect.fail(new ChangeMoved({ id: before.id })))
        ),
      list: (organizationId, query) =>
        Effect.map(
          table.where((change) => within(organizationId)(change) && selects(query, change)),
          (found) => Page.slice(found, query, positionOf)
        ),
      counts: (organizationId, selection) =>
        Effect.map(
          table.where((change) => within(organizationId)(change) && selects(selection, change)),
          count
        )
    })
  })
)
