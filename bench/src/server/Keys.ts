/**
 * The credentials of the peers: 10,001 keys, known by the SHA-256 of their value, as ours are. A peer does the least
 * that a server can do with a key: hash what was sent and look it up.
 */
import { hash, randomBytes } from "node:crypto"

/** How many keys every server knows. */
export const keyCount = 10_001

/** The keys that a server knows. */
export interface Keys {
  /** One of them. */
  readonly bearer: string
  /** The holder of the key in an `Authorization` header; nothing when there is none. */
  readonly holderOf: (authorization: string | undefined) => string | undefined
}

/** New keys. */
export const makeKeys = (): Keys => {
  const holders = new Map<string, string>()
  let bearer = ""
  for (let index = 0; index < keyCount; index++) {
    bearer = randomBytes(36).toString("base64")
    holders.set(hash("sha256", bearer), `holder ${index}`)
  }
  return {
    bearer,
    holderOf: (authorization) =>
      authorization?.startsWith("Bearer ") === true
        ? holders.get(hash("sha256", authorization.slice("Bearer ".length)))
        : undefined
  }
}
