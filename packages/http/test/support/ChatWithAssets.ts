/** A chat that shows something. */
import { Asset, AssetId } from "@castellan/core/asset/Asset"
import { AssetStore } from "@castellan/core/asset/AssetStore"
import { CellId } from "@castellan/core/chat/Cell"
import { RunEvent } from "@castellan/core/run/RunEvent"
import { DateTime, Effect } from "effect"
import * as Site from "./Site.ts"

const id = (digit: string) => `0197c0de-0000-7000-8000-${digit.repeat(12)}`
const cellId = CellId.make(id("c"))

/** A chat of the administrator's with a chart and a text. */
export const withAssets = Effect.gen(function* () {
  const run = yield* Site.stalledRun
  const assets = [
    { id: AssetId.make(id("a")), name: "Sales", kind: "chart", formats: ["png"] },
    { id: AssetId.make(id("b")), name: "Words", kind: "text", formats: ["txt"] }
  ] as const
  for (const given of assets) {
    const asset = new Asset({
      ...given,
      organizationId: run.organizationId,
      chatId: run.chatId,
      cellId,
      messageCellId: cellId,
      createdAt: yield* DateTime.now
    })
    yield* AssetStore.use((store) =>
      store.put(
        asset,
        given.formats.map((format) => ({ format, content: given.name }))
      )
    )
    yield* Site.tell(run, RunEvent.cases.Asset.make({ asset }))
  }
  yield* Site.tell(run, Site.done)
  return { id: run.chatId, assetIds: assets.map((asset) => asset.id) }
})
