import * as AuditStore from "@castellan/core/audit/AuditStore"
import * as ScimGroupMappingStore from "@castellan/core/scim/ScimGroupMappingStore"
import * as Secrets from "@castellan/core/secret/Secrets"
import * as BudgetStore from "@castellan/core/usage/BudgetStore"
import * as UsageStore from "@castellan/core/usage/UsageStore"
import * as AuditStoreSuite from "@castellan/testing/suite/AuditStoreSuite"
import * as BudgetStoreSuite from "@castellan/testing/suite/BudgetStoreSuite"
import * as ScimGroupMappingStoreSuite from "@castellan/testing/suite/ScimGroupMappingStoreSuite"
import * as SecretsSuite from "@castellan/testing/suite/SecretsSuite"
import * as UsageStoreSuite from "@castellan/testing/suite/UsageStoreSuite"

AuditStoreSuite.suite("memory", AuditStore.layerMemory)
ScimGroupMappingStoreSuite.suite("memory", ScimGroupMappingStore.layerMemory)
BudgetStoreSuite.suite("memory", BudgetStore.layerMemory)
UsageStoreSuite.suite("memory", UsageStore.layerMemory)
SecretsSuite.suite("memory", Secrets.layerMemory)
