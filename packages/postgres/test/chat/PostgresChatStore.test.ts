import * as ChatStoreSuite from "@castellan/testing/suite/ChatStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresChatStore from "../../src/chat/PostgresChatStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  ChatStoreSuite.suite(name, Layer.provide(PostgresChatStore.layer, layer))
}
