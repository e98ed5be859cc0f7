import * as UploadStore from "@castellan/core/chat/UploadStore"
import * as ExecutionStore from "@castellan/core/sandcastle/ExecutionStore"
import * as SandcastleStore from "@castellan/core/sandcastle/SandcastleStore"
import * as RowPolicyStore from "@castellan/core/rowpolicy/RowPolicyStore"
import * as ScriptedSandbox from "@castellan/testing/scripted/ScriptedSandbox"
import * as ScriptedWebSearch from "@castellan/testing/scripted/ScriptedWebSearch"
import * as ExecutionStoreSuite from "@castellan/testing/suite/ExecutionStoreSuite"
import * as RowPolicyStoreSuite from "@castellan/testing/suite/RowPolicyStoreSuite"
import * as SandboxRuntimeSuite from "@castellan/testing/suite/SandboxRuntimeSuite"
import * as SandcastleStoreSuite from "@castellan/testing/suite/SandcastleStoreSuite"
import * as UploadStoreSuite from "@castellan/testing/suite/UploadStoreSuite"
import * as WebSearchSuite from "@castellan/testing/suite/WebSearchSuite"

SandcastleStoreSuite.suite("memory", SandcastleStore.layerMemory)
ExecutionStoreSuite.suite("memory", ExecutionStore.layerMemory)
UploadStoreSuite.suite("memory", UploadStore.layerMemory)
RowPolicyStoreSuite.suite("memory", RowPolicyStore.layerMemory)
SandboxRuntimeSuite.suite("scripted", ScriptedSandbox.layer())
WebSearchSuite.suite("scripted", ScriptedWebSearch.layer(), { query: "castles", nothing: "submarines" })
