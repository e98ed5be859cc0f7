/**
 * Who may read a report, beside the access of its playbook.
 *
 * Source: decisions.md §5 ("A saved chat, cell, asset or report shown to another reader never shows rows beyond that
 * reader's own policy: it is hidden from those with other client metadata").
 */
import type { ClientMetadata } from "../access/ClientMetadata.ts"
import { sameClient } from "../access/ClientMetadata.ts"
import { allow, type Decision, deny } from "../access/Decision.ts"
import type { Principal } from "../access/Principal.ts"

const speaksFor = (metadata: ClientMetadata | undefined): boolean =>
  metadata !== undefined && Object.keys(metadata.attributes).length > 0

/** Whether what was made for one end user, or for none, may be shown to another, or to none. */
export const sameReader = (madeFor: ClientMetadata | undefined, reader: ClientMetadata | undefined): boolean =>
  speaksFor(madeFor) || speaksFor(reader) ? sameClient(madeFor, reader) : true

/** Whether a principal may be shown what was made for an end user, or for none. */
export const shownTo = (
  principal: Principal,
  made: { readonly clientMetadata?: ClientMetadata; readonly object: string }
): Decision =>
  sameReader(made.clientMetadata, principal.clientMetadata)
    ? allow("access", `the ${made.object} was made for the same end user`)
    : deny("hidden", `${made.object} not found`)
