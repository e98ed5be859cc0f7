/**
 * Gathers what the rules about changes read: the folder policies and the members as they are now.
 */
import * as Effect from "effect/Effect"
import type { ApiKeyStore } from "../apikey/ApiKeyStore.ts"
import type { FolderPolicyStore } from "../folderpolicy/FolderPolicyStore.ts"
import * as PolicyTrees from "../folderpolicy/PolicyTrees.ts"
import * as Population from "../folderpolicy/Population.ts"
import type { Member } from "../member/Member.ts"
import type { MemberStore } from "../member/MemberStore.ts"
import type { OrganizationId } from "../organization/Organization.ts"
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

const nobody: Population.Minters = new Map()

/** Facts from these stores. */
export const make = (stores: SituationStores): Situations => {
  const tree = PolicyTrees.make(stores.policies)

  /** Who minted keys of service accounts: also keys that are revoked, for what was approved by them still counts. */
  const mintersOf = (organizationId: OrganizationId, members: ReadonlyArray<Member>) => {
    const owners = members.filter((member) => member.isServiceAccount).map(({ id }) => id)
    return owners.length === 0 ? Effect.succeed(nobody) : stores.keys.minters(organizationId, owners)
  }

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
