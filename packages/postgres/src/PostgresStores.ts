/**
 * Every store of the core in one layer, on PostgreSQL.
 */
import * as Layer from "effect/Layer"
import * as PostgresCredentialFacts from "./access/PostgresCredentialFacts.ts"
import * as PostgresAgentRunStore from "./agent/PostgresAgentRunStore.ts"
import * as PostgresAgentStore from "./agent/PostgresAgentStore.ts"
import * as PostgresTriggerStore from "./agent/PostgresTriggerStore.ts"
import * as PostgresApiKeyStore from "./apikey/PostgresApiKeyStore.ts"
import * as PostgresAppStore from "./app/PostgresAppStore.ts"
import * as PostgresAssetStore from "./asset/PostgresAssetStore.ts"
import * as PostgresAuditStore from "./audit/PostgresAuditStore.ts"
import * as PostgresChangeStore from "./change/PostgresChangeStore.ts"
import * as PostgresChatStore from "./chat/PostgresChatStore.ts"
import * as PostgresUploadStore from "./chat/PostgresUploadStore.ts"
import * as PostgresConnectorStore from "./connector/PostgresConnectorStore.ts"
import * as PostgresTransaction from "./database/PostgresTransaction.ts"
import * as PostgresDeliveryStore from "./delivery/PostgresDeliveryStore.ts"
import * as PostgresFolderPolicyStore from "./folderpolicy/PostgresFolderPolicyStore.ts"
import * as PostgresIdempotencyStore from "./idempotency/PostgresIdempotencyStore.ts"
import * as PostgresLibraryStore from "./library/PostgresLibraryStore.ts"
import * as PostgresMemberStore from "./member/PostgresMemberStore.ts"
import * as PostgresModelStore from "./model/PostgresModelStore.ts"
import * as PostgresOntologyStore from "./ontology/PostgresOntologyStore.ts"
import * as PostgresOrganizationStore from "./organization/PostgresOrganizationStore.ts"
import * as PostgresPlaybookRunStore from "./playbook/PostgresPlaybookRunStore.ts"
import * as PostgresPlaybookStore from "./playbook/PostgresPlaybookStore.ts"
import * as PostgresRateLimitStore from "./ratelimit/PostgresRateLimitStore.ts"
import * as PostgresReportStore from "./report/PostgresReportStore.ts"
import * as PostgresRoleStore from "./role/PostgresRoleStore.ts"
import * as PostgresRowPolicyStore from "./rowpolicy/PostgresRowPolicyStore.ts"
import * as PostgresRunLog from "./run/PostgresRunLog.ts"
import * as PostgresExecutionStore from "./sandcastle/PostgresExecutionStore.ts"
import * as PostgresSandcastleStore from "./sandcastle/PostgresSandcastleStore.ts"
import * as PostgresScheduleStore from "./schedule/PostgresScheduleStore.ts"
import * as PostgresScimGroupMappingStore from "./scim/PostgresScimGroupMappingStore.ts"
import * as PostgresSecrets from "./secret/PostgresSecrets.ts"
import * as PostgresBudgetStore from "./usage/PostgresBudgetStore.ts"
import * as PostgresUsageStore from "./usage/PostgresUsageStore.ts"

/** Those some of whose writes are several statements, which are one in a transaction of their own. */
const transactional = Layer.mergeAll(PostgresChangeStore.layer, PostgresLibraryStore.layer).pipe(
  Layer.provide(PostgresTransaction.layer)
)

/**
 * Every store that is there, over the connections of the context. Where several servers share a database, they tell each
 * other of runs by `RunNotifications.layer`; a process that has it to itself takes `RunNotifications.layerInProcess`.
 * Secrets are encrypted with the `SecretKeys` of the deployment: `SecretKeysConfig.layer`, or `SecretKeys.layer`.
 */
export const layer = Layer.mergeAll(
  PostgresAgentRunStore.layer,
  PostgresAgentStore.layer,
  PostgresApiKeyStore.layer,
  PostgresAppStore.layer,
  PostgresAssetStore.layer,
  PostgresAuditStore.layer,
  PostgresBudgetStore.layer,
  PostgresChatStore.layer,
  PostgresConnectorStore.layer,
  PostgresCredentialFacts.layer,
  PostgresDeliveryStore.layer,
  PostgresExecutionStore.layer,
  PostgresFolderPolicyStore.layer,
  PostgresIdempotencyStore.layer,
  PostgresMemberStore.layer,
  PostgresModelStore.layer,
  PostgresOntologyStore.layer,
  PostgresOrganizationStore.layer,
  PostgresPlaybookRunStore.layer,
  PostgresPlaybookStore.layer,
  PostgresRateLimitStore.layer,
  PostgresReportStore.layer,
  PostgresRoleStore.layer,
  PostgresRowPolicyStore.layer,
  PostgresRunLog.layer(),
  PostgresSandcastleStore.layer,
  PostgresScheduleStore.layer,
  PostgresScimGroupMappingStore.layer,
  PostgresSecrets.layer,
  PostgresTransaction.layer,
  PostgresTriggerStore.layer,
  PostgresUploadStore.layer,
  PostgresUsageStore.layer,
  transactional
)
