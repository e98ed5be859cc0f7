import * as TriggerStoreSuite from "@castellan/testing/suite/TriggerStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresTriggerStore from "../../src/agent/PostgresTriggerStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  TriggerStoreSuite.suite(name, Layer.provide(PostgresTriggerStore.layer, layer))
}
