/**
 * The key by which a client says that a request is the same as one that it sent before, and what it is the same within.
 *
 * Source: decisions.md §1 ("`Idempotency-Key` … per owner and route").
 */
import * as Schema from "effect/Schema"
import { isEmpty } from "../access/ClientMetadata.ts"
import type { Principal } from "../access/Principal.ts"

/** A key, as a client sends it: 1 to 255 visible ASCII characters. */
export const IdempotencyKey = Schema.String.check(
  Schema.isPattern(/^[\x21-\x7e]{1,255}$/, {
    title: "an idempotency key",
    description: "1 to 255 visible ASCII characters"
  })
).pipe(Schema.brand("IdempotencyKey"))
export type IdempotencyKey = typeof IdempotencyKey.Type

/**
 * Whom a principal's keys are shared with: what it says is the same for all that may be given each other's answers.
 *
 * That is the owner. But an owner may have keys that do not see what the owner's other keys made: a restricted one is
 * alone with those that it was rotated from, or with those of the same end user, where it speaks for one. Two end users
 * of one owner never share anything: an answer holds the rows of the one that asked.
 */
export const sharedBy = (principal: Principal): string => {
  const { clientMetadata, key, memberId, restricted } = principal
  const client =
    clientMetadata === undefined || isEmpty(clientMetadata)
      ? null
      : Object.entries(clientMetadata.attributes).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const alone = restricted && client === null && key !== undefined ? (key.rotatedFrom.at(-1) ?? key.id) : null
  return JSON.stringify([memberId, client, alone])
}
