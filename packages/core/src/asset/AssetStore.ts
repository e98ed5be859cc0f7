/**
 * The port that keeps what assets hold. What an asset is, is told by the run log; this keeps its bodies.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { Asset, AssetFormat, AssetId } from "./Asset.ts"

/** What an asset holds in one format: bytes, or text that is served as UTF-8. */
export type AssetContent = Uint8Array | string

/** An asset in one of its formats. */
export interface AssetBody {
  readonly format: AssetFormat
  readonly content: AssetContent
}

/** Keeps assets with their bodies. No answer ever holds anything of another organization. */
export class AssetStore extends Context.Service<
  AssetStore,
  {
    /** Keeps an asset with a body for each of its formats; both are there when this is done, or neither. */
    readonly put: (asset: Asset, bodies: ReadonlyArray<AssetBody>) => Effect.Effect<void>
    /** What an asset of an organization holds. Who may see it was decided when its signed address was made. */
    readonly body: (
      organizationId: OrganizationId,
      id: AssetId,
      format: AssetFormat
    ) => Effect.Effect<Option.Option<AssetContent>>
    /** Removes every asset of a chat, with its bodies. */
    readonly removeOf: (organizationId: OrganizationId, chatId: Asset["chatId"]) => Effect.Effect<void>
  }
>()("@castellan/core/asset/AssetStore") {}

interface KeptAsset {
  readonly asset: Asset
  readonly bodies: ReadonlyArray<AssetBody>
}

/** Keeps assets in memory. */
export const layerMemory: Layer.Layer<AssetStore> = Layer.effect(
  AssetStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<AssetId, KeptAsset>()
    return AssetStore.of({
      put: (asset, bodies) => table.set(asset.id, { asset, bodies }),
      body: (organizationId, id, format) =>
        Effect.map(table.get(id), (kept) =>
          Option.flatMap(kept, ({ asset, bodies }) => {
            if (asset.organizationId !== organizationId) return Option.none()
            const body = bodies.find((candidate) => candidate.format === format)
            return body === undefined ? Option.none() : Option.some(body.content)
          })
        ),
      removeOf: (organizationId, chatId) =>
        Effect.flatMap(
          table.where(({ asset }) => asset.organizationId === organizationId && asset.chatId === chatId),
          (found) => Effect.forEach(found, ({ asset }) => table.remove(asset.id), { discard: true })
        )
    })
  })
)
