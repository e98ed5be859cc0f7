import type { Migration } from "../Migration.ts"

/** Who carries the runs that have not come to their end. */
export const migration: Migration = {
  id: 11,
  name: "leases",
  statements: [
    // A row for each run that was not released. It is written every few seconds, and no index has a column that is: the
    // new version takes its place on the same page. There are as many rows as runs in progress, so whoever looks for
    // those that nobody carries looks at all of them.
    `CREATE TABLE castellan.run_leases (
       organization_id uuid NOT NULL,
       run_id uuid NOT NULL,
       runner_id uuid,
       epoch integer NOT NULL,
       until timestamptz NOT NULL,
       is_cancelled boolean NOT NULL DEFAULT false,
       is_ended boolean NOT NULL DEFAULT false,
       input_tokens integer NOT NULL DEFAULT 0,
       output_tokens integer NOT NULL DEFAULT 0,
       tool_calls integer NOT NULL DEFAULT 0,
       PRIMARY KEY (organization_id, run_id)
     ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`,
    `CALL castellan.keep_apart('run_leases')`,
    // Whoever appends to a log does so in an epoch, and none in an earlier one after that.
    `ALTER TABLE castellan.run_logs ADD COLUMN epoch integer NOT NULL DEFAULT 0`,
    // Runs that were in progress are taken up like those whose server has stopped: it has.
    `SELECT castellan.enter_deployment()`,
    `INSERT INTO castellan.run_leases (organization_id, run_id, epoch, until)
       SELECT organization_id, running_run_id, 0, now() FROM castellan.chats WHERE running_run_id IS NOT NULL`
  ]
}
