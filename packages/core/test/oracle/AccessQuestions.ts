/** Roles, permissions, and objects that carry access. */
import type { Access, AccessType } from "@castellan/core/access/Access"
import { decide, readable } from "@castellan/core/access/AccessPolicy"
import type { Decision } from "@castellan/core/access/Decision"
import { type Holding, ofLine } from "@castellan/core/access/EffectiveRoles"
import { requires, requiresAdmin } from "@castellan/core/access/PermissionPolicy"
import { may } from "@castellan/core/agent/AgentPolicy"
import { actorOf, AuditEvent, AuditEventId, AuditOutcome } from "@castellan/core/audit/AuditEvent"
import * as AuditPolicy from "@castellan/core/audit/AuditPolicy"
import * as ChatPolicy from "@castellan/core/chat/ChatPolicy"
import { ConnectorId } from "@castellan/core/connector/Connector"
import type { Permission } from "@castellan/core/role/Permission"
import { allows, entity, type EntityJson, name, reference, references } from "./Cedar.ts"
import type { Draw } from "./Draw.ts"
import { type Question, verdict, yes } from "./Question.ts"
import * as World from "./World.ts"

/** What a key snapshot, and what its owner holds now. */
interface KeyFacts {
  readonly legacy: boolean
  readonly snapshot: ReadonlyArray<World.RoleName>
  readonly live: ReadonlyArray<World.RoleName>
}

const drawKey = (draw: Draw): KeyFacts => ({
  legacy: draw.chance(15),
  snapshot: draw.some([...World.roles, "gone"] as const, 65),
  live: draw.some([...World.roles, "gone"] as const, 65)
})

const holdingOf = ({ legacy, live, snapshot }: KeyFacts): Holding => ({
  assumed: legacy ? { _tag: "Live" } : { _tag: "Snapshot", roles: snapshot.map(World.roleId) },
  liveRoles: live.map(World.roleId)
})

const assumeRole: Question = {
  action: "assume a role",
  ask: (draw) => {
    const key = drawKey(draw)
    const ancestors = Array.from({ length: draw.pick([0, 0, 0, 1, 2]) }, () => drawKey(draw))
    const existing = draw.some(World.roles, 90)
    const asked = draw.pick([...World.roles, "gone"] as const)
    const ours = ofLine(
      holdingOf(key),
      ancestors.map(holdingOf),
      existing.map((role) => World.roleOf(role, {}))
    )
    const cedars = [key, ...ancestors].every((one) =>
      allows({
        principal: entity(name("Credential", "key"), {
          legacy: one.legacy,
          snapshot: references("Role", one.snapshot),
          live: references("Role", one.live)
        }),
        action: "assumeRole",
        resource: entity(name("Role", asked), {}),
        context: { existing: references("Role", existing) }
      })
    )
    return {
      ours: yes(ours.some((role) => role.id === World.roleId(asked))),
      cedars: yes(cedars),
      facts: { key, ancestors, existing, asked }
    }
  }
}

const holds = (caller: EntityJson, grants: World.Grants, permission: Permission): boolean =>
  allows({
    principal: caller,
    action: "usePermission",
    resource: World.here,
    context: { granting: World.granting(grants, permission) }
  })

const usePermission: Question = {
  action: "use a permission",
  ask: (draw) => {
    const permission = draw.pick(["chat:write", "library:approve", "organization:write"] as const)
    const grants = World.drawGrants(draw, [permission])
    const caller = World.drawCaller(draw)
    return {
      ours: verdict(requires(World.principalOf(caller, grants), permission)),
      cedars: yes(holds(World.callerEntity(caller), grants, permission)),
      facts: { caller, grants, permission }
    }
  }
}

const administer: Question = {
  action: "administer",
  ask: (draw) => {
    const caller = World.drawCaller(draw)
    return {
      ours: verdict(requiresAdmin(World.principalOf(caller, {}))),
      cedars: yes(allows({ principal: World.callerEntity(caller), action: "administer", resource: World.here })),
      facts: { caller }
    }
  }
}

const levels = ["viewer", "editor", "owner"] as const

interface GrantFacts {
  readonly to: { readonly member: World.MemberName } | { readonly role: World.RoleName }
  readonly level: AccessType
  readonly expires: number | undefined
}

interface ObjectFacts {
  readonly isPublic: boolean
  readonly grants: ReadonlyArray<GrantFacts>
  readonly maker: { readonly member: World.MemberName; readonly key?: string } | undefined
  readonly client: World.ClientName
}

const drawGrant = (draw: Draw): GrantFacts => ({
  to: draw.chance(50) ? { member: draw.pick(World.members) } : { role: draw.pick(World.roles) },
  level: draw.pick(levels),
  expires: draw.chance(50) ? undefined : draw.pick(World.moments)
})

