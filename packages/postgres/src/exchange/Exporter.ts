/**
 * Writes everything that an organization has: as it was at one moment, while others go on writing, and a few rows at a
 * time, so that an organization of any size needs little memory.
 *
 * Source: issue "Everything kept", §1 ("Export and import of one organization as a file").
 */
import type { OrganizationId } from "@castellan/core/organization/Organization"
import * as SealedSecret from "@castellan/core/secret/SealedSecret"
import { SecretKeys } from "@castellan/core/secret/SecretKeys"
import { SecretId } from "@castellan/core/secret/Secrets"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { BeginTransaction, SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { createHash } from "node:crypto"
import { migrations } from "../migration/Migrations.ts"
import { entering, within } from "../database/Tenancy.ts"
import * as ExchangeColumns from "./ExchangeColumns.ts"
import { type Footer, formatVersion, type Header, type SecretsMode } from "./ExchangeFormat.ts"

/** What is exported, and how. */
export interface ExportOptions {
  readonly organizationId: OrganizationId
  /** How secrets are in the file; as they are kept unless given. */
  readonly secrets?: SecretsMode
}

/** There is no such organization. */
export class NothingToExport extends Schema.TaggedError<NothingToExport>()("NothingToExport", {
  message: Schema.String
}) {}

/** What was written. */
export interface Exported {
  readonly rows: Footer["rows"]
}

/** Rows that are read at once: fewer of those that hold bytes, one of which may be a whole file. */
const rowsAtOnce = (table: ExchangeColumns.Table): number =>
  table.columns.some(({ type }) => type === "bytea") ? 4 : 200

/** Characters that are written at once. */
const charactersAtOnce = 256 * 1024

/** Rows between two signs of life. */
const rowsBetweenNews = 50_000

type TextRow = Readonly<Record<string, string | null>>

/** A row as a line; documents stand in it as they are. */
const lineOf = (table: ExchangeColumns.Table, row: TextRow): string => {
  const fields = table.columns.map(({ isDocument, name }) => {
    const text = row[name] ?? null
    return `${JSON.stringify(name)}:${text !== null && isDocument ? text : JSON.stringify(text)}`
  })
  return `{"table":${JSON.stringify(table.name)},"row":{${fields.join(",")}}}`
}

interface SecretRow {
  readonly id: string
  readonly key_id: string
  readonly nonce: Uint8Array
  readonly sealed: Uint8Array
}

/** The secrets of an organization for everybody to read. */
const plainSecrets = Effect.fnUntraced(function* (sql: SqlClient, organizationId: OrganizationId) {
  const sealing = yield* SealedSecret.make(yield* SecretKeys)
  const rows = yield* sql<SecretRow>`
    SELECT id, key_id, nonce, sealed FROM castellan.secrets WHERE ${within(sql, organizationId)} ORDER BY id`
  return yield* Effect.forEach(rows, (row) =>
    Effect.map(
      sealing.open(
        { organizationId, id: SecretId.make(row.id) },
        { keyId: row.key_id, nonce: row.nonce, sealed: row.sealed }
      ),
      (value) => `{"table":"secrets","row":${JSON.stringify({ id: row.id, value: Redacted.value(value) })}}`
    )
  )
})

/**
 * Writes an organization, piece by piece, and answers how many rows there were. The pieces end at the ends of lines.
 */
export const exportTo = Effect.fn("Exporter.exportTo")(function* <E, R>(
  { organizationId, secrets = "sealed" }: ExportOptions,
  write: (text: string) => Effect.Effect<void, E, R>
) {
  const sql = yield* SqlClient
  const hash = createHash("sha256")
  const counts: Record<string, number> = {}
  let total = 0
  let piece = ""

  const flush = Effect.suspend(() => {
    const text = piece
    piece = ""
    hash.update(text)
    return write(text)
  })
  const put = (line: string): Effect.Effect<void, E, R> => {
    piece += `${line}\n`
    return piece.length < charactersAtOnce ? Effect.void : flush
  }
  const putRow = Effect.fnUntraced(function* (table: string, line: string) {
    counts[table] = (counts[table] ?? 0) + 1
    total++
    yield* put(line)
    if (total % rowsBetweenNews === 0) yield* Effect.logInfo(`${total} rows are written`)
  })

  /** The rows of a table, through a cursor. */
  const putTable = Effect.fnUntraced(function* (table: ExchangeColumns.Table) {
    const columns = table.columns.map(({ name }) => `"${name}"::text AS "${name}"`).join(", ")
    const order = table.order.map((name) => `"${name}"`).join(", ")
    yield* sql.unsafe(
      `DECLARE exported NO SCROLL CURSOR FOR SELECT ${columns} FROM castellan.${table.name}
       WHERE organization_id = '${organizationId}'${order === "" ? "" : ` ORDER BY ${order}`}`
    )
    const most = rowsAtOnce(table)
    for (;;) {
      // Not prepared: the next table's rows have other columns.
      const rows = yield* sql.unsafe<TextRow>(`FETCH ${most} FROM exported`).unprepared
      for (const row of rows) yield* putRow(table.name, lineOf(table, row))
      if (rows.length < most) break
    }
    yield* sql`CLOSE exported`
  })

  const putAll = Effect.gen(function* () {
    yield* sql`SET LOCAL TimeZone = 'UTC'`
    yield* sql`SELECT ${entering(sql, organizationId)}`
    const [found] = yield* sql`SELECT FROM castellan.organizations WHERE organization_id = ${organizationId}`
    if (found === undefined) {
      return yield* new NothingToExport({ message: `there is no organization ${organizationId}` })
    }
    const migration = migrations.at(-1)?.id ?? 0
    const header: Header = { castellan_export: formatVersion, organization_id: organizationId, migration, secrets }
    yield* put(JSON.stringify(header))
    for (const table of yield* ExchangeColumns.read(sql)) {
      if (table.name !== "secrets" || secrets === "sealed") yield* putTable(table)
      else if (secrets === "plain") {
        for (const line of yield* plainSecrets(sql, organizationId)) yield* putRow("secrets", line)
      }
    }
    yield* flush
    const footer: Footer = { rows: counts, sha256: hash.digest("hex") }
    yield* write(`${JSON.stringify(footer)}\n`)
    const exported: Exported = { rows: counts }
    return exported
  })
  return yield* sql
    .withTransaction(putAll)
    .pipe(Effect.provideService(BeginTransaction, "BEGIN ISOLATION LEVEL REPEATABLE READ"))
})

/** Why an export ends before its end. */
export type ExportError = NothingToExport | SealedSecret.SecretUnreadable | SqlError
