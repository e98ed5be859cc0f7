/** Runs are carried out over the database as they are over memory, by one server or several. */
import * as AuditStore from "@castellan/core/audit/AuditStore"
import * as UseCase from "@castellan/core/audit/UseCase"
import * as MemoryTransaction from "@castellan/core/memory/MemoryTransaction"
import * as InProcessRunner from "@castellan/core/run/InProcessRunner"
import * as Usage from "@castellan/core/usage/Usage"
import * as UsageStore from "@castellan/core/usage/UsageStore"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as RunnerSuite from "@castellan/testing/suite/RunnerSuite"
import * as Layer from "effect/Layer"
import * as PostgresChatStore from "../../src/chat/PostgresChatStore.ts"
import * as PostgresRunLog from "../../src/run/PostgresRunLog.ts"
import * as RunNotifications from "../../src/run/RunNotifications.ts"
import { databases } from "../support/Databases.ts"

const usage = Usage.layer.pipe(
  Layer.provide(UseCase.layer),
  Layer.provide(
    Layer.mergeAll(UsageStore.layerMemory, AuditStore.layerMemory, MemoryTransaction.layerMemory, layerCrypto)
  )
)

for (const { isEmbedded, layer, name } of databases()) {
  const stores = Layer.mergeAll(PostgresChatStore.layer, PostgresRunLog.layer()).pipe(
    Layer.provide(isEmbedded ? RunNotifications.layerInProcess : RunNotifications.layer),
    Layer.provide(layer)
  )
  RunnerSuite.suite(name, InProcessRunner.layer().pipe(Layer.provide([usage, layerCrypto])), stores)
}
