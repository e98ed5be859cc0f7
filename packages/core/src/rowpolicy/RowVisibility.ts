/**
 * Who is shown what queries answered once and was saved: chats, cells, assets, reports, sandcastles.
 *
 * What was answered went through the row policies with its maker's metadata, or as an exempt maker with none saw it.
 * Whoever has other metadata, be it none, or some where the maker had none, might see fewer rows. Saved results are not
 * filtered again, so they are hidden from them.
 *
 * Source: decisions.md §5 ("Row policies", last sentence).
 */
import type { Creator } from "../access/Access.ts"
import { type ClientMetadata, sameClient } from "../access/ClientMetadata.ts"
import type { Principal } from "../access/Principal.ts"

/** Metadata without a field say as little as none. */
const isForNobody = (client: ClientMetadata | undefined): boolean =>
  client === undefined || Object.keys(client.attributes).length === 0

/** Whether what somebody made may be shown to a reader, as far as the rows in it go. */
export const shownTo = (reader: Principal, creator: Creator | undefined): boolean =>
  (isForNobody(reader.clientMetadata) && isForNobody(creator?.clientMetadata)) ||
  sameClient(reader.clientMetadata, creator?.clientMetadata)
