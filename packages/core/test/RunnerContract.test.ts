import * as AuditStore from "@castellan/core/audit/AuditStore"
import * as UseCase from "@castellan/core/audit/UseCase"
import * as ChatStore from "@castellan/core/chat/ChatStore"
import * as MemoryTransaction from "@castellan/core/memory/MemoryTransaction"
import * as InProcessRunner from "@castellan/core/run/InProcessRunner"
import * as RunLog from "@castellan/core/run/RunLog"
import * as Usage from "@castellan/core/usage/Usage"
import * as UsageStore from "@castellan/core/usage/UsageStore"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as RunnerSuite from "@castellan/testing/suite/RunnerSuite"
import { Layer } from "effect"

const stores = Layer.mergeAll(ChatStore.layerMemory, RunLog.layerMemory)

const usage = Usage.layer.pipe(
  Layer.provide(UseCase.layer),
  Layer.provide(
    Layer.mergeAll(UsageStore.layerMemory, AuditStore.layerMemory, MemoryTransaction.layerMemory, layerCrypto)
  )
)

RunnerSuite.suite("in process", InProcessRunner.layer().pipe(Layer.provide([usage, layerCrypto])), stores)
RunnerSuite.suite(
  "in process, two at a time",
  InProcessRunner.layer({ concurrency: 2 }).pipe(Layer.provide([usage, layerCrypto])),
  stores
)
