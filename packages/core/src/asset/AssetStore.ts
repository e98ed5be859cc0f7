/**
 * The port that keeps what assets hold. What an asset is, is told by the run log; this keeps its bodies.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TextBytes from "../library/TextBytes.ts"
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

/** What is kept of an asset in one format, to be read piece by piece. */
export interface StoredBody {
  /** What the asset is called; absent where it was kept before names were. */
  readonly name?: string
  /** Its length in bytes; a text's as UTF-8. */
  readonly size: number
  /**
   * All of its bytes, in order, a few MiB at once; a text's as UTF-8. It ends as a defect when the body is removed
   * meanwhile.
   */
  readonly pieces: Stream.Stream<Uint8Array>
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
    /** The same, for who hands it on without holding it as a whole: a body can be as long as a sandbox's files. */
    readonly open: (
      organizationId: OrganizationId,
      id: AssetId,
      format: AssetFormat
    ) => Effect.Effect<Option.Option<StoredBody>>
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
    const find = (organizationId: OrganizationId, id: AssetId, format: AssetFormat) =>
      Effect.map(table.get(id), (kept) =>
        Option.flatMap(kept, ({ asset, bodies }) => {
          if (asset.organizationId !== organizationId) return Option.none()
          const body = bodies.find((candidate) => candidate.format === format)
          return body === undefined ? Option.none() : Option.some({ asset, content: body.content })
        })
      )
    return AssetStore.of({
      put: (asset, bodies) => table.set(asset.id, { asset, bodies }),
      body: (organizationId, id, format) =>
        Effect.map(
          find(organizationId, id, format),
          Option.map(({ content }) => content)
        ),
      open: (organizationId, id, format) =>
        Effect.map(
          find(organizationId, id, format),
          Option.map(({ asset, content }) => {
            const bytes = typeof content === "string" ? TextBytes.encode(content) : content
            return { name: asset.name, size: bytes.length, pieces: Stream.succeed(bytes) }
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
