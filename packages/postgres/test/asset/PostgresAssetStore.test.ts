import * as AssetStoreSuite from "@castellan/testing/suite/AssetStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresAssetStore from "../../src/asset/PostgresAssetStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  AssetStoreSuite.suite(name, Layer.provide(PostgresAssetStore.layer, layer))
}
