/**
 * The port that keeps deliveries.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import { type Delivery, type DeliveryId, targetKey } from "./Delivery.ts"

/** Keeps deliveries. No answer but `due` ever holds one of another organization. */
export class DeliveryStore extends Context.Service<
  DeliveryStore,
  {
    readonly get: (organizationId: OrganizationId, id: DeliveryId) => Effect.Effect<Option.Option<Delivery>>
    /** Keeps new deliveries; one whose run has one to the same target already is left out. */
    readonly add: (deliveries: ReadonlyArray<Delivery>) => Effect.Effect<void>
    /**
     * Replaces a delivery whose status is still as it was found. False, and nothing is changed, where somebody else
     * has carried it on meanwhile: of all servers that begin an attempt, one does.
     */
    readonly replace: (found: Delivery, next: Delivery) => Effect.Effect<boolean>
    /** The deliveries of these runs, in the order of their ids. */
    readonly ofRuns: (
      organizationId: OrganizationId,
      runIds: ReadonlyArray<Delivery["runId"]>
    ) => Effect.Effect<ReadonlyArray<Delivery>>
    /**
     * The deliveries of every organization that wait for an attempt at a moment, or whose attempt is overdue then;
     * the longest waiting first, at most `limit`.
     */
    readonly due: (now: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<Delivery>>
  }
>()("@castellan/core/delivery/DeliveryStore") {}

/** The moment from which something is to be done about a delivery; none when it has come to its end. */
export const dueAt = (delivery: Delivery): DateTime.Utc | undefined => {
  switch (delivery.status._tag) {
    case "Pending":
      return delivery.createdAt
    case "Sending":
      return delivery.status.until
    case "Failed":
      return delivery.status.nextAt
    case "Delivered":
    case "GivenUp":
      return undefined
  }
}

const byId = (a: Delivery, b: Delivery): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** Keeps deliveries in memory. */
export const layerMemory: Layer.Layer<DeliveryStore> = Layer.effect(
  DeliveryStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<DeliveryId, Delivery>()
    const slotOf = (delivery: Delivery) => `${delivery.runId} ${targetKey(delivery.target)}`
    return DeliveryStore.of({
      get: (organizationId, id) =>
        Effect.map(
          table.get(id),
          Option.filter((delivery) => delivery.organizationId === organizationId)
        ),
      add: (deliveries) =>
        table.modify((rows) => {
          const taken = new Set([...rows.values()].map(slotOf))
          const added: Array<readonly [DeliveryId, Delivery]> = []
          for (const delivery of deliveries) {
            const slot = slotOf(delivery)
            if (taken.has(slot)) continue
            taken.add(slot)
            added.push([delivery.id, delivery])
          }
          return [undefined, added]
        }),
      replace: (found, next) =>
        table.modify((rows) => {
          const current = rows.get(found.id)
          return current?.organizationId === found.organizationId && Equal.equals(current.status, found.status)
            ? [true, [[next.id, next]]]
            : [false, []]
        }),
      ofRuns: (organizationId, runIds) => {
        const wanted = new Set(runIds)
        return Effect.map(
          table.where((delivery) => delivery.organizationId === organizationId && wanted.has(delivery.runId)),
          (found) => found.toSorted(byId)
        )
      },
      due: (now, limit) =>
        Effect.map(
          table.where((delivery) => {
            const due = dueAt(delivery)
            return due !== undefined && DateTime.isLessThanOrEqualTo(due, now)
          }),
          (found) => {
            const waitingSince = (delivery: Delivery) => DateTime.toEpochMillis(dueAt(delivery) ?? now)
            return found.toSorted((a, b) => waitingSince(a) - waitingSince(b) || byId(a, b)).slice(0, limit)
          }
        )
    })
  })
)
