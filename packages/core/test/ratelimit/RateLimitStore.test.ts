import * as RateLimitStoreSuite from "@castellan/testing/suite/RateLimitStoreSuite"
import { Layer } from "effect"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as RateLimitStore from "../../src/ratelimit/RateLimitStore.ts"

RateLimitStoreSuite.suite("memory", RateLimitStore.layerMemory)
RateLimitStoreSuite.suite(
  "a store of Effect's rate limiter",
  Layer.provide(RateLimitStore.layerRateLimiter, RateLimiter.layerStoreMemory)
)
