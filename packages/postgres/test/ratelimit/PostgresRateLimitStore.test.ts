import * as RateLimitStoreSuite from "@castellan/testing/suite/RateLimitStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresRateLimitStore from "../../src/ratelimit/PostgresRateLimitStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  RateLimitStoreSuite.suite(name, Layer.provide(PostgresRateLimitStore.layer, layer))
}
