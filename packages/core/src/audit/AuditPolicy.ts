/**
 * Who may read the audit log.
 *
 * Source: decisions.md §3 ("`GET /v2/audit-events` (`audit:read`)").
 */
import { type Decision, deny } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import type { AuditEvent } from "./AuditEvent.ts"

/** Whether the principal may list the organization's events. */
export const list = (principal: Principal): Decision => requires(principal, "audit:read")

/** Whether the principal may see one event: another organization's is not there. */
export const see = (principal: Principal, event: AuditEvent): Decision =>
  event.organizationId === principal.organizationId ? list(principal) : deny("hidden", "audit event not found")
