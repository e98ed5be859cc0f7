/**
 * How git writes an object: its kind, the length of its body, and the body; the SHA-1 of all that is its id.
 *
 * Source: git's "Git Objects" (gitformat-loose); decisions.md §8 ("exported as a git repository").
 */
import { sha1 } from "@noble/hashes/legacy.js"
import { bytesToHex } from "@noble/hashes/utils.js"
import * as TextBytes from "./TextBytes.ts"

/** The kinds of objects that a library holds. */
export type GitObjectKind = "blob" | "tree" | "commit"

/** An object as git stores it, before it is compressed: what an export writes to `objects/ab/cdef…`. */
export interface GitObject {
  readonly kind: GitObjectKind
  /** Header and body. */
  readonly bytes: Uint8Array
}

const header = (kind: GitObjectKind, length: number): Uint8Array => TextBytes.encode(`${kind} ${length}\0`)

/** An object with its header. */
export const make = (kind: GitObjectKind, body: Uint8Array): GitObject => {
  const head = header(kind, body.length)
  const bytes = new Uint8Array(head.length + body.length)
  bytes.set(head)
  bytes.set(body, head.length)
  return { kind, bytes }
}

/** The id of an object with this body, as forty hexadecimal digits; the body is not copied. */
export const digest = (kind: GitObjectKind, body: Uint8Array): string =>
  bytesToHex(sha1.create().update(header(kind, body.length)).update(body).digest())
