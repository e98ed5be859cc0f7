/**
 * Every store of the core in one layer, in memory: for tests, and for hosts that need to keep nothing.
 */
import * as Layer from "effect/Layer"
import * as ApiKeyStore from "../apikey/ApiKeyStore.ts"
import * as AssetStore from "../asset/AssetStore.ts"
import * as AuditStore from "../audit/AuditStore.ts"
import * as ChatStore from "../chat/ChatStore.ts"
import * as ConnectorStore from "../connector/ConnectorStore.ts"
import * as MemberStore from "../member/MemberStore.ts"
import * as ModelStore from "../model/ModelStore.ts"
import * as OntologyStore from "../ontology/OntologyStore.ts"
import * as OrganizationStore from "../organization/OrganizationStore.ts"
import * as RoleStore from "../role/RoleStore.ts"
import * as RunLog from "../run/RunLog.ts"
import * as ScimGroupMappingStore from "../scim/ScimGroupMappingStore.ts"
import * as Secrets from "../secret/Secrets.ts"
import type { Transaction } from "../transaction/Transaction.ts"
import * as BudgetStore from "../usage/BudgetStore.ts"
import * as UsageStore from "../usage/UsageStore.ts"
import * as MemoryTransaction from "./MemoryTransaction.ts"

/** Everything that is kept. */
export type Stores =
  | ApiKeyStore.ApiKeyStore
  | AssetStore.AssetStore
  | AuditStore.AuditStore
  | BudgetStore.BudgetStore
  | ChatStore.ChatStore
  | ConnectorStore.ConnectorStore
  | MemberStore.MemberStore
  | ModelStore.ModelStore
  | OntologyStore.OntologyStore
  | OrganizationStore.OrganizationStore
  | RoleStore.RoleStore
  | RunLog.RunLog
  | ScimGroupMappingStore.ScimGroupMappingStore
  | Secrets.Secrets
  | Transaction
  | UsageStore.UsageStore

/** Every store, empty, in memory. */
export const layerMemory: Layer.Layer<Stores> = Layer.mergeAll(
  ApiKeyStore.layerMemory,
  AssetStore.layerMemory,
  AuditStore.layerMemory,
  BudgetStore.layerMemory,
  ChatStore.layerMemory,
  ConnectorStore.layerMemory,
  MemberStore.layerMemory,
  ModelStore.layerMemory,
  OntologyStore.layerMemory,
  OrganizationStore.layerMemory,
  RoleStore.layerMemory,
  RunLog.layerMemory,
  ScimGroupMappingStore.layerMemory,
  Secrets.layerMemory,
  UsageStore.layerMemory,
  MemoryTransaction.layerMemory
)
