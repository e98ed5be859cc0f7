/** Sees the tables of a database change: every row of every table, by a digest for each organization. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Observation, Witness } from "./Witness.ts"

/** When a key was last used is noted once a minute, whatever becomes of the request. */
const ignoredColumns = "'last_used_at'"

const audit = "audit_events"

interface Digest {
  readonly table: string
  readonly organization: string
  readonly digest: string
}

interface Log {
  readonly organization: string
  readonly refusals: number
  readonly deeds: number
}

/** A witness over the database of the context. */
export const layer: Layer.Layer<Witness, never, SqlClient.SqlClient> = Layer.effect(
  Witness,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const found = yield* sql<{ readonly table: string }>`
      SELECT table_name AS "table" FROM information_schema.columns
      WHERE table_schema = 'castellan' AND column_name = 'organization_id' ORDER BY 1`
    // Every request takes a token of its organization, whatever becomes of it.
    const tables = found.map(({ table }) => table).filter((table) => table !== "rate_limits")
    if (!tables.includes(audit)) return yield* Effect.die(new Error(`there is no table ${audit} to look at`))
    const digests = tables
      .filter((table) => table !== audit)
      .map(
        (table) => `SELECT '${table}' AS "table", organization_id::text AS organization,
          md5(string_agg(row, '' ORDER BY row)) AS digest
          FROM (SELECT organization_id, (to_jsonb(one) - ${ignoredColumns})::text AS row FROM castellan."${table}" one
            WHERE (SELECT castellan.enter_deployment()) AND organization_id <> ALL ($1::uuid[])) rows
          GROUP BY organization_id`
      )
      .join("\nUNION ALL\n")
    // Rows that nobody asks about are not looked at: there is more of them with every world.
    const ignored = new Set<string>()
    const look = Effect.gen(function* () {
      const rows = yield* sql.unsafe<Digest>(digests, [[...ignored]])
      const logs = yield* sql<Log>`
        SELECT organization_id::text AS organization, count(*) FILTER (WHERE is_refused)::int AS refusals,
          count(*) FILTER (WHERE NOT is_refused)::int AS deeds
        FROM castellan.audit_events
        WHERE (SELECT castellan.enter_deployment()) AND organization_id <> ALL (${[...ignored]}::uuid[])
        GROUP BY organization_id`
      return { rows: new Map(rows.map((row) => [`${row.table} ${row.organization}`, row])), logs }
    })
    let before = yield* look
    const grown = (now: ReadonlyArray<Log>, count: (log: Log) => number): number => {
      const sum = (logs: ReadonlyArray<Log>) =>
        logs.filter((log) => !ignored.has(log.organization)).reduce((total, log) => total + count(log), 0)
      return sum(now) - sum(before.logs)
    }
    return Witness.of({
      ignore: (organization) => Effect.sync(() => void ignored.add(organization)),
      observe: (organization) =>
        Effect.gen(function* () {
          const now = yield* look
          const names = new Set([...before.rows.keys(), ...now.rows.keys()])
          const changed = [...names]
            .filter((name) => before.rows.get(name)?.digest !== now.rows.get(name)?.digest)
            .flatMap((name) => now.rows.get(name) ?? before.rows.get(name) ?? [])
            .filter((row) => !ignored.has(row.organization))
          const observation: Observation = {
            within: changed.filter((row) => row.organization === organization).map(({ table }) => table),
            elsewhere: changed.filter((row) => row.organization !== organization).map(({ table }) => table),
            refusals: grown(now.logs, (log) => log.refusals),
            deeds: grown(now.logs, (log) => log.deeds)
          }
          before = now
          return observation
        }).pipe(Effect.orDie)
    })
  })
).pipe(Layer.orDie)
