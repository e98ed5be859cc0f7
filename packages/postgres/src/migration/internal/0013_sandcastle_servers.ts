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
    `ALTER TABLE castellan.executions ADD COLUMN is_running boolean NOT NULL DEFAULT false`
  ]
}
