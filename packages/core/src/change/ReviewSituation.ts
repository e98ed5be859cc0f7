/**
 * Gathers what the rules about changes read: the folder policies and the members as they are now.
 */
import * as Effect from "effect/Effect"
import type { ApiKey } from "../apikey/ApiKey.ts"
import type { ApiKeyStore } from "../apikey/ApiKeyStore.ts"
import type { FolderPolicyStore } from "../folderpolicy/FolderPolicyStore.ts"
import * as PolicyTrees from "../folderpolicy/PolicyTrees.ts"
import * as Population from "../folderpolicy/Population.ts"
import type { Member, MemberId } from "../member/Member.ts"
import type { MemberStore } from "../member/MemberStore.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { Position } from "../page/Page.ts"
import type { RoleStore } from "../role/RoleStore.ts"
import type { Situation } from "./ApprovalPolicy.ts"

/** The stores that the rules' facts come from. */
export interface SituationStores {
  readonly policies: FolderPolicyStore["Service"]
  readonly members: MemberStore["Service"]
  readonly roles: RoleStore["Service"]
  readonly keys: ApiKeyStore["Service"]
}

/** Gathers facts from stores. */
export interface Situations {
  /** The policies of an organization, as they are now. */
  readonly tree: PolicyTrees.TreeOf
  readonly population: (organizationId: OrganizationId) => Effect.Effect<Population.Population>
  readonly situation: (organizationId: OrganizationId) => Effect.Effect<Situation>
}

/** How many keys are asked for at a time. */
const pageSize = 200

/** Facts from these stores. */
export const make = (stores: SituationStores): Situations => {
  const tree = PolicyTrees.make(stores.policies)

  /** Who minted keys of service accounts: also keys that are revoked, for what was approved by them still counts. */
  const mintersOf = Effect.fnUntraced(function* (organizationId: OrganizationId, members: ReadonlyArray<Member>) {
    const minters = new Map<MemberId, Set<MemberId>>()
    const owners = members.filter((member) => member.isServiceAccount).map(({ id }) => id)
    if (owners.length === 0) return minters
    const note = (key: ApiKey): void => {
      if (key.mintedBy === undefined) return
      const known = minters.get(key.owner)
      if (known === undefined) minters.set(key.owner, new Set([key.mintedBy.memberId]))
      else known.add(key.mintedBy.memberId)
    }
    let after: Position | undefined
    do {
      const page = yield* stores.keys.list(organizationId, {
        owners,
        includeRevoked: true,
        limit: pageSize,
        ...(after === undefined ? {} : { after })
      })
      page.items.forEach(note)
      after = page.next
    } while (after !== undefined)
    return minters
  })

  const population = Effect.fnUntraced(function* (organizationId: OrganizationId) {
    const members = yield* stores.members.list(organizationId)
    const roles = yield* stores.roles.list(organizationId)
    return Population.make(members, roles, yield* mintersOf(organizationId, members))
  })

  return {
    tree,
    population,
    situation: (organizationId) =>
      Effect.gen(function* () {
        return { tree: yield* tree(organizationId), population: yield* population(organizationId) }
      })
  }
}
