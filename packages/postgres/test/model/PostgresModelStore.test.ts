import * as ModelStoreSuite from "@castellan/testing/suite/ModelStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresModelStore from "../../src/model/PostgresModelStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  ModelStoreSuite.suite(name, Layer.provide(PostgresModelStore.layer, layer))
}
