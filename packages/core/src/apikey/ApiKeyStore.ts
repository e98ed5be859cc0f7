/**
 * The port that keeps API keys, found by the hash of their value.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { ApiKey, ApiKeyHash, ApiKeyId } from "./ApiKey.ts"

/** Keeps API keys. */
export class ApiKeyStore extends Context.Service<
  ApiKeyStore,
  {
    /** The key of this hash, whatever its state. The one look-up that knows no organization: it finds it out. */
    readonly byHash: (hash: ApiKeyHash) => Effect.Effect<Option.Option<ApiKey>>
    /** Inserts the key, or replaces the one of the same id. */
    readonly save: (key: ApiKey) => Effect.Effect<void>
  }
>()("@castellan/core/apikey/ApiKeyStore") {}

/** Keeps API keys in memory. */
export const layerMemory: Layer.Layer<ApiKeyStore> = Layer.effect(
  ApiKeyStore,
  Effect.gen(function* () {
    const byHash = yield* MemoryTable.make<ApiKeyHash, ApiKey>()
    const hashes = yield* MemoryTable.make<ApiKeyId, ApiKeyHash>()
    return ApiKeyStore.of({
      byHash: (hash) =>
        Effect.flatMap(byHash.get(hash), (key) =>
          Option.isNone(key)
            ? Effect.succeed(key)
            : // A key saved again under another hash is no longer found by the old one.
              Effect.map(hashes.get(key.value.id), (current) =>
                Option.isSome(current) && current.value === hash ? key : Option.none()
              )
        ),
      save: (key) => Effect.andThen(byHash.set(key.hash, key), hashes.set(key.id, key.hash))
    })
  })
)
