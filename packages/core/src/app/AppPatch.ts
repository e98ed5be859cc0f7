/**
 * What an app is to be, and changes of it: what is omitted stays.
 *
 * Source: decisions.md §9 ("An app is a published dashboard").
 */
import * as Result from "effect/Result"
import type { AssetId } from "../asset/Asset.ts"
import { InvalidRequest } from "../error/Failure.ts"
import type { App } from "./App.ts"

/** A change of an app, as it was sent. */
export interface AppPatch {
  readonly name?: string
  readonly description?: string
  /** What it shows, in this order. */
  readonly assetIds?: ReadonlyArray<AssetId>
}

/** Characters of a name, and of a description, at most; assets at most. */
export const maximumName = 200
export const maximumDescription = 5000
export const maximumAssets = 100

const refuse = (message: string): Result.Result<never, InvalidRequest> => Result.fail(new InvalidRequest({ message }))

/** Checks whatever of a change no app would take. */
export const shapeOf = (patch: AppPatch): Result.Result<AppPatch, InvalidRequest> => {
  if (patch.name !== undefined && patch.name.trim() === "") return refuse("name: must not be empty")
  if (patch.name !== undefined && patch.name.length > maximumName) {
    return refuse(`name: must be at most ${maximumName} characters`)
  }
  if (patch.description !== undefined && patch.description.length > maximumDescription) {
    return refuse(`description: must be at most ${maximumDescription} characters`)
  }
  if (patch.assetIds !== undefined && patch.assetIds.length > maximumAssets) {
    return refuse(`asset_ids: must have at most ${maximumAssets} entries`)
  }
  return patch.assetIds !== undefined && new Set(patch.assetIds).size < patch.assetIds.length
    ? refuse("asset_ids: must name each asset once")
    : Result.succeed(patch)
}

/** The assets of these ids, in their order; all of them must be among the chat's, or the app's own. */
export const choose = (
  assetIds: ReadonlyArray<AssetId>,
  available: App["assets"]
): Result.Result<App["assets"], InvalidRequest> => {
  const byId = new Map(available.map((asset) => [asset.id, asset]))
  const chosen: Array<App["assets"][number]> = []
  for (const [index, id] of assetIds.entries()) {
    const asset = byId.get(id)
    if (asset === undefined) return refuse(`asset_ids[${index}]: the chat has no asset ${id}`)
    chosen.push(asset)
  }
  return Result.succeed(chosen)
}
