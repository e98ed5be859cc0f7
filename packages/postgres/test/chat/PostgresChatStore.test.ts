import * as ChatStoreSuite from "@castellan/testing/suite/ChatStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresChatStore from "../../src/chat/PostgresChatStore.ts"
import * as RunNotifications from "../../src/run/RunNotifications.ts"
import { databases } from "../support/Databases.ts"

for (const { isEmbedded, layer, name } of databases()) {
  const notifications = isEmbedded ? RunNotifications.layerInProcess : RunNotifications.layer
  ChatStoreSuite.suite(name, PostgresChatStore.layer.pipe(Layer.provide(notifications), Layer.provide(layer)))
}
