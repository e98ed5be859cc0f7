/** Keys: who mints, sees, revokes and rotates them. */
import { ApiKey, ApiKeyHash } from "@castellan/core/apikey/ApiKey"
import { isHiddenOwner, list, revoke, rotate } from "@castellan/core/apikey/ApiKeyPolicy"
import type { KeyTerms } from "@castellan/core/apikey/KeyRequest"
import { decide as decideMint } from "@castellan/core/apikey/MintPolicy"
import { Member } from "@castellan/core/member/Member"
import * as Result from "effect/Result"
import { allows, entity, type EntityJson, name, reference, references } from "./Cedar.ts"
import type { Draw } from "./Draw.ts"
import { type Question, verdict, yes } from "./Question.ts"
import * as World from "./World.ts"

const memberOf = (of: {
  readonly member: World.MemberName
  readonly roles?: ReadonlyArray<World.RoleName>
  readonly staff?: boolean
  readonly serviceAccount?: boolean
  readonly active?: boolean
}): Member =>
  new Member(
    {
      id: World.memberId(of.member),
      organizationId: World.organizationId("here"),
      email: `${of.member}@example.com`,
      roles: (of.roles ?? []).map(World.roleId),
      isServiceAccount: of.serviceAccount ?? false,
      isScimManaged: false,
      standing: of.staff === true ? "staff" : "ordinary",
      status: of.active === false ? { _tag: "Deactivated", at: World.moment(World.now) } : { _tag: "Active" },
      createdAt: World.moment(0)
    },
    { disableChecks: true }
  )

const hash = ApiKeyHash.make("0".repeat(64))

interface KeyFacts {
  readonly key: string
  readonly owner: World.MemberName
  readonly client: World.ClientName
  readonly legacy: boolean
  readonly roles: ReadonlyArray<World.RoleName>
  readonly fullMemberAccess: boolean
  readonly ancestors: ReadonlyArray<string>
  readonly expires: number | undefined
}

const apiKeyOf = (facts: KeyFacts): ApiKey =>
  new ApiKey(
    {
      id: World.keyId(facts.key),
      organizationId: World.organizationId("here"),
      owner: World.memberId(facts.owner),
      ...World.clientField(facts.client),
      assumedRoles: facts.legacy ? { _tag: "Live" } : { _tag: "Snapshot", roles: facts.roles.map(World.roleId) },
      fullMemberAccess: facts.fullMemberAccess,
      hash,
      status: { _tag: "Active" },
      rotatedFrom: [],
      ancestors: facts.ancestors.map(World.keyId),
      createdAt: World.moment(0),
      ...(facts.expires === undefined ? {} : { expiresAt: World.moment(facts.expires) })
    },
    { disableChecks: true }
  )

const drawExpiry = (draw: Draw): number | undefined => (draw.chance(40) ? undefined : draw.pick(World.moments))

const drawKey = (draw: Draw, owner: World.MemberName, key: string, ancestors: ReadonlyArray<string>): KeyFacts => ({
  key,
  owner,
  client: World.drawClient(draw),
  legacy: draw.chance(20),
  roles: World.drawRoles(draw, 25),
  fullMemberAccess: draw.chance(30),
  ancestors,
  expires: drawExpiry(draw)
})

/** A key as a thing to administer; the roles of a legacy one are what its owner holds. */
const keyEntity = (
  facts: KeyFacts,
  owner: { readonly staff: boolean; readonly live: ReadonlyArray<string> }
): EntityJson =>
  entity(name("KeyRecord", facts.key), {
    key: reference("Key", facts.key),
    owner: reference("Member", facts.owner),
    staff: owner.staff,
    client: World.canonical(facts.client),
    roles: references("Role", facts.legacy ? owner.live : facts.roles),
    legacy: facts.legacy,
    fullMemberAccess: facts.fullMemberAccess,
    ancestors: references("Key", facts.ancestors),
    ...(facts.expires === undefined ? {} : { expires: facts.expires })
  })

const listKeys: Question = {
  action: "list keys",
  ask: (draw) => {
    const grants = World.drawGrants(draw, ["organization:read"])
    const caller = World.drawCaller(draw)
    const scope = draw.pick(["personal", "all", "service_accounts"] as const)
    return {
      ours: verdict(list(World.principalOf(caller, grants), scope)),
      cedars: yes(
        allows({
          principal: World.callerEntity(caller),
          action: "listKeys",
          resource: World.here,
          context: { scope, granting: World.granting(grants, "organization:read") }
        })
      ),
      facts: { caller, grants, scope }
    }
  }
}

/** A key and its owner, the caller's own now and then, or below the caller's. */
const drawTarget = (draw: Draw, caller: World.Caller, ownShare = 50) => {
  const owner = draw.chance(ownShare) ? caller.member : draw.pick(World.members)
  const own = caller.keys[0]
  const ancestors = own !== undefined && draw.chance(25) ? [own, "another key"] : draw.chance(50) ? ["another key"] : []
  const key = own !== undefined && owner === caller.member && draw.chance(20) ? own : `key of ${owner}`
  return {
    facts: drawKey(draw, owner, key, ancestors),
    owner: { staff: draw.chance(45), live: World.drawRoles(draw) }
  }
}

const seeKey: Question = {
  action: "see a key in a list",
  ask: (draw) => {
    const caller = World.drawCaller(draw)
    const target = drawTarget(draw, caller, 10)
    const owner = memberOf({ member: target.facts.owner, staff: target.owner.staff })
    return {
      ours: yes(!isHiddenOwner(World.principalOf(caller, {}), owner)),
      cedars: yes(
        allows({
          principal: World.callerEntity(caller),
          action: "seeKey",
          resource: keyEntity(target.facts, target.owner)
        })
      ),
      facts: { caller, target }
    }
  }
}

