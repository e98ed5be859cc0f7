/**
 * Every store of the core in one layer, on PostgreSQL.
 */
import * as Layer from "effect/Layer"
import * as PostgresCredentialFacts from "./access/PostgresCredentialFacts.ts"
import * as PostgresApiKeyStore from "./apikey/PostgresApiKeyStore.ts"
import * as PostgresAuditStore from "./audit/PostgresAuditStore.ts"
import * as PostgresConnectorStore from "./connector/PostgresConnectorStore.ts"
import * as PostgresTransaction from "./database/PostgresTransaction.ts"
import * as PostgresIdempotencyStore from "./idempotency/PostgresIdempotencyStore.ts"
import * as PostgresMemberStore from "./member/PostgresMemberStore.ts"
import * as PostgresModelStore from "./model/PostgresModelStore.ts"
import * as PostgresOntologyStore from "./ontology/PostgresOntologyStore.ts"
import * as PostgresOrganizationStore from "./organization/PostgresOrganizationStore.ts"
import * as PostgresRateLimitStore from "./ratelimit/PostgresRateLimitStore.ts"
import * as PostgresRoleStore from "./role/PostgresRoleStore.ts"
import * as PostgresRowPolicyStore from "./rowpolicy/PostgresRowPolicyStore.ts"
import * as PostgresScimGroupMappingStore from "./scim/PostgresScimGroupMappingStore.ts"
import * as PostgresBudgetStore from "./usage/PostgresBudgetStore.ts"
import * as PostgresUsageStore from "./usage/PostgresUsageStore.ts"

/** Every store that is there, over the connections of the context. */
export const layer = Layer.mergeAll(
  PostgresApiKeyStore.layer,
  PostgresAuditStore.layer,
  PostgresBudgetStore.layer,
  PostgresConnectorStore.layer,
  PostgresCredentialFacts.layer,
  PostgresIdempotencyStore.layer,
  PostgresMemberStore.layer,
  PostgresModelStore.layer,
  PostgresOntologyStore.layer,
  PostgresOrganizationStore.layer,
  PostgresRateLimitStore.layer,
  PostgresRoleStore.layer,
  PostgresRowPolicyStore.layer,
  PostgresScimGroupMappingStore.layer,
  PostgresTransaction.layer,
  PostgresUsageStore.layer
)
