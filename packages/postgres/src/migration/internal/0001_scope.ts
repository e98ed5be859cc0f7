import type { Migration } from "../Migration.ts"

/**
 * How statements enter an organization, and how tables are kept apart by it: `Tenancy`.
 */
export const migration: Migration = {
  id: 1,
  name: "scope",
  statements: [
    // The role as which the service works: no owner of anything, and no superuser.
    // It is the server's, not the database's: an administrator may have made it, or another database's migrations do.
    `DO $$ BEGIN
       IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'castellan_application') THEN
         CREATE ROLE castellan_application NOLOGIN;
       END IF;
     EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
     END $$`,
    `GRANT USAGE ON SCHEMA castellan TO castellan_application`,
    `GRANT SELECT ON castellan.migrations TO castellan_application`,
    `CREATE FUNCTION castellan.enter(organization uuid) RETURNS boolean LANGUAGE sql VOLATILE AS $$
       SELECT set_config('castellan.organization', organization::text, true) IS NOT NULL
          AND set_config('castellan.deployment', '', true) IS NOT NULL
     $$`,
    `CREATE FUNCTION castellan.enter_deployment() RETURNS boolean LANGUAGE sql VOLATILE AS $$
       SELECT set_config('castellan.organization', '', true) IS NOT NULL
          AND set_config('castellan.deployment', 'on', true) IS NOT NULL
     $$`,
    // An entered organization is forgotten at the end of its transaction: the setting is then empty, not absent.
    `CREATE FUNCTION castellan.organization() RETURNS uuid LANGUAGE sql STABLE AS $$
       SELECT nullif(current_setting('castellan.organization', true), '')::uuid
     $$`,
    `CREATE FUNCTION castellan.is_deployment() RETURNS boolean LANGUAGE sql STABLE AS $$
       SELECT coalesce(current_setting('castellan.deployment', true), '') = 'on'
     $$`,
    // What every table gets. The selects around the functions make PostgreSQL call them once a statement, not a row.
    `CREATE PROCEDURE castellan.keep_apart(name text) LANGUAGE plpgsql AS $$ BEGIN
       EXECUTE format('ALTER TABLE castellan.%I ENABLE ROW LEVEL SECURITY', name);
       EXECUTE format('ALTER TABLE castellan.%I FORCE ROW LEVEL SECURITY', name);
       EXECUTE format('CREATE POLICY organization ON castellan.%I USING (
         organization_id = (SELECT castellan.organization()) OR (SELECT castellan.is_deployment()))', name);
       EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON castellan.%I TO castellan_application', name);
     END $$`
  ]
}
