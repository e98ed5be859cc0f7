/**
 * What makes two requests the same: the name that they are remembered by, and the fingerprint of what they ask.
 *
 * Source: decisions.md §1 (`Idempotency-Key`: "per owner and route: same key and body").
 */
import { createHash, createHmac, type Hash, type Hmac } from "node:crypto"
import { type IdempotencyKey, sharedBy } from "@castellan/core/idempotency/IdempotencyKey"
import { IdempotentRequestId, RequestFingerprint } from "@castellan/core/idempotency/IdempotentRequest"
import type { Principal } from "@castellan/core/access/Principal"

/** The name of a request: whose it is, its route, and the key that it came with. */
export const idOf = (principal: Principal, route: string, key: IdempotencyKey): IdempotentRequestId =>
  IdempotentRequestId.make(
    createHash("sha256")
      .update(JSON.stringify([sharedBy(principal), route, key]))
      .digest("hex")
  )

/** A request as it was sent. */
export interface SentRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly contentType: string | undefined
  readonly body: Uint8Array
}

const boundaryParameter = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/iu

/** Adds a piece, so that no two sequences of pieces run together to the same bytes. */
const add = (hash: Hash | Hmac, piece: string | Uint8Array): void => {
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(typeof piece === "string" ? Buffer.byteLength(piece) : piece.length))
  hash.update(length).update(piece)
}

/** The pieces of a form between its boundaries, which a client draws anew each time that it sends the same form. */
const piecesOf = function* (body: Buffer, boundary: string): Generator<Buffer> {
  const delimiter = Buffer.from(`--${boundary}`, "latin1")
  let from = 0
  for (let at = body.indexOf(delimiter); at !== -1; at = body.indexOf(delimiter, from)) {
    yield body.subarray(from, at)
    from = at + delimiter.length
  }
  yield body.subarray(from)
}

/**
 * The fingerprint of what a request asks: HMAC-SHA-256 over its method, path, query, media type and bytes. The secret
 * keeps who has read the database from trying out what a body with a password may have been.
 */
export const fingerprintOf = (
  secret: string,
  { body, contentType = "", method, url }: SentRequest
): RequestFingerprint => {
  const hash = createHmac("sha256", secret).update("castellan/idempotency/request/1\n")
  const parameter = boundaryParameter.exec(contentType)
  const boundary = parameter?.[1] ?? parameter?.[2]
  add(hash, method)
  add(hash, url)
  add(hash, contentType.replace(boundaryParameter, ""))
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  for (const piece of boundary === undefined ? [bytes] : piecesOf(bytes, boundary)) add(hash, piece)
  return RequestFingerprint.make(hash.digest("hex"))
}
