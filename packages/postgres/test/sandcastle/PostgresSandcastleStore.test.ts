import * as SandcastleStoreSuite from "@castellan/testing/suite/SandcastleStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresSandcastleStore from "../../src/sandcastle/PostgresSandcastleStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  SandcastleStoreSuite.suite(name, Layer.provide(PostgresSandcastleStore.layer, layer))
}
