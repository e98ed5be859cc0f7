/**
 * What PostgreSQL does by processes of its own, and in one thread nobody does: it writes what its log holds into the
 * tables, so that the log is short and a start after a crash quick; it reclaims the room of rows that are gone; and it
 * counts what is in tables, by which it finds the fastest way to rows.
 *
 * The bounds of tables are those of autovacuum. Source: PostgreSQL documentation, "Routine Vacuuming".
 */
import type { PGlite } from "@electric-sql/pglite"

/** Bytes of the log after which it is written into the tables. */
const logBytes = 32 * 1024 * 1024

interface Work {
  readonly statement: string
}

/** The most pressing work of all; nothing where there is none. */
const mostPressing = `
  SELECT statement FROM (
    SELECT 'CHECKPOINT' AS statement, 1e9 AS pressing FROM pg_control_checkpoint()
    WHERE pg_current_wal_lsn() - redo_lsn > ${logBytes}
    UNION ALL
    SELECT format('VACUUM (ANALYZE) %I.%I', schemaname, relname), n_dead_tup
    FROM pg_stat_user_tables WHERE n_dead_tup > 50 + 0.2 * n_live_tup
    UNION ALL
    SELECT format('ANALYZE %I.%I', schemaname, relname), 0
    FROM pg_stat_user_tables WHERE n_mod_since_analyze > 50 + 0.1 * n_live_tup
  ) AS work ORDER BY pressing DESC LIMIT 1`

/** Does one piece of work, as the owner, while nothing goes on in the database; answers whether there was one. */
export const maintain = async (database: PGlite): Promise<boolean> => {
  const [work] = (await database.query<Work>(mostPressing)).rows
  if (work === undefined) return false
  await database.exec(work.statement)
  return true
}
