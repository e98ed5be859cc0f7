import * as DeliveryStoreSuite from "@castellan/testing/suite/DeliveryStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresDeliveryStore from "../../src/delivery/PostgresDeliveryStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  DeliveryStoreSuite.suite(name, Layer.provide(PostgresDeliveryStore.layer, layer))
}
