/**
 * How an asset is made known: its bodies are kept first, and it is told of afterwards, so that whoever hears of an asset
 * can fetch it.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { Asset, AssetId, type AssetKind } from "../../asset/Asset.ts"
import type { AssetBody, AssetStore } from "../../asset/AssetStore.ts"
import type { CellId } from "../../chat/Cell.ts"
import { RunEvent } from "../../run/RunEvent.ts"
import type { RunContext } from "../RunContext.ts"

/** Rows of a table that can be read without fetching it. */
export const contentRows = 50

/** An asset that is to be made; its formats are those of its bodies, in their order. */
export interface NewAsset {
  readonly name: string
  readonly kind: AssetKind
  /** What can be read of it without a fetch. */
  readonly content?: string
  readonly bodies: ReadonlyArray<AssetBody>
}

/** Keeps an asset of a cell, and tells of it. */
export const publish = Effect.fnUntraced(function* (
  context: RunContext,
  assets: AssetStore["Service"],
  cellId: CellId,
  made: NewAsset
) {
  const asset = new Asset({
    id: AssetId.make(yield* context.nextId),
    organizationId: context.run.organizationId,
    chatId: context.run.chatId,
    name: made.name,
    kind: made.kind,
    formats: made.bodies.map(({ format }) => format),
    ...(made.content === undefined ? {} : { content: made.content }),
    cellId,
    messageCellId: context.run.messageCellId,
    createdAt: yield* DateTime.now
  })
  yield* assets.put(asset, made.bodies)
  yield* context.emit(RunEvent.cases.Asset.make({ asset }))
  return asset
})
