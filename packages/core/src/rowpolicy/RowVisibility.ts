/**
 * Who is shown what queries answered once and was saved: chats, cells, assets, reports, sandcastles.
 *
 * What an end user's query answered went through the row policies with that end user's metadata. Whoever has other
 * metadata, or none, might see fewer rows: saved results are not filtered again, so they are hidden from them.
 *
 * Source: decisions.md §5 ("Row policies", last sentence).
 */
import type { Creator } from "../access/Access.ts"
import { sameClient } from "../access/ClientMetadata.ts"
import type { Principal } from "../access/Principal.ts"

/** Whether what somebody made may be shown to a reader, as far as the rows in it go. */
export const shownTo = (reader: Principal, creator: Creator | undefined): boolean =>
  creator?.clientMetadata === undefined ||
  Object.keys(creator.clientMetadata.attributes).length === 0 ||
  sameClient(creator.clientMetadata, reader.clientMetadata)