/** An object; its maker is often the caller, and for the same end user, or hardly anything would be allowed. */
const drawObject = (draw: Draw, caller: World.Caller): ObjectFacts => {
  const member = draw.chance(35) ? caller.member : draw.pick(World.members)
  const maker = draw.chance(60)
    ? { member, key: draw.pick(World.keyNames(member)) }
    : draw.chance(75)
      ? { member }
      : undefined
  return {
    isPublic: draw.chance(20),
    grants: Array.from({ length: draw.below(4) }, () => drawGrant(draw)),
    maker,
    client: maker === undefined ? "" : draw.chance(50) ? caller.client : World.drawClient(draw)
  }
}

const accessOf = ({ client, grants, isPublic, maker }: ObjectFacts): Access => ({
  isPublic,
  grants: grants.map(({ expires, level, to }) => ({
    grantee:
      "member" in to ? { _tag: "Member", id: World.memberId(to.member) } : { _tag: "Role", id: World.roleId(to.role) },
    accessType: level,
    ...(expires === undefined ? {} : { expiresAt: World.moment(expires) })
  })),
  ...(maker === undefined
    ? {}
    : {
        creator: {
          memberId: World.memberId(maker.member),
          ...(maker.key === undefined ? {} : { apiKeyId: World.keyId(maker.key) }),
          ...World.clientField(client)
        }
      })
})

const grantEntity = ({ expires, level, to }: GrantFacts): EntityJson =>
  entity(name("Grant", "grant"), {
    level,
    ...("member" in to ? { member: reference("Member", to.member) } : { role: reference("Role", to.role) }),
    ...(expires === undefined ? {} : { expires })
  })

interface Kept {
  readonly keepsAnswers: boolean
  readonly connectors: ReadonlyArray<string>
}

const objectEntity = ({ client, isPublic, maker }: ObjectFacts, kept: Kept): EntityJson =>
  entity(name("Object", "object"), {
    public: isPublic,
    makerClient: World.canonical(client),
    keepsAnswers: kept.keepsAnswers,
    connectors: references("Connector", kept.connectors),
    ...(maker === undefined ? {} : { maker: reference("Member", maker.member) }),
    ...(maker?.key === undefined ? {} : { makerKey: reference("Key", maker.key) })
  })

type ObjectAction = "see" | "view" | "edit" | "own"

/** Asks Cedar of an object: first which of its grants are the caller's, then with their levels. */
const objectOracle = (caller: EntityJson, object: ObjectFacts, kept: Kept, usable: ReadonlyArray<string>) => {
  const granted = object.grants
    .filter((grant) =>
      allows({
        principal: caller,
        action: "useGrant",
        resource: grantEntity(grant),
        context: { now: World.now }
      })
    )
    .map((grant) => grant.level)
  const context = { granted: [...new Set(granted)], usableConnectors: references("Connector", usable) }
  return (action: ObjectAction): boolean =>
    allows({ principal: caller, action, resource: objectEntity(object, kept), context })
}

const actions = { viewer: "view", editor: "edit", owner: "own" } as const

/** How a decision denies, as far as the caller is told: not there, no permission, or not far enough. */
const shade = (decision: Decision): string => (decision._tag === "Allow" ? "allow" : decision.reason)

const plain: Kept = { keepsAnswers: false, connectors: [] }
const here = World.moment(World.now)

const objectQuestion = (level: AccessType): Question => ({
  action: `reach an object as ${level}`,
  ask: (draw) => {
    const grants = World.drawGrants(draw, ["app:write"])
    const caller = World.drawCaller(draw)
    const object = drawObject(draw, caller)
    const asker = World.callerEntity(caller)
    const reaches = objectOracle(asker, object, plain, [])
    const need = { permission: "app:write", access: level, object: "app" } as const
    return {
      ours: shade(decide(World.principalOf(caller, grants), accessOf(object), need, here)),
      cedars: !reaches("see")
        ? "hidden"
        : !holds(asker, grants, "app:write")
          ? "permission"
          : reaches(actions[level])
            ? "allow"
            : "access",
      facts: { caller, object, grants }
    }
  }
})

const list: Question = {
  action: "list an object",
  ask: (draw) => {
    const caller = World.drawCaller(draw)
    const object = drawObject(draw, caller)
    return {
      ours: yes(readable(World.principalOf(caller, {}), accessOf(object), here)),
      cedars: yes(objectOracle(World.callerEntity(caller), object, plain, [])("view")),
      facts: { caller, object }
    }
  }
}

