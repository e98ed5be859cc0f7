import * as AgentRunStore from "@castellan/core/agent/AgentRunStore"
import * as AgentStore from "@castellan/core/agent/AgentStore"
import * as TriggerStore from "@castellan/core/agent/TriggerStore"
import * as AppStore from "@castellan/core/app/AppStore"
import * as AgentRunStoreSuite from "@castellan/testing/suite/AgentRunStoreSuite"
import * as AgentStoreSuite from "@castellan/testing/suite/AgentStoreSuite"
import * as AppStoreSuite from "@castellan/testing/suite/AppStoreSuite"
import * as TriggerStoreSuite from "@castellan/testing/suite/TriggerStoreSuite"

AgentStoreSuite.suite("memory", AgentStore.layerMemory)
TriggerStoreSuite.suite("memory", TriggerStore.layerMemory)
AgentRunStoreSuite.suite("memory", AgentRunStore.layerMemory)
AppStoreSuite.suite("memory", AppStore.layerMemory)
