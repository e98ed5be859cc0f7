/**
 * Secrets in PostgreSQL, encrypted: whoever reads the tables reads none of them.
 */
import { OrganizationId } from "@castellan/core/organization/Organization"
import * as SealedSecret from "@castellan/core/secret/SealedSecret"
import { SecretKeys } from "@castellan/core/secret/SecretKeys"
import { SecretId, Secrets } from "@castellan/core/secret/Secrets"
import { count } from "@castellan/core/text/Count"
import { Transaction } from "@castellan/core/transaction/Transaction"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { SqlClient } from "effect/sql/SqlClient"
import * as PostgresTransaction from "../database/PostgresTransaction.ts"
import * as Query from "../database/Query.ts"
import { acrossOrganizations, entering, within } from "../database/Tenancy.ts"

interface SecretRow {
  readonly organization_id: string
  readonly id: string
  readonly key_id: string
  readonly nonce: Uint8Array
  readonly sealed: Uint8Array
}

const sealedOf = (row: Pick<SecretRow, "key_id" | "nonce" | "sealed">): SealedSecret.SealedSecret => ({
  keyId: row.key_id,
  nonce: row.nonce,
  sealed: row.sealed
})

/** Keeps secrets in PostgreSQL, encrypted with the keys of the deployment. */
export const layer: Layer.Layer<Secrets, never, SecretKeys | SqlClient> = Layer.effect(
  Secrets,
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const sealing = yield* SealedSecret.make(yield* SecretKeys)
    return Secrets.of({
      store: Effect.fnUntraced(function* (organizationId, id, value) {
        const { keyId, nonce, sealed } = yield* sealing.seal({ organizationId, id }, value)
        // Where another organization has the id, its row is not to be seen, and the statement fails.
        yield* Query.run(sql`
          INSERT INTO castellan.secrets (organization_id, id, key_id, nonce, sealed)
          SELECT ${organizationId}, ${id}, ${keyId}, ${nonce}, ${sealed} WHERE ${entering(sql, organizationId)}
          ON CONFLICT (id) DO UPDATE SET key_id = excluded.key_id, nonce = excluded.nonce, sealed = excluded.sealed`)
      }),
      reveal: Effect.fnUntraced(function* (organizationId, id) {
        const row = yield* Query.row(sql<SecretRow>`
          SELECT key_id, nonce, sealed FROM castellan.secrets WHERE ${within(sql, organizationId)} AND id = ${id}`)
        if (Option.isNone(row)) return Option.none()
        return Option.some(yield* Effect.orDie(sealing.open({ organizationId, id }, sealedOf(row.value))))
      }),
      remove: (organizationId, id) =>
        Query.run(sql`DELETE FROM castellan.secrets WHERE ${within(sql, organizationId)} AND id = ${id}`)
    })
  })
)

/** What re-encryption did. */
export interface Reencryption {
  /** How many secrets are encrypted with the current key now, and were not before. */
  readonly reencrypted: number
  /** How many could not be read, and are as they were: each is named by a warning. */
  readonly unreadable: number
}

/** How many secrets a statement reads and writes. */
const batchRows = 100

const firstId = "00000000-0000-0000-0000-000000000000"

/**
 * Encrypts every secret of the deployment with the current key that is encrypted with another one, some at a time,
 * while servers read and write them: a secret that is replaced meanwhile stays as it was replaced. What was done stays
 * done when it ends in the middle, and the next one goes on from there.
 */
export const reencrypt: Effect.Effect<Reencryption, never, SecretKeys | SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient
  const transaction = yield* Transaction
  const keys = yield* SecretKeys
  const sealing = yield* SealedSecret.make(keys)

  const next = (after: string) =>
    Query.rows(sql<SecretRow>`
      SELECT organization_id, id, key_id, nonce, sealed FROM castellan.secrets
      WHERE ${acrossOrganizations(sql)} AND id > ${after} AND key_id <> ${keys.current.id}
      ORDER BY id LIMIT ${batchRows}`)

  /** A secret with the current key; nothing where it cannot be read. */
  const renewed = Effect.fnUntraced(function* (row: SecretRow) {
    const place = { organizationId: OrganizationId.make(row.organization_id), id: SecretId.make(row.id) }
    const value = yield* Effect.result(sealing.open(place, sealedOf(row)))
    if (Result.isSuccess(value)) return [{ row, secret: yield* sealing.seal(place, value.success) }]
    yield* Effect.logWarning(value.failure.message)
    return []
  })

  /** Replaces secrets that still are what was read: by their nonces, each of which was there once. */
  const replace = (all: ReadonlyArray<{ readonly row: SecretRow; readonly secret: SealedSecret.SealedSecret }>) =>
    Effect.map(
      transaction.run(
        Query.rows(sql`
          UPDATE castellan.secrets AS kept
          SET key_id = ${keys.current.id}, nonce = renewed.nonce, sealed = renewed.sealed
          FROM unnest(
            ${all.map(({ row }) => row.id)}::uuid[],
            ${all.map(({ row }) => row.nonce)}::bytea[],
            ${all.map(({ secret }) => secret.nonce)}::bytea[],
            ${all.map(({ secret }) => secret.sealed)}::bytea[]
          ) AS renewed (id, was, nonce, sealed)
          WHERE ${acrossOrganizations(sql)} AND kept.id = renewed.id AND kept.nonce = renewed.was
          RETURNING kept.id`)
      ),
      (rows) => rows.length
    )

  let done: Reencryption = { reencrypted: 0, unreadable: 0 }
  let rows = yield* next(firstId)
  for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
    const all = (yield* Effect.forEach(rows, renewed)).flat()
    const replaced = all.length === 0 ? 0 : yield* replace(all)
    done = {
      reencrypted: done.reencrypted + replaced,
      unreadable: done.unreadable + rows.length - all.length
    }
    yield* Effect.logInfo(`re-encrypted ${count(done.reencrypted, "secret")}`)
    rows = yield* next(last.id)
  }
  return done
}).pipe(Effect.provide(PostgresTransaction.layer), Effect.withSpan("PostgresSecrets.reencrypt"))
