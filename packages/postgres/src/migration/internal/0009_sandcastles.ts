import type { Migration } from "../Migration.ts"

/** Sandcastles, and what ran in them. */
export const migration: Migration = {
  id: 9,
  name: "sandcastles",
  statements: [
    // "last_used_at" is null where it was stopped; "creator_client" is the end user that it is for, the empty text
    // where it is for none.
    `CREATE TABLE castellan.sandcastles (
       organization_id uuid NOT NULL,
       id text COLLATE "C" NOT NULL,
       creator_id uuid NOT NULL,
       creator_key_id uuid,
       creator_client text COLLATE "C" NOT NULL,
       last_used_at timestamptz,
       created_at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CREATE INDEX sandcastles_newest ON castellan.sandcastles
       (organization_id, creator_id, creator_client, created_at DESC, id DESC)`,
    `CREATE INDEX sandcastles_key ON castellan.sandcastles (organization_id, creator_key_id, created_at DESC, id DESC)
       WHERE creator_key_id IS NOT NULL`,
    // For all organizations at once.
    `CREATE INDEX sandcastles_idle ON castellan.sandcastles (last_used_at) WHERE last_used_at IS NOT NULL`,
    `CALL castellan.keep_apart('sandcastles')`,

    // "recorded_at" is "created_at" once more, for the purge alone: where most executions are of one sandcastle, an
    // index that begins with what its list is sorted by would be taken for that list, and the cost of a page would
    // depend on whatever else was recorded at its time.
    `CREATE TABLE castellan.executions (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       sandcastle_id text COLLATE "C" NOT NULL,
       created_at timestamptz NOT NULL,
       recorded_at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CREATE INDEX executions_newest ON castellan.executions
       (organization_id, sandcastle_id, created_at DESC, id DESC)`,
    // For all organizations at once: what is old enough to be purged.
    `CREATE INDEX executions_oldest ON castellan.executions (recorded_at)`,
    `CALL castellan.keep_apart('executions')`
  ]
}
