import type { Migration } from "../Migration.ts"

/** The audit log is only ever added to: the service's role changes and removes nothing of it, whoever speaks through it. */
export const migration: Migration = {
  id: 17,
  name: "audit_wall",
  statements: ["REVOKE UPDATE, DELETE ON castellan.audit_events FROM castellan_application"]
}
