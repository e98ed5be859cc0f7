import type { Migration } from "../Migration.ts"

/** What assets are called, for who saves one. Those that are there already keep the names that they were saved under. */
export const migration: Migration = {
  id: 16,
  name: "asset_names",
  statements: ["ALTER TABLE castellan.asset_bodies ADD COLUMN name text"]
}
