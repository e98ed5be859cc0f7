import type { Migration } from "../Migration.ts"

const versioned = ["api_keys", "members", "roles"]

/**
 * A version of every row that requests are checked by: another one after each change, whoever makes it, and never one
 * that was before, not even where a server that fails over loses what it had said. It tells that a row is what it was
 * without the row being sent.
 *
 * The rows of a table that are there by then share a version, which no other run of this step gives: one for each would
 * take writing the table anew, while nobody could be authenticated. So a version says what has become of one row, and
 * not which one it is of. A later step that changes what is in such a row without an `UPDATE`, as `ALTER COLUMN … USING`
 * does, has to renew the versions itself.
 */
export const migration: Migration = {
  id: 18,
  name: "versions",
  statements: [
    `CREATE FUNCTION castellan.renew_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       NEW.version := gen_random_uuid();
       RETURN NEW;
     END $$`,
    ...versioned.flatMap((table) => [
      `DO $$ BEGIN
         EXECUTE format('ALTER TABLE castellan.${table} ADD COLUMN version uuid NOT NULL DEFAULT %L', gen_random_uuid());
       END $$`,
      `ALTER TABLE castellan.${table} ALTER COLUMN version DROP DEFAULT`,
      `CREATE TRIGGER renew_version BEFORE INSERT OR UPDATE ON castellan.${table}
         FOR EACH ROW EXECUTE FUNCTION castellan.renew_version()`,
      // Also for what a replication or a restore writes.
      `ALTER TABLE castellan.${table} ENABLE ALWAYS TRIGGER renew_version`
    ])
  ]
}
