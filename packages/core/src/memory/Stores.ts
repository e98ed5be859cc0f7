/**
 * Every store of the core in one layer, in memory: for tests, and for hosts that need to keep nothing.
 */
import * as Layer from "effect/Layer"
import * as CredentialFacts from "../access/CredentialFacts.ts"
import * as AgentRunStore from "../agent/AgentRunStore.ts"
import * as AgentStore from "../agent/AgentStore.ts"
import * as TriggerStore from "../agent/TriggerStore.ts"
import * as ApiKeyStore from "../apikey/ApiKeyStore.ts"
import * as AppStore from "../app/AppStore.ts"
import * as AssetStore from "../asset/AssetStore.ts"
import * as AuditStore from "../audit/AuditStore.ts"
import * as ChangeStore from "../change/ChangeStore.ts"
import * as ChatStore from "../chat/ChatStore.ts"
import * as UploadStore from "../chat/UploadStore.ts"
import * as ConnectorStore from "../connector/ConnectorStore.ts"
import * as DeliveryStore from "../delivery/DeliveryStore.ts"
import * as FolderPolicyStore from "../folderpolicy/FolderPolicyStore.ts"
import * as LibraryStore from "../library/LibraryStore.ts"
import * as IdempotencyStore from "../idempotency/IdempotencyStore.ts"
import * as MemberStore from "../member/MemberStore.ts"
import * as ModelStore from "../model/ModelStore.ts"
import * as OntologyStore from "../ontology/OntologyStore.ts"
import * as OrganizationStore from "../organization/OrganizationStore.ts"
import * as PlaybookRunStore from "../playbook/PlaybookRunStore.ts"
import * as PlaybookStore from "../playbook/PlaybookStore.ts"
import * as RateLimitStore from "../ratelimit/RateLimitStore.ts"
import * as ReportStore from "../report/ReportStore.ts"
import * as RoleStore from "../role/RoleStore.ts"
import * as RowPolicyStore from "../rowpolicy/RowPolicyStore.ts"
import * as RunLog from "../run/RunLog.ts"
import * as ExecutionStore from "../sandcastle/ExecutionStore.ts"
import * as SandcastleStore from "../sandcastle/SandcastleStore.ts"
import * as ScheduleStore from "../schedule/ScheduleStore.ts"
import * as ScimGroupMappingStore from "../scim/ScimGroupMappingStore.ts"
import * as Secrets from "../secret/Secrets.ts"
import type { Transaction } from "../transaction/Transaction.ts"
import * as BudgetStore from "../usage/BudgetStore.ts"
import * as UsageStore from "../usage/UsageStore.ts"
import * as MemoryTransaction from "./MemoryTransaction.ts"

/** Everything that is kept. */
export type Stores =
  | AgentRunStore.AgentRunStore
  | AgentStore.AgentStore
  | ApiKeyStore.ApiKeyStore
  | AppStore.AppStore
  | AssetStore.AssetStore
  | AuditStore.AuditStore
  | BudgetStore.BudgetStore
  | ChangeStore.ChangeStore
  | ChatStore.ChatStore
  | ConnectorStore.ConnectorStore
  | CredentialFacts.CredentialFacts
  | DeliveryStore.DeliveryStore
  | ExecutionStore.ExecutionStore
  | FolderPolicyStore.FolderPolicyStore
  | IdempotencyStore.IdempotencyStore
  | LibraryStore.LibraryStore
  | MemberStore.MemberStore
  | ModelStore.ModelStore
  | OntologyStore.OntologyStore
  | OrganizationStore.OrganizationStore
  | PlaybookRunStore.PlaybookRunStore
  | PlaybookStore.PlaybookStore
  | RateLimitStore.RateLimitStore
  | ReportStore.ReportStore
  | RoleStore.RoleStore
  | RowPolicyStore.RowPolicyStore
  | RunLog.RunLog
  | SandcastleStore.SandcastleStore
  | ScheduleStore.ScheduleStore
  | ScimGroupMappingStore.ScimGroupMappingStore
  | Secrets.Secrets
  | Transaction
  | TriggerStore.TriggerStore
  | UploadStore.UploadStore
  | UsageStore.UsageStore

const kept = Layer.mergeAll(
  AgentRunStore.layerMemory,
  AgentStore.layerMemory,
  ApiKeyStore.layerMemory,
  AppStore.layerMemory,
  AssetStore.layerMemory,
  AuditStore.layerMemory,
  BudgetStore.layerMemory,
  ChangeStore.layerMemory,
  ChatStore.layerMemory,
  ConnectorStore.layerMemory,
  DeliveryStore.layerMemory,
  ExecutionStore.layerMemory,
  FolderPolicyStore.layerMemory,
  IdempotencyStore.layerMemory,
  LibraryStore.layerMemory,
  MemberStore.layerMemory,
  ModelStore.layerMemory,
  OntologyStore.layerMemory,
  OrganizationStore.layerMemory,
  PlaybookRunStore.layerMemory,
  PlaybookStore.layerMemory,
  RateLimitStore.layerMemory,
  ReportStore.layerMemory,
  RoleStore.layerMemory,
  RowPolicyStore.layerMemory,
  RunLog.layerMemory,
  SandcastleStore.layerMemory,
  ScheduleStore.layerMemory,
  ScimGroupMappingStore.layerMemory,
  Secrets.layerMemory,
  TriggerStore.layerMemory,
  UploadStore.layerMemory,
  UsageStore.layerMemory,
  MemoryTransaction.layerMemory
)

/** Every store, empty, in memory. */
export const layerMemory: Layer.Layer<Stores> = Layer.provideMerge(CredentialFacts.layer, kept)
