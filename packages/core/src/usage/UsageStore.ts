/**
 * The port that keeps what runs used up.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { RunId } from "../run/Run.ts"
import type { UsageRecord } from "./UsageRecord.ts"
import * as UsageSums from "./UsageSums.ts"

/** Keeps usage. No answer ever counts anything of another organization. */
export class UsageStore extends Context.Service<
  UsageStore,
  {
    /** Keeps the record of a run. A run counts once: a second record of it changes nothing. */
    readonly record: (record: UsageRecord) => Effect.Effect<void>
    /** The sums, as `UsageSums.sum` has them, in its order. */
    readonly sums: (
      organizationId: OrganizationId,
      query: UsageSums.UsageQuery
    ) => Effect.Effect<ReadonlyArray<UsageSums.UsageSum>>
  }
>()("@castellan/core/usage/UsageStore") {}

/** Keeps usage in memory. */
export const layerMemory: Layer.Layer<UsageStore> = Layer.effect(
  UsageStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<RunId, UsageRecord>()
    return UsageStore.of({
      record: (record) => table.modify((rows) => [undefined, rows.has(record.runId) ? [] : [[record.runId, record]]]),
      sums: (organizationId, query) =>
        Effect.map(
          table.where((record) => record.organizationId === organizationId),
          (records) => UsageSums.sum(records, query)
        )
    })
  })
)
