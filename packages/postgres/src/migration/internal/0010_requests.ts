import type { Migration } from "../Migration.ts"

/** Requests with idempotency keys, and the token buckets that requests are counted by. */
export const migration: Migration = {
  id: 10,
  name: "requests",
  statements: [
    `CREATE TABLE castellan.idempotent_requests (
       organization_id uuid NOT NULL,
       id text NOT NULL,
       fingerprint text NOT NULL,
       attempt uuid NOT NULL,
       lease_until timestamptz NOT NULL,
       carried_out boolean NOT NULL,
       answer bytea,
       created_at timestamptz NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CREATE INDEX idempotent_requests_by_age ON castellan.idempotent_requests (created_at)`,
    `CALL castellan.keep_apart('idempotent_requests')`,
    // A crash may empty it: every bucket is full then. So nothing of it has to reach the disk, and its rows, which
    // change with every request, leave room in their page for the next version.
    `CREATE UNLOGGED TABLE castellan.rate_limits (
       organization_id uuid PRIMARY KEY,
       level float8 NOT NULL,
       measured_at float8 NOT NULL,
       granted float8 NOT NULL
     ) WITH (fillfactor = 50)`,
    `CALL castellan.keep_apart('rate_limits')`
  ]
}
