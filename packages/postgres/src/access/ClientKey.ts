/**
 * The end user that something was made for, as a column has it: the same text for metadata that are the same, and short
 * however long they are, so that an index takes it.
 */
import * as ClientMetadata from "@castellan/core/access/ClientMetadata"
import { createHash } from "node:crypto"

/** What stands for no end user: `RowVisibility.shownTo` shows what was made for nobody to whoever speaks for nobody. */
export const nobody = ""

/** The key of an end user; that of nobody where the metadata say nothing of anybody. */
export const clientKey = (client: ClientMetadata.ClientMetadata | undefined): string =>
  client === undefined || ClientMetadata.isEmpty(client)
    ? nobody
    : createHash("sha256").update(ClientMetadata.canonicalText(client)).digest("hex")
