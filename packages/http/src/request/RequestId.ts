/**
 * The id of a request: every response carries it as `X-Request-Id`, and so does every line of the log that was
 * written for it.
 *
 * Source: decisions.md §1 ("Every response carries `X-Request-Id`").
 */
import * as SecureRandom from "effect/crypto/SecureRandom"

/** The header that carries it, in lower case. */
export const header = "x-request-id"

const acceptable = /^[\x21-\x7e]{1,128}$/

/** What the ids made here have in common, and no other process's have. */
let origin: string | undefined
let made = 0

/** A new id: unique, and no secret, so that one random draw serves all requests of the process. */
const next = (): string => {
  origin ??= SecureRandom.uuidV4Unsafe().replaceAll("-", "").slice(0, 16)
  made += 1
  return `${origin}-${made}`
}

/** The id that a client sent, when it is 1 to 128 visible ASCII characters; else a new one. */
export const of = (sent: string | ReadonlyArray<string> | undefined): string =>
  typeof sent === "string" && acceptable.test(sent) ? sent : next()