const chatActions = {
  read: { permission: "chat:read", level: "viewer" },
  ask: { permission: "chat:write", level: "editor" },
  cancel: { permission: "chat:write", level: "editor" },
  update: { permission: "chat:write", level: "editor" },
  delete: { permission: "chat:write", level: "owner" },
  feedback: { permission: "chat:read", level: "viewer" }
} as const

const chatQuestion = (action: keyof typeof chatActions): Question => ({
  action: `${action} a chat`,
  ask: (draw) => {
    const { level, permission } = chatActions[action]
    const grants = World.drawGrants(draw, ["chat:read", "chat:write"])
    const caller = World.drawCaller(draw)
    const object = drawObject(draw, caller)
    const asker = World.callerEntity(caller)
    const kept: Kept = { keepsAnswers: true, connectors: [] }
    const oracle = objectOracle(asker, object, kept, [])
    return {
      ours: shade(ChatPolicy.decide(World.principalOf(caller, grants), { access: accessOf(object) }, action, here)),
      cedars: !oracle("see")
        ? "hidden"
        : !holds(asker, grants, permission)
          ? "permission"
          : oracle(actions[level])
            ? "allow"
            : "access",
      facts: { caller, object, grants }
    }
  }
})

const listChat: Question = {
  action: "list a chat",
  ask: (draw) => {
    const caller = World.drawCaller(draw)
    const object = drawObject(draw, caller)
    const kept: Kept = { keepsAnswers: true, connectors: [] }
    return {
      ours: yes(ChatPolicy.listed(World.principalOf(caller, {}), { access: accessOf(object) }, here)),
      cedars: yes(objectOracle(World.callerEntity(caller), object, kept, [])("view")),
      facts: { caller, object }
    }
  }
}

const agentActions = {
  read: { permission: "agent:read", level: "viewer" },
  update: { permission: "agent:write", level: "editor" },
  delete: { permission: "agent:write", level: "owner" },
  trigger: { permission: "agent:trigger", level: "viewer" }
} as const

const connectors = ["1", "2", "3"] as const
const connectorId = (connector: string): ConnectorId => ConnectorId.make(Number(connector))

const agentQuestion = (action: keyof typeof agentActions): Question => ({
  action: `${action} an agent`,
  ask: (draw) => {
    const { level, permission } = agentActions[action]
    const grants = World.drawGrants(draw, ["agent:read", "agent:write", "agent:trigger"])
    const caller = World.drawCaller(draw)
    const object = drawObject(draw, caller)
    const [used, usable] = [draw.some(connectors, 30), draw.some(connectors, 80)]
    const asker = World.callerEntity(caller)
    const oracle = objectOracle(asker, object, { keepsAnswers: false, connectors: used }, usable)
    const agent = { access: accessOf(object), connectorIds: used.map(connectorId) }
    return {
      ours: shade(may(World.principalOf(caller, grants), action, agent, usable.map(connectorId), here)),
      cedars: !oracle("see")
        ? "hidden"
        : !holds(asker, grants, permission)
          ? "permission"
          : oracle(actions[level])
            ? "allow"
            : "access",
      facts: { caller, object, grants, used, usable }
    }
  }
})

const readAuditEvent: Question = {
  action: "read an audit event",
  ask: (draw) => {
    const grants = World.drawGrants(draw, ["audit:read"])
    const caller = World.drawCaller(draw)
    const organization = draw.chance(70) ? "here" : "elsewhere"
    const principal = World.principalOf(caller, grants)
    const event = new AuditEvent(
      {
        id: AuditEventId.make(World.uuid("event")),
        organizationId: World.organizationId(organization),
        at: here,
        actor: actorOf(principal),
        action: "create",
        target: { type: "chat", id: "1" },
        outcome: AuditOutcome.cases.Succeeded.make({})
      },
      { disableChecks: true }
    )
    return {
      ours: verdict(AuditPolicy.see(principal, event)),
      cedars: yes(
        allows({
          principal: World.callerEntity(caller),
          action: "readAuditEvent",
          resource: entity(name("AuditEvent", "event"), { organization: reference("Organization", organization) }),
          context: { granting: World.granting(grants, "audit:read") }
        })
      ),
      facts: { caller, grants, organization }
    }
  }
}

/** The questions of this file. */
export const questions: ReadonlyArray<Question> = [
  assumeRole,
  usePermission,
  administer,
  ...levels.map(objectQuestion),
  list,
  ...(["read", "ask", "cancel", "update", "delete", "feedback"] as const).map(chatQuestion),
  listChat,
  ...(["read", "update", "delete", "trigger"] as const).map(agentQuestion),
  readAuditEvent
]
