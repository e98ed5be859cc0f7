/**
 * The pictures of a report: the PNG of every asset that its blocks show.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Base64 from "effect/encoding/Base64"
import type { AssetId } from "../asset/Asset.ts"
import { AssetStore } from "../asset/AssetStore.ts"
import type { Block } from "./Block.ts"
import type { Report } from "./Report.ts"
import * as ReportHtml from "./ReportHtml.ts"

/** Bytes of pictures in one document at most: mail services refuse larger mails. Further ones are described. */
export const maximumBytes = 10 * 1024 * 1024

/** The assets that blocks show as pictures, each once. */
export const picturesIn = (blocks: ReadonlyArray<Block>): ReadonlyArray<AssetId> => {
  const found = new Set<AssetId>()
  for (const block of blocks) {
    if (block._tag === "Chart") found.add(block.assetId)
    else if ((block._tag === "Image" || block._tag === "ImageText") && block.image._tag === "Asset") {
      found.add(block.image.assetId)
    } else if (block._tag === "Card") for (const inner of picturesIn(block.blocks)) found.add(inner)
  }
  return [...found]
}

/** The PNG of each picture of a report that is still there, as many as a document may hold. */
export const load: (
  report: Pick<Report, "blocks" | "organizationId">
) => Effect.Effect<ReadonlyMap<AssetId, Uint8Array>, never, AssetStore> = Effect.fnUntraced(function* (report) {
  const store = yield* AssetStore
  const pictures = new Map<AssetId, Uint8Array>()
  let bytes = 0
  for (const id of picturesIn(report.blocks)) {
    const body = yield* store.body(report.organizationId, id, "png")
    if (Option.isNone(body) || typeof body.value === "string" || bytes + body.value.length > maximumBytes) continue
    bytes += body.value.length
    pictures.set(id, body.value)
  }
  return pictures
})

/** The preview of a report: its HTML with the pictures inside, so that it needs nothing else to be shown. */
export const preview = (report: Report): Effect.Effect<string, never, AssetStore> =>
  Effect.map(load(report), (pictures) =>
    ReportHtml.render(report, (id) => {
      const picture = pictures.get(id)
      return picture === undefined ? undefined : `data:image/png;base64,${Base64.encode(picture)}`
    })
  )
