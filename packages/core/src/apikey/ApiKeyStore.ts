/**
 * The port that keeps API keys, found by the hash of their value or by their id.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { type ClientMetadata, sameClient } from "../access/ClientMetadata.ts"
import type { MemberId } from "../member/Member.ts"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import * as Page from "../page/Page.ts"
import { ApiKey, type ApiKeyHash, type ApiKeyId } from "./ApiKey.ts"
import { isUseDue } from "./ApiKeyState.ts"

/** Which keys to list; what is absent narrows nothing. */
export interface ApiKeyQuery extends Page.PositionPage {
  /** Keys of these owners alone. */
  readonly owners?: ReadonlyArray<MemberId>
  /** No key of these owners. */
  readonly exceptOwners?: ReadonlyArray<MemberId>
  /** Keys of this end user alone. */
  readonly client?: ClientMetadata
  /** Whether keys that were revoked are listed; expired ones are in any case. */
  readonly includeRevoked: boolean
}

/** Keeps API keys. But for `byHash`, no answer ever holds one of another organization. */
export class ApiKeyStore extends Context.Service<
  ApiKeyStore,
  {
    /** The key of this hash, whatever its state. The one look-up that knows no organization: it finds it out. */
    readonly byHash: (hash: ApiKeyHash) => Effect.Effect<Option.Option<ApiKey>>
    readonly get: (organizationId: OrganizationId, id: ApiKeyId) => Effect.Effect<Option.Option<ApiKey>>
    /** The keys of these ids, in no order; unknown ids are left out. */
    readonly named: (
      organizationId: OrganizationId,
      ids: ReadonlyArray<ApiKeyId>
    ) => Effect.Effect<ReadonlyArray<ApiKey>>
    /** Keys newest first. */
    readonly list: (organizationId: OrganizationId, query: ApiKeyQuery) => Effect.Effect<Page.Slice<ApiKey>>
    /** Who minted keys of these owners, revoked keys among them. Owners whose keys have no minter are left out. */
    readonly minters: (
      organizationId: OrganizationId,
      owners: ReadonlyArray<MemberId>
    ) => Effect.Effect<ReadonlyMap<MemberId, ReadonlySet<MemberId>>>
    /** Inserts the key, or replaces the one of the same id; the later of the two uses that were noted stays. */
    readonly save: (key: ApiKey) => Effect.Effect<void>
    /**
     * Notes when a key was used, and changes nothing else of it: what is committed meanwhile, its revocation above
     * all, stays (policy-cases K29). Nothing where there is no such key, or where a use within a minute before is noted
     * already, by whatever server (`isUseDue`).
     */
    readonly used: (organizationId: OrganizationId, id: ApiKeyId, at: DateTime.Utc) => Effect.Effect<void>
  }
>()("@castellan/core/apikey/ApiKeyStore") {}

/** Whether a key belongs on a list. */
export const matches = (query: ApiKeyQuery, key: ApiKey): boolean =>
  (query.includeRevoked || key.status._tag !== "Revoked") &&
  (query.owners === undefined || query.owners.includes(key.owner)) &&
  (query.exceptOwners === undefined || !query.exceptOwners.includes(key.owner)) &&
  (query.client === undefined || sameClient(query.client, key.clientMetadata))

/** A key with the later of its last use and another one. */
const withLaterUse = (key: ApiKey, other: DateTime.Utc | undefined): ApiKey =>
  other === undefined || (key.lastUsedAt !== undefined && DateTime.isGreaterThanOrEqualTo(key.lastUsedAt, other))
    ? key
    : new ApiKey({ ...key, lastUsedAt: other })

/** Keeps API keys in memory. */
export const layerMemory: Layer.Layer<ApiKeyStore> = Layer.effect(
  ApiKeyStore,
  Effect.gen(function* () {
    const keys = yield* MemoryTable.make<ApiKeyId, ApiKey>()
    const ids = yield* MemoryTable.make<ApiKeyHash, ApiKeyId>()
    const get = (organizationId: OrganizationId, id: ApiKeyId) =>
      keys.find(id, (key) => key.organizationId === organizationId)
    return ApiKeyStore.of({
      byHash: (hash) =>
        Effect.flatMap(ids.get(hash), (id) =>
          Option.isNone(id)
            ? Effect.succeedNone
            : // A key saved again under another hash is no longer found by the old one.
              keys.find(id.value, (key) => key.hash === hash)
        ),
      get,
      named: (organizationId, wanted) =>
        Effect.map(
          Effect.forEach(new Set(wanted), (id) => get(organizationId, id)),
          (found) => found.flatMap(Option.toArray)
        ),
      list: (organizationId, query) =>
        Effect.map(
          keys.where((key) => key.organizationId === organizationId && matches(query, key)),
          (found) => Page.slice(found, query, (key) => ({ at: key.createdAt, id: key.id }))
        ),
      minters: (organizationId, owners) =>
        Effect.map(
          keys.where((key) => key.organizationId === organizationId && owners.includes(key.owner)),
          (found) => {
            const minters = new Map<MemberId, Set<MemberId>>()
            for (const { mintedBy, owner } of found) {
              if (mintedBy === undefined) continue
              const known = minters.get(owner)
              if (known === undefined) minters.set(owner, new Set([mintedBy.memberId]))
              else known.add(mintedBy.memberId)
            }
            return minters
          }
        ),
      save: (key) =>
        Effect.andThen(
          keys.modify((rows) => [undefined, [[key.id, withLaterUse(key, rows.get(key.id)?.lastUsedAt)]]]),
          ids.set(key.hash, key.id)
        ),
      used: (organizationId, id, at) =>
        // In one step, so that nothing that is committed meanwhile is undone.
        keys.modify((rows) => {
          const key = rows.get(id)
          return key === undefined || key.organizationId !== organizationId || !isUseDue(key.lastUsedAt, at)
            ? [undefined, []]
            : [undefined, [[id, new ApiKey({ ...key, lastUsedAt: at })]]]
        })
    })
  })
)
