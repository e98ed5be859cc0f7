/**
 * The organization that the rows of the policy of approvals are about: who is in it, and whose `docs` is.
 */
import type { Decision } from "@castellan/core/access/Decision"
import { change } from "@castellan/testing/policy/Change"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import { type PolicyWorld, type PolicyWorldOptions, policyWorld } from "@castellan/testing/policy/PolicyWorld"

const roles = { writers: [], finance: [] }

const members = {
  boss: ["admin"],
  ana: ["member", "writers"],
  bob: ["member"],
  cleo: ["member"],
  bot: { roles: ["member"], serviceAccountOf: ["ana"] },
  /** Minted by a key that ana's own service account minted. */
  botOfBot: { roles: ["member"], serviceAccountOf: ["bot"] },
  otherBot: { roles: ["member"], serviceAccountOf: ["boss"] },
  secondBot: { roles: ["member"], serviceAccountOf: ["ana"] }
}

/** Owners that are all of them but the administrator. */
export const everybody = { members: ["ana", "bob", "cleo", "bot", "botOfBot", "otherBot", "secondBot"] }

/** The organization with these policies. */
export const organization = (...policies: NonNullable<PolicyWorldOptions["policies"]>) =>
  policyWorld({ roles, members, policies })

/** `docs` is everybody's, and asks for this. */
export const docs = (options: Parameters<typeof folderPolicy>[1] = {}) =>
  folderPolicy("docs", { owners: everybody, ...options })

/** The paths of a change in `docs`. */
export const page = ["docs/page.md"]

/** A change of ana's that nobody has approved. */
export const byAna = change({ by: "ana", paths: page })

/** What a row asks. */
export type Question = (world: PolicyWorld) => Decision
