import type { Migration } from "../Migration.ts"

/** What runs, by organization and by server; and what has no end yet. */
export const migration: Migration = {
  id: 15,
  name: "sandcastle_indexes",
  indexes: [
    // What an organization runs, unused for longest first.
    {
      name: "sandcastles_running",
      on: "ON castellan.sandcastles (organization_id, last_used_at, id) WHERE last_used_at IS NOT NULL"
    },
    // For all organizations at once: what one server has.
    { name: "sandcastles_server", on: "ON castellan.sandcastles (server_id) WHERE last_used_at IS NOT NULL" },
    // For all organizations at once.
    { name: "executions_running", on: "ON castellan.executions (recorded_at, id) WHERE is_running" }
  ]
}
