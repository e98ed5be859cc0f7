import type { Migration } from "../Migration.ts"

/** The executions that are without an end already. All are read: in a step of its own, which keeps nobody waiting. */
export const migration: Migration = {
  id: 14,
  name: "unfinished_executions",
  statements: [
    `SELECT castellan.enter_deployment()`,
    // As text: what a program wrote may be none that PostgreSQL reads as JSON. No quote in it is without its backslash.
    `UPDATE castellan.executions SET is_running = true
       WHERE position('"status":{"_tag":"Running"}' IN document::text) > 0`
  ]
}
