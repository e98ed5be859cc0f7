/**
 * The port that keeps folder policies.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { FolderPath } from "./FolderPath.ts"
import type { FolderPolicy } from "./FolderPolicy.ts"

/** Keeps folder policies. No answer ever holds one of another organization. */
export class FolderPolicyStore extends Context.Service<
  FolderPolicyStore,
  {
    /** Every policy of the organization, sorted by path. What cannot be read of one stands at its strictest. */
    readonly list: (organizationId: OrganizationId) => Effect.Effect<ReadonlyArray<FolderPolicy>>
    readonly get: (organizationId: OrganizationId, path: FolderPath) => Effect.Effect<Option.Option<FolderPolicy>>
    /**
     * A number that changes with every save and removal of the organization's policies and never comes back, not even
     * when a transaction that had changed them is undone: by it, an index of them is known to be current.
     */
    readonly version: (organizationId: OrganizationId) => Effect.Effect<number>
    /** Inserts the policy, or replaces the one of the same path. */
    readonly save: (policy: FolderPolicy) => Effect.Effect<void>
    /** Removes the policy of a path; nothing where there is none. */
    readonly remove: (organizationId: OrganizationId, path: FolderPath) => Effect.Effect<void>
  }
>()("@castellan/core/folderpolicy/FolderPolicyStore") {}

/** Keeps folder policies in memory. */
export const layerMemory: Layer.Layer<FolderPolicyStore> = Layer.effect(
  FolderPolicyStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<string, FolderPolicy>()
    const versions = yield* MemoryTable.make<OrganizationId, number>()
    // Counts outside of every transaction: a number that was given once is never given again.
    let writes = 0
    const touch = (organizationId: OrganizationId) =>
      Effect.suspend(() => {
        writes += 1
        return versions.set(organizationId, writes)
      })
    const keyOf = (organizationId: OrganizationId, path: FolderPath): string => `${organizationId}/${path}`
    return FolderPolicyStore.of({
      list: (organizationId) =>
        Effect.map(
          table.where((policy) => policy.organizationId === organizationId),
          (found) => found.toSorted((a, b) => (a.path < b.path ? -1 : 1))
        ),
      get: (organizationId, path) => table.get(keyOf(organizationId, path)),
      version: (organizationId) =>
        Effect.map(
          versions.get(organizationId),
          Option.getOrElse(() => 0)
        ),
      save: (policy) =>
        Effect.andThen(table.set(keyOf(policy.organizationId, policy.path), policy), touch(policy.organizationId)),
      remove: (organizationId, path) => Effect.andThen(table.remove(keyOf(organizationId, path)), touch(organizationId))
    })
  })
)
