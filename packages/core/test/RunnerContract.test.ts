import * as ChatStore from "@castellan/core/chat/ChatStore"
import * as InProcessRunner from "@castellan/core/run/InProcessRunner"
import * as RunLog from "@castellan/core/run/RunLog"
import * as RunnerSuite from "@castellan/testing/suite/RunnerSuite"
import { Layer } from "effect"

const stores = Layer.mergeAll(ChatStore.layerMemory, RunLog.layerMemory)

RunnerSuite.suite("in process", InProcessRunner.layer(), stores)
RunnerSuite.suite("in process, two at a time", InProcessRunner.layer({ concurrency: 2 }), stores)
