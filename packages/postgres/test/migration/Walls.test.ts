/** What the database itself holds for every table that there is: no organization gets at another's rows. */
import { OrganizationId } from "@castellan/core/organization/Organization"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql/SqlClient"
import { applicationRole } from "../../src/database/PostgresDatabase.ts"
import { acrossOrganizations, entering } from "../../src/database/Tenancy.ts"
import { databases } from "../support/Databases.ts"
import { columns, fill, sampleOf } from "../support/SampleRows.ts"

const mine = OrganizationId.make("11111111-1111-4111-8111-111111111111")
const other = OrganizationId.make("22222222-2222-4222-8222-222222222222")

/** Tables whose rows the application's role adds, and neither changes nor removes. */
const onlyAddedTo = new Set(["audit_events"])

const tables = Effect.map(columns, (all) => [...new Set(all.map(({ table }) => table))])

/** The organizations of the rows that a condition lets see. */
const seen = Effect.fnUntraced(function* (table: string, entered: ReturnType<typeof acrossOrganizations>) {
  const sql = yield* SqlClient
  const rows = yield* sql<{ readonly id: string }>`
    SELECT DISTINCT organization_id AS id FROM castellan.${sql(table)} WHERE ${entered} ORDER BY 1`
  return rows.map(({ id }) => id)
})

for (const { layer, name } of databases()) {
  it.layer(layer, { timeout: "180 seconds" })(`the walls between organizations (${name})`, (it) => {
    it.effect("every table names the organization first in its key, and has row-level security that is forced", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient
        const found = yield* sql<{ readonly table: string }>`
          SELECT c.relname AS table, c.relrowsecurity AND c.relforcerowsecurity AS secured,
            coalesce((SELECT a.attnotnull AND format_type(a.atttypid, NULL) = 'uuid' FROM pg_attribute a
              WHERE a.attrelid = c.oid AND a.attname = 'organization_id'), false) AS named,
            coalesce((SELECT a.attname = 'organization_id' FROM pg_index i
              JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
              WHERE i.indrelid = c.oid AND i.indisprimary), false) AS keyed,
            (SELECT count(*)::int FROM pg_policy p WHERE p.polrelid = c.oid) AS policies,
            (SELECT pg_get_expr(p.polqual, p.polrelid) FROM pg_policy p
              WHERE p.polrelid = c.oid AND p.polcmd = '*' AND p.polwithcheck IS NULL
                AND p.polroles = '{0}') AS policy
          FROM pg_class c
          WHERE c.relnamespace = 'castellan'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> 'migrations'`
        assert.isAbove(found.length, 40)
        const policy =
          "((organization_id = ( SELECT castellan.organization() AS organization)) OR ( SELECT castellan.is_deployment() AS is_deployment))"
        for (const { table, ...wall } of found) {
          assert.deepStrictEqual({ ...wall }, { secured: true, named: true, keyed: true, policies: 1, policy }, table)
        }
      })
    )

    it.effect("the application's role owns nothing, is no superuser, and does not bypass row-level security", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient
        assert.deepStrictEqual(
          (yield* sql`
            SELECT current_user AS name, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,
              (SELECT count(*)::int FROM pg_class WHERE relowner = r.oid) AS owned,
              (SELECT count(*)::int FROM pg_proc WHERE proowner = r.oid) AS functions,
              has_schema_privilege('castellan', 'CREATE') AS creates
            FROM pg_roles r WHERE rolname = current_user`).map((row) => ({ ...row })),
          [
            {
              name: applicationRole,
              rolsuper: false,
              rolbypassrls: false,
              rolcreaterole: false,
              rolcreatedb: false,
              owned: 0,
              functions: 0,
              creates: false
            }
          ]
        )
        for (const statement of [
          "ALTER TABLE castellan.roles DISABLE ROW LEVEL SECURITY",
          "TRUNCATE castellan.roles",
          "DROP TABLE castellan.roles",
          "UPDATE castellan.migrations SET name = ''",
          "CREATE OR REPLACE FUNCTION castellan.organization() RETURNS uuid LANGUAGE sql AS 'SELECT NULL::uuid'"
        ]) {
          const error = yield* Effect.flip(sql.unsafe(statement))
          assert.strictEqual(error.reason._tag, "AuthorizationError", statement)
        }
      })
    )

    it.effect("of every table, an organization sees its own rows; a statement that has entered none sees no row", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient
        yield* fill(mine)
        yield* fill(other)
        for (const table of yield* tables) {
          assert.deepStrictEqual(yield* seen(table, sql`true`), [], table)
          assert.deepStrictEqual(yield* seen(table, entering(sql, mine)), [mine], table)
          assert.deepStrictEqual(yield* seen(table, entering(sql, other)), [other], table)
          assert.deepStrictEqual(yield* seen(table, acrossOrganizations(sql)), [mine, other], table)
          // What a transaction entered is forgotten with it.
          yield* sql.withTransaction(seen(table, acrossOrganizations(sql)))
          assert.deepStrictEqual(yield* seen(table, sql`true`), [], table)
        }
      })
    )

    it.effect(
      "of every table, an organization can change, remove, add and take no row of another; of the audit log, none at all",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          for (const [table, of] of Map.groupBy(yield* columns, (column) => column.table)) {
            const target = sql`castellan.${sql(table)}`
            const isOnlyAddedTo = onlyAddedTo.has(table)
            const changes = [
              sql`UPDATE ${target} SET organization_id = organization_id
              WHERE ${entering(sql, mine)} AND organization_id = ${other}`,
              sql`DELETE FROM ${target} WHERE ${entering(sql, mine)} AND organization_id = ${other}`,
              sql`DELETE FROM ${target}`,
              sql`UPDATE ${target} SET organization_id = ${mine}`
            ]
            for (const change of changes) {
              const outcome = yield* Effect.result(change)
              const failure = outcome._tag === "Failure" ? outcome.failure.reason._tag : undefined
              assert.strictEqual(failure, isOnlyAddedTo ? "AuthorizationError" : undefined, table)
            }
            assert.deepStrictEqual(yield* seen(table, acrossOrganizations(sql)), [mine, other], table)

            const names = sql.literal(of.map((column) => `, "${column.name}"`).join(""))
            const refused = [
              // Given away, taken, and put in.
              ...(isOnlyAddedTo
                ? []
                : [sql`UPDATE ${target} SET organization_id = ${other} WHERE ${entering(sql, mine)}`]),
              sql`INSERT INTO ${target} (organization_id${names})
              SELECT ${other}::uuid${names} FROM ${target} WHERE ${entering(sql, mine)}`,
              sql`INSERT INTO ${target} (organization_id${names})
              SELECT ${mine}::uuid${sql.literal(of.map(({ type }) => `, ${sampleOf(type, mine)}`).join(""))}`
            ]
            for (const statement of refused) {
              const error = yield* Effect.flip(statement)
              assert.match(String(error.reason.cause), /row-level security/, table)
            }
            assert.deepStrictEqual(yield* seen(table, acrossOrganizations(sql)), [mine, other], table)
          }
        })
    )
  })
}
