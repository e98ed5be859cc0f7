import type { Migration } from "../Migration.ts"

/** What happened, and what it used up: the audit log, usage, and budgets. */
export const migration: Migration = {
  id: 3,
  name: "audit",
  statements: [
    // In the order of the log, so that its pages are ranges of the primary key. One index for each way to look for
    // something; refusals are few, so theirs is small.
    `CREATE TABLE castellan.audit_events (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       at timestamptz NOT NULL,
       action text COLLATE "C" NOT NULL,
       target_type text COLLATE "C" NOT NULL,
       target_id text COLLATE "C",
       member_id uuid NOT NULL,
       is_refused boolean NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, at, id)
     )`,
    `CREATE INDEX audit_events_action ON castellan.audit_events (organization_id, action, at, id)`,
    `CREATE INDEX audit_events_target_type ON castellan.audit_events (organization_id, target_type, at, id)`,
    `CREATE INDEX audit_events_target ON castellan.audit_events (organization_id, target_id, at, id)
       WHERE target_id IS NOT NULL`,
    `CREATE INDEX audit_events_member ON castellan.audit_events (organization_id, member_id, at, id)`,
    `CREATE INDEX audit_events_refused ON castellan.audit_events (organization_id, at, id) WHERE is_refused`,
    `CALL castellan.keep_apart('audit_events')`,

    // What is summed, and what it is told apart by; "client" is the end user's metadata in one way of writing.
    `CREATE TABLE castellan.usage_records (
       organization_id uuid NOT NULL,
       run_id uuid NOT NULL,
       member_id uuid NOT NULL,
       roles uuid[] NOT NULL,
       client text COLLATE "C",
       model text COLLATE "C" NOT NULL,
       input_tokens bigint NOT NULL,
       output_tokens bigint NOT NULL,
       tool_calls bigint NOT NULL,
       duration_millis bigint NOT NULL,
       cost bigint,
       at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, run_id)
     )`,
    `CREATE INDEX usage_records_at ON castellan.usage_records (organization_id, at)`,
    `CREATE INDEX usage_records_member ON castellan.usage_records (organization_id, member_id, at)`,
    `CALL castellan.keep_apart('usage_records')`,

    `CREATE TABLE castellan.budgets (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       created_at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CALL castellan.keep_apart('budgets')`
  ]
}
