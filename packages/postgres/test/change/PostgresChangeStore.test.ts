import * as ChangeStoreSuite from "@castellan/testing/suite/ChangeStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresTransaction from "../../src/database/PostgresTransaction.ts"
import * as PostgresChangeStore from "../../src/change/PostgresChangeStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  ChangeStoreSuite.suite(
    name,
    PostgresChangeStore.layer.pipe(Layer.provide(PostgresTransaction.layer), Layer.provide(layer))
  )
}