const endKey = (action: "revokeKey" | "rotateKey"): Question => ({
  action: action === "revokeKey" ? "revoke a key" : "rotate a key",
  ask: (draw) => {
    const grants = World.drawGrants(draw, ["organization:write"])
    const caller = World.drawCaller(draw)
    const target = drawTarget(draw, caller)
    const [own] = caller.keys
    const callerKey = own === undefined ? undefined : drawKey(draw, caller.member, own, [])
    const principal = World.principalOf(caller, grants)
    const key = apiKeyOf(target.facts)
    const owner = memberOf({
      member: target.facts.owner,
      staff: target.owner.staff,
      roles: target.owner.live
    })
    const facts = { owner, callerKey: callerKey === undefined ? undefined : apiKeyOf(callerKey) }
    return {
      ours: verdict(action === "revokeKey" ? revoke(principal, key, owner) : rotate(principal, key, facts)),
      cedars: yes(
        allows({
          principal: World.callerEntity(caller),
          action,
          resource: keyEntity(target.facts, target.owner),
          context: {
            granting: World.granting(grants, "organization:write"),
            inFull: own === undefined && !caller.ceiling,
            legacy: callerKey?.legacy ?? false,
            ...(callerKey === undefined ? {} : { key: reference("Key", callerKey.key) }),
            ...(callerKey?.expires === undefined ? {} : { expires: callerKey.expires })
          }
        })
      ),
      facts: { caller, grants, target, callerKey }
    }
  }
})

const drawMint = (draw: Draw) => {
  const caller = World.drawCaller(draw)
  const target = draw.chance(50) ? caller.member : draw.pick(World.members)
  const inherit = draw.chance(40)
  return {
    caller,
    grants: World.drawGrants(draw, ["organization:write"]),
    /** The member that is named, or the caller unsaid. */
    target,
    said: target !== caller.member || draw.chance(30),
    live: draw.some(World.roles, 75),
    serviceAccount: draw.chance(70),
    active: draw.chance(90),
    inherit,
    // Mostly roles that the caller has: else nothing would be minted.
    roles: draw.some(draw.chance(75) ? caller.roles : World.roles, 60),
    fullMemberAccess: draw.chance(25),
    client: World.drawClient(draw),
    generations: draw.pick([0, 0, 1, 7, 8])
  }
}

const mintKey: Question = {
  action: "mint a key",
  ask: (draw) => {
    const facts = drawMint(draw)
    const { caller, grants } = facts
    const [own] = caller.keys
    const ancestors = Array.from({ length: facts.generations }, (_, index) => `ancestor ${index}`)
    const parent =
      own === undefined
        ? undefined
        : apiKeyOf({
            key: own,
            owner: caller.member,
            client: caller.client,
            legacy: false,
            roles: caller.roles,
            fullMemberAccess: !caller.restricted,
            ancestors,
            expires: undefined
          })
    const terms: KeyTerms = {
      roles: facts.inherit ? { _tag: "Inherited" } : { _tag: "Chosen", roles: facts.roles.map(World.roleId) },
      ...(facts.said ? { target: World.memberId(facts.target) } : {}),
      // A request without a field of metadata is read as one without metadata.
      ...(World.canonical(facts.client) === "" ? {} : World.clientField(facts.client)),
      fullMemberAccess: facts.fullMemberAccess
    }
    const minted = decideMint(terms, {
      principal: World.principalOf(caller, grants),
      owner: memberOf({
        member: facts.target,
        roles: facts.live,
        serviceAccount: facts.serviceAccount,
        active: facts.active
      }),
      parent,
      now: World.moment(World.now),
      defaultLifetime: undefined
    })
    const asker = World.callerEntity(caller)
    const conferrable = World.roles.filter((role) =>
      allows({
        principal: asker,
        action: "conferRole",
        resource: entity(name("Role", role), {}),
        context: { ownerRoles: references("Role", facts.live) }
      })
    )
    const allowed = allows({
      principal: asker,
      action: "mintKey",
      resource: entity(name("Member", facts.target), {}),
      context: {
        granting: World.granting(grants, "organization:write"),
        isServiceAccount: facts.serviceAccount,
        isActive: facts.active,
        roles: references("Role", facts.roles),
        conferrable: references("Role", conferrable),
        inheritAllRoles: facts.inherit,
        fullMemberAccess: facts.fullMemberAccess,
        client: World.canonical(facts.client),
        generation: own === undefined ? 0 : facts.generations + 1
      }
    })
    // An allowed key has the roles that were asked for, or all that can be conferred; and no other.
    const named = (roles: ReadonlyArray<string>) => (roles.length > 0 ? "allow" : "allow, but no role")
    const kept = (facts.inherit ? conferrable : facts.roles).map((role) => String(World.roleId(role))).toSorted()
    return {
      ours: Result.match(minted, {
        onFailure: () => "deny",
        onSuccess: ({ roles }) => (roles.map(String).toSorted().join() === kept.join() ? named(roles) : "other roles")
      }),
      cedars: allowed ? named(kept) : "deny",
      facts
    }
  }
}

/** The questions of this file. */
export const questions: ReadonlyArray<Question> = [listKeys, seeKey, endKey("revokeKey"), endKey("rotateKey"), mintKey]
