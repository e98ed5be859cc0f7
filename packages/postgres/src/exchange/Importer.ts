/**
 * Takes in an organization from a file: whole, or not at all. Everything is checked before it counts: the format, the
 * schema, every row's columns, and, at the end, that the file is whole.
 *
 * Source: issue "Everything kept", §1 ("Export and import of one organization as a file").
 */
import type { OrganizationId } from "@castellan/core/organization/Organization"
import * as SealedSecret from "@castellan/core/secret/SealedSecret"
import { SecretKeys } from "@castellan/core/secret/SecretKeys"
import { SecretId } from "@castellan/core/secret/Secrets"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { sqlStateOf } from "../database/DatabaseFailure.ts"
import { entering, within } from "../database/Tenancy.ts"
import { migrations } from "../migration/Migrations.ts"
import * as ExchangeColumns from "./ExchangeColumns.ts"
import { Footer, formatVersion, Header, RowLine } from "./ExchangeFormat.ts"

/** The file cannot be taken in; nothing was. */
export class ImportRefused extends Schema.TaggedError<ImportRefused>()("ImportRefused", {
  message: Schema.String
}) {}

/** What was taken in. */
export interface Imported {
  readonly organizationId: OrganizationId
  readonly rows: Footer["rows"]
}

/** Rows, and characters of them, that are written at once. */
const rowsAtOnce = 500
const charactersAtOnce = 1024 * 1024

/** Rows between two signs of life. */
const rowsBetweenNews = 50_000

const refuse = (message: string) => Effect.fail(new ImportRefused({ message }))

/** What a line is, by its schema. What is wrong with it is not told in the file's words, which may be a secret's. */
const parser = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) => {
  const decode = Schema.decodeUnknownOption(Schema.fromJsonString(schema), { onExcessProperty: "error" })
  return (line: string, what: string): Effect.Effect<S["Type"], ImportRefused> => {
    const found = decode(line)
    return Option.isSome(found) ? Effect.succeed(found.value) : refuse(what)
  }
}

const parseHeader = parser(Header)
const parseRow = parser(RowLine)
const parseFooter = parser(Footer)
const PlainSecret = Schema.Struct({ id: SecretId, value: Schema.String })
const plainSecretOf = Schema.decodeUnknownOption(PlainSecret)

/** An array of texts, some of them absent, as PostgreSQL writes it. */
const arrayOf = (texts: ReadonlyArray<string | null>): string =>
  `{${texts.map((text) => (text === null ? "NULL" : `"${text.replaceAll(/["\\]/g, "\\$&")}"`)).join(",")}}`

/** What the database says of rows that it does not take, without its words, which have the rows' own. */
const unfit =
  (table: string) =>
  (error: SqlError): Effect.Effect<never, ImportRefused | SqlError> => {
    const state = sqlStateOf(error) ?? ""
    if (state === "23505") return refuse(`a row of ${table} is here already, in this organization or in another one`)
    return /^2[23]/.test(state)
      ? refuse(`a row of ${table} does not fit its table (SQLSTATE ${state})`)
      : Effect.fail(error)
  }

