import * as IdempotencyStoreSuite from "@castellan/testing/suite/IdempotencyStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresTransaction from "../../src/database/PostgresTransaction.ts"
import * as PostgresIdempotencyStore from "../../src/idempotency/PostgresIdempotencyStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  IdempotencyStoreSuite.suite(
    name,
    Layer.provide(Layer.mergeAll(PostgresIdempotencyStore.layer, PostgresTransaction.layer), layer)
  )
}
