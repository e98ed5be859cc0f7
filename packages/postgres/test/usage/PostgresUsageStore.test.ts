import * as UsageStoreSuite from "@castellan/testing/suite/UsageStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresUsageStore from "../../src/usage/PostgresUsageStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  UsageStoreSuite.suite(name, Layer.provide(PostgresUsageStore.layer, layer))
}
