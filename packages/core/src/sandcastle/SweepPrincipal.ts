/**
 * The background work of sandcastles as a principal.
 */
import { Credential, Principal } from "../access/Principal.ts"
import type { Sandcastle } from "./Sandcastle.ts"

/** Background work on a sandcastle: it acts as the maker of what it works on, and holds nothing. */
export const sweepPrincipal = (sandcastle: Pick<Sandcastle, "creator" | "organizationId">): Principal =>
  new Principal({
    organizationId: sandcastle.organizationId,
    memberId: sandcastle.creator.memberId,
    roles: [],
    restricted: true,
    credential: Credential.cases.System.make({ name: "sandcastle-sweep" })
  })
