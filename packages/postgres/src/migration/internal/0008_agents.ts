import type { Migration } from "../Migration.ts"

/** Agents, with their triggers and runs; apps. */
export const migration: Migration = {
  id: 8,
  name: "agents",
  statements: [
    `CREATE TABLE castellan.agents (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       name text COLLATE "C" NOT NULL,
       connector_ids integer[] NOT NULL,
       is_public boolean NOT NULL,
       creator_id uuid,
       creator_key_id uuid,
       creator_client text COLLATE "C" NOT NULL,
       grantees text[] COLLATE "C" NOT NULL,
       grants_end_at timestamptz[] NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CALL castellan.keep_apart('agents')`,

    `CREATE TABLE castellan.triggers (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       agent_id uuid NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CREATE INDEX triggers_agent ON castellan.triggers (organization_id, agent_id, id)`,
    `CALL castellan.keep_apart('triggers')`,

    // "client" is the end user that a run is for, the empty text where it is for none.
    `CREATE TABLE castellan.agent_runs (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       agent_id uuid NOT NULL,
       client text COLLATE "C" NOT NULL,
       is_ended boolean NOT NULL,
       created_at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CREATE INDEX agent_runs_newest ON castellan.agent_runs
       (organization_id, agent_id, client, created_at DESC, id DESC)`,
    // For all organizations at once.
    `CREATE INDEX agent_runs_unfinished ON castellan.agent_runs (created_at, id) WHERE NOT is_ended`,
    `CALL castellan.keep_apart('agent_runs')`,

    // "chat_client" is the end user that the app's chat was made for.
    `CREATE TABLE castellan.apps (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       name text COLLATE "C" NOT NULL,
       chat_client text COLLATE "C" NOT NULL,
       is_public boolean NOT NULL,
       creator_id uuid,
       creator_key_id uuid,
       creator_client text COLLATE "C" NOT NULL,
       grantees text[] COLLATE "C" NOT NULL,
       grants_end_at timestamptz[] NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CALL castellan.keep_apart('apps')`
  ]
}
