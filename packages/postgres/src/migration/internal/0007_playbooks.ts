import type { Migration } from "../Migration.ts"

/** Playbooks, with their schedules, runs and reports, and the deliveries of these. */
export const migration: Migration = {
  id: 7,
  name: "playbooks",
  statements: [
    // Of the text columns, "name" is what lists sort by, and the two in lower case are what is searched.
    `CREATE TABLE castellan.playbooks (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       status text COLLATE "C" NOT NULL,
       name text COLLATE "C" NOT NULL,
       lower_name text COLLATE "C" NOT NULL,
       lower_prompt text COLLATE "C" NOT NULL,
       is_public boolean NOT NULL,
       creator_id uuid,
       creator_key_id uuid,
       creator_client text COLLATE "C" NOT NULL,
       grantees text[] COLLATE "C" NOT NULL,
       grants_end_at timestamptz[] NOT NULL,
       created_at timestamptz NOT NULL,
       updated_at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CALL castellan.keep_apart('playbooks')`,

    `CREATE TABLE castellan.schedules (
       organization_id uuid NOT NULL,
       playbook_id uuid NOT NULL,
       next_due_at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, playbook_id)
     )`,
    // For all organizations at once.
    `CREATE INDEX schedules_due ON castellan.schedules (next_due_at, playbook_id)`,
    `CALL castellan.keep_apart('schedules')`,

    // "client" is the end user that a run is for, the empty text where it is for none; "due_at" is the due time that
    // it stands for.
    `CREATE TABLE castellan.playbook_runs (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       playbook_id uuid NOT NULL,
       client text COLLATE "C" NOT NULL,
       due_at timestamptz,
       is_ended boolean NOT NULL,
       created_at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    // A due time has one run.
    `CREATE UNIQUE INDEX playbook_runs_due ON castellan.playbook_runs (organization_id, playbook_id, due_at)
       WHERE due_at IS NOT NULL`,
    `CREATE INDEX playbook_runs_newest ON castellan.playbook_runs
       (organization_id, playbook_id, client, created_at DESC, id DESC)`,
    // For all organizations at once.
    `CREATE INDEX playbook_runs_unfinished ON castellan.playbook_runs (created_at, id) WHERE NOT is_ended`,
    `CALL castellan.keep_apart('playbook_runs')`,

    `CREATE TABLE castellan.reports (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       playbook_id uuid NOT NULL,
       client text COLLATE "C" NOT NULL,
       created_at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CREATE INDEX reports_newest ON castellan.reports
       (organization_id, playbook_id, client, created_at DESC, id DESC)`,
    `CALL castellan.keep_apart('reports')`,

    // "due_at" is when something is to be done next; null where nothing is.
    `CREATE TABLE castellan.deliveries (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       run_id uuid NOT NULL,
       target text COLLATE "C" NOT NULL,
       status text COLLATE "C" NOT NULL,
       attempts integer NOT NULL,
       due_at timestamptz,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    // A target of a run has one delivery.
    `CREATE UNIQUE INDEX deliveries_target ON castellan.deliveries (organization_id, run_id, target)`,
    // For all organizations at once.
    `CREATE INDEX deliveries_due ON castellan.deliveries (due_at, id) WHERE due_at IS NOT NULL`,
    `CALL castellan.keep_apart('deliveries')`
  ]
}
