import type { Migration } from "../Migration.ts"

/** Secrets, each sealed with the key that it names. */
export const migration: Migration = {
  id: 6,
  name: "secrets",
  statements: [
    `CREATE TABLE castellan.secrets (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       key_id text COLLATE "C" NOT NULL,
       nonce bytea NOT NULL,
       sealed bytea NOT NULL,
       PRIMARY KEY (organization_id, id),
       -- An id is of one organization, for good.
       UNIQUE (id)
     )`,
    `CALL castellan.keep_apart('secrets')`
  ]
}
