import * as IdempotencyStoreSuite from "@castellan/testing/suite/IdempotencyStoreSuite"
import { Layer } from "effect"
import * as IdempotencyStore from "../../src/idempotency/IdempotencyStore.ts"
import * as MemoryTransaction from "../../src/memory/MemoryTransaction.ts"

IdempotencyStoreSuite.suite("memory", Layer.mergeAll(IdempotencyStore.layerMemory, MemoryTransaction.layerMemory))
