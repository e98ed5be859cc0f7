import type { Migration } from "../Migration.ts"

/** Which server has the session of a sandcastle, and which executions have no end yet. */
export const migration: Migration = {
  id: 13,
  name: "sandcastle_servers",
  statements: [
    // "held_until" is written once a minute for each session that is open, and no index has it: the new version takes its
    // place on the same page. Those that run already have no server that is known: theirs has stopped.
    `ALTER TABLE castellan.sandcastles ADD COLUMN server_id uuid, ADD COLUMN held_until timestamptz`,
    `ALTER TABLE castellan.sandcastles SET (fillfactor = 70)`,
    // What an organization runs, unused for longest first.
    `CREATE INDEX sandcastles_running ON castellan.sandcastles (organization_id, last_used_at, id)
       WHERE last_used_at IS NOT NULL`,
    // For all organizations at once: what one server has.
    `CREATE INDEX sandcastles_server ON castellan.sandcastles (server_id) WHERE last_used_at IS NOT NULL`,
    `ALTER TABLE castellan.executions ADD COLUMN is_running boolean NOT NULL DEFAULT false`,
    `SELECT castellan.enter_deployment()`,
    // As text: what a program wrote beside it may be no text that "->>" takes.
    `UPDATE castellan.executions SET is_running = true WHERE (document->'status'->'_tag')::text = '"Running"'`,
    // For all organizations at once.
    `CREATE INDEX executions_running ON castellan.executions (recorded_at, id) WHERE is_running`
  ]
}