/** Takes in the organization of a file, whose lines come one by one; answers what it was. */
export const importFrom = Effect.fn("Importer.importFrom")(function* <E, R>(lines: Stream.Stream<string, E, R>) {
  const sql = yield* SqlClient
  const sealing = yield* SealedSecret.make(yield* SecretKeys)
  const hash = createHash("sha256")
  const counts: Record<string, number> = {}
  let total = 0
  let number = 0
  let header: Header | undefined
  let footer: Footer | undefined
  let tables: ReadonlyMap<string, ExchangeColumns.Table> = new Map()
  let batch: { readonly table: ExchangeColumns.Table; readonly rows: Array<ReadonlyArray<string | null>> } | undefined
  let characters = 0

  const begin = Effect.fnUntraced(function* (line: string) {
    const found = yield* parseHeader(line, "this is no export of an organization")
    if (found.castellan_export !== formatVersion) {
      return yield* refuse(`the file has the format ${found.castellan_export}, and this version reads ${formatVersion}`)
    }
    const migration = migrations.at(-1)?.id
    if (found.migration !== migration) {
      return yield* refuse(
        `the file is of the schema ${found.migration}, and this database is at ${migration}: import it with the version that wrote it, and update that`
      )
    }
    yield* sql`SET LOCAL TimeZone = 'UTC'`
    yield* sql`SELECT ${entering(sql, found.organization_id)}`
    const [taken] = yield* sql`SELECT FROM castellan.organizations WHERE organization_id = ${found.organization_id}`
    if (taken !== undefined) return yield* refuse(`the organization ${found.organization_id} is here already`)
    tables = new Map((yield* ExchangeColumns.read(sql)).map((table) => [table.name, table]))
    header = found
  })

  const flush = Effect.fnUntraced(function* (organizationId: OrganizationId) {
    if (batch === undefined || batch.rows.length === 0) return
    const { rows, table } = batch
    batch = undefined
    characters = 0
    const names = table.columns.map(({ name }) => `, "${name}"`).join("")
    const values = table.columns.map(({ type }, index) => `, c${index}::${type}`).join("")
    const arrays = table.columns.map((_, index) => `$${index + 2}::text[]`)
    const aliases = table.columns.map((_, index) => `c${index}`)
    // In the order of the file, so that what numbers rows as they come gives them the same order again.
    yield* sql
      .unsafe(
        `INSERT INTO castellan.${table.name} (organization_id${names})
         SELECT $1::uuid${values} FROM unnest(${arrays.join(", ")}) WITH ORDINALITY AS read (${[...aliases, "place"].join(", ")})
         ORDER BY place`,
        [organizationId, ...table.columns.map((_, index) => arrayOf(rows.map((row) => row[index] ?? null)))]
      )
      .pipe(Effect.catchTag("SqlError", unfit(table.name)))
  })

  const secret = Effect.fnUntraced(function* (organizationId: OrganizationId, row: RowLine["row"]) {
    const found = plainSecretOf(row)
    if (Option.isNone(found)) return yield* refuse(`line ${number} is no secret`)
    const place = { organizationId, id: found.value.id }
    const { keyId, nonce, sealed } = yield* sealing.seal(place, Redacted.make(found.value.value))
    yield* sql`INSERT INTO castellan.secrets (organization_id, id, key_id, nonce, sealed)
      VALUES (${organizationId}, ${place.id}, ${keyId}, ${nonce}, ${sealed})`
  })

  const take = Effect.fnUntraced(function* (of: Header, line: string) {
    const { row, table: name } = yield* parseRow(line, `line ${number} is no row`)
    counts[name] = (counts[name] ?? 0) + 1
    total++
    if (total % rowsBetweenNews === 0) yield* Effect.logInfo(`${total} rows are read`)
    if (name === "secrets" && of.secrets === "plain") return yield* secret(of.organization_id, row)
    const table = tables.get(name)
    if (table === undefined || (name === "secrets" && of.secrets !== "sealed")) {
      return yield* refuse(`line ${number} is a row of ${JSON.stringify(name)}, which no export has`)
    }
    if (Object.keys(row).length !== table.columns.length) {
      return yield* refuse(`line ${number} has not the columns of ${name}`)
    }
    const texts: Array<string | null> = []
    for (const column of table.columns) {
      const value = row[column.name]
      if (value === undefined || (!column.isDocument && value !== null && typeof value !== "string")) {
        return yield* refuse(`line ${number} has no ${column.name}, or one that is no text`)
      }
      // No table has a document that is null in itself: it would be told from none at all by nothing.
      texts.push(value === null || (typeof value === "string" && !column.isDocument) ? value : JSON.stringify(value))
    }
    if (batch !== undefined && batch.table !== table) yield* flush(of.organization_id)
    batch ??= { table, rows: [] }
    batch.rows.push(texts)
    characters += line.length
    if (batch.rows.length >= rowsAtOnce || characters >= charactersAtOnce) yield* flush(of.organization_id)
  })

  const line = Effect.fnUntraced(function* (text: string) {
    number++
    if (footer !== undefined) return yield* refuse(`line ${number} comes after the last one`)
    if (header === undefined) {
      hash.update(`${text}\n`)
      return yield* begin(text)
    }
    if (text.startsWith(`{"rows":`)) {
      footer = yield* parseFooter(text, `line ${number} is no last line`)
      return
    }
    hash.update(`${text}\n`)
    yield* take(header, text)
  })

  /** Every secret that came as it was kept can be read here. */
  const requireReadable = Effect.fnUntraced(function* (organizationId: OrganizationId) {
    const rows = yield* sql<{
      readonly id: string
      readonly key_id: string
      readonly nonce: Uint8Array
      readonly sealed: Uint8Array
    }>`SELECT id, key_id, nonce, sealed FROM castellan.secrets WHERE ${within(sql, organizationId)}`
    for (const { id, key_id, nonce, sealed } of rows) {
      yield* sealing
        .open({ organizationId, id: SecretId.make(id) }, { keyId: key_id, nonce, sealed })
        .pipe(
          Effect.catch((error) =>
            refuse(`${error.message}: give the server that key as a former one, or export without secrets`)
          )
        )
    }
  })

  /** Numbers of the deployment's that never come back do not come back after those of the file either. */
  const passVersions = Effect.fnUntraced(function* (organizationId: OrganizationId) {
    const [next] = yield* sql<{ readonly version: string }>`
      SELECT nextval('castellan.folder_policy_version')::text AS version`
    yield* sql`
      SELECT count(nextval('castellan.folder_policy_version'))
      FROM castellan.folder_policy_versions, generate_series(${next?.version ?? "1"}::bigint, version)
      WHERE ${within(sql, organizationId)}`
  })

  const takeAll = Effect.gen(function* () {
    yield* Stream.runForEach(lines, line)
    if (header === undefined) return yield* refuse("the file is empty")
    if (footer === undefined) return yield* refuse("the file is cut off: it has no last line")
    yield* flush(header.organization_id)
    if (footer.sha256 !== hash.digest("hex")) return yield* refuse("the file is not as it was written")
    const { rows } = footer
    const names = new Set([...Object.keys(rows), ...Object.keys(counts)])
    if ([...names].some((name) => rows[name] !== counts[name])) {
      return yield* refuse("the file has not the rows that its last line tells of")
    }
    yield* passVersions(header.organization_id)
    yield* requireReadable(header.organization_id)
    const imported: Imported = { organizationId: header.organization_id, rows: counts }
    return imported
  })
  return yield* sql.withTransaction(takeAll)
})
