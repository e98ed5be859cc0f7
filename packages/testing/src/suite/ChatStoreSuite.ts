/**
 * What every store of chats and runs keeps to: isolation of organizations, at most one run of a chat at a time
 * whoever asks at once, and lists that page without a gap or a repeat.
 */
import type { ChatStore } from "@castellan/core/chat/ChatStore"
import { it } from "@effect/vitest"
import * as Layer from "effect/Layer"
import { layerCrypto } from "../fixture/Deployment.ts"
import { keepsChats } from "./internal/ChatStoreChats.ts"
import { leasesRuns } from "./internal/ChatStoreLeases.ts"
import { keepsRuns } from "./internal/ChatStoreRuns.ts"

/** Runs the contract of `ChatStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<ChatStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`ChatStore (${name})`, (it) => {
    keepsRuns(it)
    leasesRuns(it)
    keepsChats(it)
  })
}
