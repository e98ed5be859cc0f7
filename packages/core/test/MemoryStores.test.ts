import * as ApiKeyStore from "@castellan/core/apikey/ApiKeyStore"
import * as AssetStore from "@castellan/core/asset/AssetStore"
import * as ChatStore from "@castellan/core/chat/ChatStore"
import * as ConnectorStore from "@castellan/core/connector/ConnectorStore"
import * as MemberStore from "@castellan/core/member/MemberStore"
import * as ModelStore from "@castellan/core/model/ModelStore"
import * as OntologyStore from "@castellan/core/ontology/OntologyStore"
import * as OrganizationStore from "@castellan/core/organization/OrganizationStore"
import * as RoleStore from "@castellan/core/role/RoleStore"
import * as RunLog from "@castellan/core/run/RunLog"
import * as ApiKeyStoreSuite from "@castellan/testing/suite/ApiKeyStoreSuite"
import * as AssetStoreSuite from "@castellan/testing/suite/AssetStoreSuite"
import * as ChatStoreSuite from "@castellan/testing/suite/ChatStoreSuite"
import * as RunLogSuite from "@castellan/testing/suite/RunLogSuite"
import * as ConnectorStoreSuite from "@castellan/testing/suite/ConnectorStoreSuite"
import * as MemberStoreSuite from "@castellan/testing/suite/MemberStoreSuite"
import * as ModelStoreSuite from "@castellan/testing/suite/ModelStoreSuite"
import * as OntologyStoreSuite from "@castellan/testing/suite/OntologyStoreSuite"
import * as OrganizationStoreSuite from "@castellan/testing/suite/OrganizationStoreSuite"
import * as RoleStoreSuite from "@castellan/testing/suite/RoleStoreSuite"

OrganizationStoreSuite.suite("memory", OrganizationStore.layerMemory)
MemberStoreSuite.suite("memory", MemberStore.layerMemory)
RoleStoreSuite.suite("memory", RoleStore.layerMemory)
ApiKeyStoreSuite.suite("memory", ApiKeyStore.layerMemory)
ConnectorStoreSuite.suite("memory", ConnectorStore.layerMemory)
ModelStoreSuite.suite("memory", ModelStore.layerMemory)
OntologyStoreSuite.suite("memory", OntologyStore.layerMemory)
AssetStoreSuite.suite("memory", AssetStore.layerMemory)
ChatStoreSuite.suite("memory", ChatStore.layerMemory)
RunLogSuite.suite("memory", RunLog.layerMemory)
