import * as AppStoreSuite from "@castellan/testing/suite/AppStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresAppStore from "../../src/app/PostgresAppStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  AppStoreSuite.suite(name, Layer.provide(PostgresAppStore.layer, layer))
}
