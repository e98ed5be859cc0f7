/**
 * The examples of members, roles, keys, sessions, access, the organization, usage and the audit log.
 */
import type * as Schema from "effect/Schema"
import { model } from "./ChatExamples.ts"

/** The member of the examples. */
export const memberId = "01980c50-2b00-7a10-8c00-1f2e3d4c5b01"
/** The role of the examples. */
export const roleId = "01980c50-2b00-7a10-8c00-1f2e3d4c5b10"
const serviceAccountId = "01980c50-2b00-7a10-8c00-1f2e3d4c5b02"
const adminRoleId = "01980c50-2b00-7a10-8c00-1f2e3d4c5b11"
const keyId = "01980c50-2b00-7a10-8c00-1f2e3d4c5b20"
const oldKeyId = "01980c50-2b00-7a10-8c00-1f2e3d4c5b21"
const organizationId = "01980c50-2b00-7a10-8c00-1f2e3d4c5b00"
const made = "2026-03-01T08:00:00.000Z"
const changed = "2026-03-02T09:00:00.000Z"
const clientId = '{"tenant":"acme","region":"west"}'

const Role = {
  id: roleId,
  name: "analysts",
  description: "Ask questions about sales",
  is_system: false,
  is_scim_managed: false,
  default_model_id: 1,
  allowed_model_ids: [1, 2],
  allow_model_choice: true,
  created_at: made,
  updated_at: changed
}

const Member = {
  id: memberId,
  email: "ada@example.com",
  name: "Ada",
  roles: ["analysts"],
  is_admin: false,
  is_service_account: false,
  is_scim_managed: false,
  created_at: made
}

const ApiKey = {
  id: keyId,
  member_id: memberId,
  name: "Dashboard of Acme",
  client_id: clientId,
  assumed_roles: [roleId],
  all_roles: false,
  full_member_access: false,
  status: "active",
  created_at: changed,
  expires_at: "2026-05-31T09:00:00.000Z"
}

const key = "qV3m1Zr0n8T5c2Jw7Kx9Lb4Yd6Fh1Gs0Aq2We4Rt6Yu8Io=="

const Grant = { member_id: memberId, access_type: "editor", granted_by: serviceAccountId }
const RoleGrant = { role_id: roleId, access_type: "viewer", expires_at: "2026-06-01T00:00:00.000Z" }

const AuditActor = {
  credential: "api_key",
  member_id: memberId,
  api_key_id: keyId,
  role_ids: [roleId],
  client_id: clientId
}
const AuditTarget = { type: "role", id: roleId }
const AuditEvent = {
  id: "01980c50-2b00-7a10-8c00-1f2e3d4c5b30",
  created_at: changed,
  action: "update",
  target: AuditTarget,
  actor: AuditActor,
  outcome: "refused",
  message: "admin role required",
  before: { name: "analysts" },
  after: { name: "sales" },
  request_id: "01980c5e-7f3a-7c41-9a55-3d7f2f6a9b10",
  ip_address: "192.0.2.7"
}

const RateLimit = { requests_per_minute: 600, burst: 100 }

const UsageSum = {
  day: "2026-03-02",
  model,
  runs: 12,
  input_tokens: 22_104,
  output_tokens: 1_152,
  tool_calls: 24,
  duration_ms: 18_420,
  cost_micros: 84_000,
  unpriced_runs: 0
}

const BudgetRequest = {
  name: "Analysts, monthly",
  role_id: roleId,
  measure: "tokens",
  amount: 5_000_000,
  period: "month"
}
const Budget = { id: "01980c50-2b00-7a10-8c00-1f2e3d4c5b40", ...BudgetRequest, created_at: made, updated_at: made }

/** An example of each schema of identity, access and administration. */
export const identityExamples: Readonly<Record<string, Schema.Json>> = {
  Access: { is_public: false, grants: [Grant, RoleGrant] },
  ApiKey,
  ApiKeyList: { api_keys: [ApiKey], next_page_token: "bmV4dA" },
  ApiKeyRevocation: { id: keyId, success: true },
  AssignRoleRequest: { roleId },
  AuditActor,
  AuditEvent,
  AuditEventList: { audit_events: [AuditEvent], next_page_token: "bmV4dA" },
  AuditTarget,
  Budget,
  BudgetList: { budgets: [Budget] },
  BudgetRequest,
  CreateRoleRequest: { name: "analysts", description: "Ask questions about sales" },
  CreateServiceAccountRequest: { name: "nightly reports" },
  Grant,
  GrantRequest: { member_id: memberId, access_type: "editor" },
  InviteMemberRequest: { email: "grace@example.com", role: "member" },
  Member,
  MemberList: { members: [Member] },
  MemberRemoval: { id: memberId, success: true },
  MemberRoles: { member_id: memberId, roles: [Role] },
  MintApiKeyRequest: {
    name: "Dashboard of Acme",
    assumedRoles: [roleId],
    clientId,
    expirySeconds: 7_776_000
  },
  MintedApiKey: { key, api_key: ApiKey },
  Organization: {
    id: organizationId,
    name: "Acme",
    default_model_id: 1,
    rate_limit: RateLimit,
    key_expiry_seconds: 7_776_000,
    created_at: made
  },
  RateLimit,
  RateLimitRequest: RateLimit,
  ReplaceAccessRequest: { is_public: false, grants: [{ role_id: adminRoleId, access_type: "viewer" }] },
  ReplaceBudgetsRequest: { budgets: [BudgetRequest] },
  ReplaceRolePermissionsRequest: { permissions: ["chat:read", "chat:write", "connector:query"] },
  Role,
  RoleAssignment: { member_id: memberId, role_id: roleId, success: true },
  RoleDeletion: { id: roleId, success: true },
  RoleList: { roles: [Role] },
  RolePermissions: { permissions: ["chat:read", "chat:write", "connector:query"] },
  RotateApiKeyRequest: { graceSeconds: 3_600 },
  RotatedApiKey: { key, api_key: ApiKey, revoked_api_key_id: oldKeyId },
  Session: { token: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl", expires_at: "2026-03-02T09:45:00.000Z" },
  Success: { success: true },
  UpdateOrganizationRequest: { name: "Acme", rate_limit: RateLimit, key_expiry_seconds: 0 },
  UpdateRoleRequest: { description: "Ask questions about sales", allowed_model_ids: [1, 2], allow_model_choice: true },
  UsageReport: { usage: [UsageSum] },
  UsageSum
}
