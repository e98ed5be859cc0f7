import type { Migration } from "../Migration.ts"

/**
 * Organizations and who is in them: members, roles, keys, SCIM mappings; the numbers of models; connectors with the
 * rules for their rows.
 */
export const migration: Migration = {
  id: 2,
  name: "organizations",
  statements: [
    `CREATE TABLE castellan.organizations (
       organization_id uuid NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id)
     )`,
    `CALL castellan.keep_apart('organizations')`,

    `CREATE TABLE castellan.roles (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       created_at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CALL castellan.keep_apart('roles')`,

    // "email" is the address in lower case.
    `CREATE TABLE castellan.members (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       email text COLLATE "C" NOT NULL,
       created_at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CREATE INDEX members_email ON castellan.members (organization_id, email)`,
    `CALL castellan.keep_apart('members')`,

    // The roles that members hold, for those who look from the role, or for both at once.
    `CREATE TABLE castellan.member_roles (
       organization_id uuid NOT NULL,
       member_id uuid NOT NULL,
       role_id uuid NOT NULL,
       PRIMARY KEY (organization_id, member_id, role_id)
     )`,
    `CREATE INDEX member_roles_role ON castellan.member_roles (organization_id, role_id, member_id)`,
    `CALL castellan.keep_apart('member_roles')`,

    // "client" is a digest of the end user's metadata. A use is noted in place: every page keeps room for that.
    `CREATE TABLE castellan.api_keys (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       hash text COLLATE "C" NOT NULL,
       owner uuid NOT NULL,
       is_revoked boolean NOT NULL,
       client text COLLATE "C",
       ancestors uuid[] NOT NULL,
       minter uuid,
       created_at timestamptz NOT NULL,
       last_used_at timestamptz,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     ) WITH (fillfactor = 90)`,
    `CREATE UNIQUE INDEX api_keys_hash ON castellan.api_keys (hash)`,
    `CREATE INDEX api_keys_newest ON castellan.api_keys (organization_id, created_at DESC, id DESC)`,
    `CREATE INDEX api_keys_newest_kept ON castellan.api_keys (organization_id, created_at DESC, id DESC)
       WHERE NOT is_revoked`,
    `CREATE INDEX api_keys_owner ON castellan.api_keys (organization_id, owner, created_at DESC, id DESC)`,
    `CREATE INDEX api_keys_owner_kept ON castellan.api_keys (organization_id, owner, created_at DESC, id DESC)
       WHERE NOT is_revoked`,
    `CREATE INDEX api_keys_client ON castellan.api_keys (organization_id, owner, client, created_at DESC, id DESC)
       WHERE client IS NOT NULL`,
    `CREATE INDEX api_keys_minter ON castellan.api_keys (organization_id, owner, minter) WHERE minter IS NOT NULL`,
    `CALL castellan.keep_apart('api_keys')`,

    `CREATE TABLE castellan.scim_group_mappings (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       created_at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CALL castellan.keep_apart('scim_group_mappings')`,

    // The numbers by which role configuration refers to models: given once, and kept for good.
    `CREATE TABLE castellan.model_numbers (
       organization_id uuid NOT NULL,
       model_id text COLLATE "C" NOT NULL,
       number integer NOT NULL,
       PRIMARY KEY (organization_id, model_id),
       UNIQUE (organization_id, number)
     )`,
    `CALL castellan.keep_apart('model_numbers')`,

    `CREATE TABLE castellan.connectors (
       organization_id uuid NOT NULL,
       id integer NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CALL castellan.keep_apart('connectors')`,

    // The highest number that a connector of the organization ever had.
    `CREATE TABLE castellan.connector_numbers (
       organization_id uuid NOT NULL,
       highest integer NOT NULL,
       PRIMARY KEY (organization_id)
     )`,
    `CALL castellan.keep_apart('connector_numbers')`,

    `CREATE TABLE castellan.row_policies (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       connector_id integer NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CREATE INDEX row_policies_connector ON castellan.row_policies (organization_id, connector_id, id)`,
    `CALL castellan.keep_apart('row_policies')`
  ]
}
