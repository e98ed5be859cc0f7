import type { Migration } from "../Migration.ts"

/** Roles. */
export const migration: Migration = {
  id: 2,
  name: "roles",
  statements: [
    `CREATE TABLE castellan.roles (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       created_at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CALL castellan.keep_apart('roles')`
  ]
}
