import * as AuditStore from "@castellan/core/audit/AuditStore"
import * as MemoryTransaction from "@castellan/core/memory/MemoryTransaction"
import * as OrganizationStore from "@castellan/core/organization/OrganizationStore"
import * as TransactionSuite from "@castellan/testing/suite/TransactionSuite"
import { Layer } from "effect"

TransactionSuite.suite(
  "memory",
  Layer.mergeAll(AuditStore.layerMemory, OrganizationStore.layerMemory, MemoryTransaction.layerMemory)
)
