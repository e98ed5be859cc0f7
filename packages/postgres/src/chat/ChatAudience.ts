/**
 * Who may list a chat, as data that a database finds chats by. Chats that the same people may list have the same
 * audience: all that are shared with everybody, all that one member made and shared with nobody. A reader belongs to a
 * few audiences, and its list is the chats of these. Together, the two functions decide what `ChatPolicy.listed`
 * decides; a property test holds them to the same answer.
 */
import type { Access } from "@castellan/core/access/Access"
import type { Principal } from "@castellan/core/access/Principal"
import * as DateTime from "effect/DateTime"
import { createHash } from "node:crypto"
import { clientKey, nobody } from "../access/ClientKey.ts"

/** Somebody who belongs to an audience, until a moment in milliseconds since 1970. */
export interface AudienceReader {
  readonly reader: string
  readonly endsAt: number
}

/** Who may list a chat. */
export interface ChatAudience {
  /** The same for the same readers. */
  readonly id: string
  /** The end user for whom a reader has to speak. */
  readonly client: string
  readonly readers: ReadonlyArray<AudienceReader>
}

/** Whoever asks. */
const everybody = "everybody"

const readersOf = (access: Access): ReadonlyArray<AudienceReader> => {
  if (access.isPublic) return [{ reader: everybody, endsAt: Infinity }]
  const readers = new Map<string, number>()
  const { creator } = access
  if (creator !== undefined) readers.set(`maker:${creator.memberId}`, Infinity)
  if (creator?.apiKeyId !== undefined) readers.set(`key:${creator.apiKeyId}`, Infinity)
  for (const { expiresAt, grantee } of access.grants) {
    const reader = `${grantee._tag}:${grantee.id}`
    const endsAt = expiresAt === undefined ? Infinity : DateTime.toEpochMillis(expiresAt)
    readers.set(reader, Math.max(endsAt, readers.get(reader) ?? -Infinity))
  }
  return Array.from(readers, ([reader, endsAt]) => ({ reader, endsAt })).toSorted((a, b) =>
    a.reader < b.reader ? -1 : 1
  )
}

/** An id of what is said, the same for the same. */
const idOf = (text: string): string =>
  createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, 32)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")

/** The audience of a chat with an access. */
export const audienceOf = (access: Access): ChatAudience => {
  const client = clientKey(access.creator?.clientMetadata)
  const readers = readersOf(access)
  const id = idOf(
    JSON.stringify([client, readers.map(({ endsAt, reader }) => [reader, endsAt === Infinity ? "" : endsAt])])
  )
  return { id, client, readers }
}

/** As whom a principal belongs to audiences, and for which end user it speaks. */
export const readerOf = (
  principal: Principal
): { readonly client: string; readonly readers: ReadonlyArray<string> } => {
  const client = clientKey(principal.clientMetadata)
  const { key, memberId, restricted } = principal
  const readers = [everybody, ...principal.roles.map(({ id }) => `Role:${id}`)]
  if (!restricted) readers.push(`maker:${memberId}`, `Member:${memberId}`)
  else {
    if (key !== undefined) readers.push(...[key.id, ...key.rotatedFrom].map((id) => `key:${id}`))
    // Its owner's own chats, where they were made for the very end user that it speaks for.
    if (client !== nobody) readers.push(`maker:${memberId}`)
  }
  return { client, readers }
}
