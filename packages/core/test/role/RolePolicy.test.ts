import type { Decision } from "@castellan/core/access/Decision"
import { Principal } from "@castellan/core/access/Principal"
import * as Permission from "@castellan/core/role/Permission"
import { RoleOrigin } from "@castellan/core/role/Role"
import * as RolePolicy from "@castellan/core/role/RolePolicy"
import { RoleEvent, transition } from "@castellan/core/role/RoleState"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { DrawnPrincipal, make as makeWorld, principalOf } from "@castellan/testing/fixture/SmallWorld"
import { assert, layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"

const { ConfigureModels, Delete, Describe, Rename, SetPermissions } = RoleEvent.cases

/** An organization with its system roles and one role of each other kind, and somebody of each kind. */
const scene = Effect.gen(function* () {
  const organization = yield* Sample.organizationId
  const roles = {
    admin: yield* Sample.role(organization, {
      name: "admin",
      permissions: Permission.all,
      origin: RoleOrigin.cases.System.make({ name: "admin" })
    }),
    member: yield* Sample.role(organization, {
      name: "member",
      permissions: Permission.member,
      origin: RoleOrigin.cases.System.make({ name: "member" })
    }),
    custom: yield* Sample.role(organization, { name: "custom", permissions: ["chat:read"] }),
    scim: yield* Sample.role(organization, { name: "scim", origin: RoleOrigin.cases.Scim.make({}) }),
    steward: yield* Sample.role(organization, { name: "steward", permissions: ["role:write", "chat:read"] }),
    viewer: yield* Sample.role(organization, { name: "viewer", permissions: ["organization:read"] })
  }
  const who = {
    admin: yield* Sample.principal(organization, { roles: [roles.admin, roles.member] }),
    steward: yield* Sample.principal(organization, { roles: [roles.steward] }),
    viewer: yield* Sample.principal(organization, { roles: [roles.viewer] }),
    member: yield* Sample.principal(organization, { roles: [roles.member] }),
    nobody: yield* Sample.principal(organization)
  }
  return { roles, who }
})

const short = (decision: Decision): string => `${decision._tag} ${decision.reason}`
const adminRequired = "Deny admin_required"

layer(layerCrypto)("RolePolicy", (it) => {
  type Scene = Effect.Success<typeof scene>
  const rows: ReadonlyArray<readonly [string, (given: Scene) => Decision, string, string?]> = [
    ["admin reads roles", ({ who }) => RolePolicy.read(who.admin), "Allow permission"],
    ["a steward reads roles", ({ who }) => RolePolicy.read(who.steward), "Allow permission"],
    ["organization:read reads roles", ({ who }) => RolePolicy.read(who.viewer), "Allow permission"],
    ["a member reads no roles", ({ who }) => RolePolicy.read(who.member), adminRequired, "admin role required"],
    ["nobody reads no roles", ({ who }) => RolePolicy.read(who.nobody), adminRequired, "admin role required"],
    ["admin makes a role", ({ who }) => RolePolicy.create(who.admin), "Allow permission"],
    ["a steward makes a role", ({ who }) => RolePolicy.create(who.steward), "Allow permission"],
    ["organization:read makes none", ({ who }) => RolePolicy.create(who.viewer), adminRequired, "admin role required"],
    ["a member makes none", ({ who }) => RolePolicy.create(who.member), adminRequired, "admin role required"],

    [
      "a member renames no role, and is told so before what the role is",
      ({ roles, who }) => RolePolicy.change(who.member, roles.admin, Rename.make({ name: "x" })),
      adminRequired,
      "admin role required"
    ],
    [
      "a custom role is renamed",
      ({ roles, who }) => RolePolicy.change(who.steward, roles.custom, Rename.make({ name: "x" })),
      "Allow permission"
    ],
    [
      "a system role is not renamed, even by admin",
      ({ roles, who }) => RolePolicy.change(who.admin, roles.member, Rename.make({ name: "x" })),
      "Deny system_role",
      "permission denied: a system role cannot be renamed"
    ],
    [
      "a system role is not deleted, even by admin",
      ({ roles, who }) => RolePolicy.change(who.admin, roles.admin, Delete.make({})),
      "Deny system_role",
      "permission denied: a system role cannot be deleted"
    ],
    [
      "a system role is not re-permissioned, even by admin",
      ({ roles, who }) => RolePolicy.change(who.admin, roles.member, SetPermissions.make({ permissions: [] })),
      "Deny system_role",
      "permission denied: a system role cannot be given other permissions"
    ],
    [
      "a system role's models are configured",
      ({ roles, who }) =>
        RolePolicy.change(who.admin, roles.member, ConfigureModels.make({ models: { allowModelChoice: false } })),
      "Allow permission"
    ],
    [
      "a SCIM-managed role is not renamed",
      ({ roles, who }) => RolePolicy.change(who.admin, roles.scim, Rename.make({ name: "x" })),
      "Deny scim_managed",
      "permission denied: a role that the identity provider keeps cannot be renamed"
    ],
    [
      "a SCIM-managed role is not described",
      ({ roles, who }) => RolePolicy.change(who.admin, roles.scim, Describe.make({ description: "x" })),
      "Deny scim_managed",
      "permission denied: a role that the identity provider keeps cannot be described anew"
    ],
    [
      "a SCIM-managed role is given permissions",
      ({ roles, who }) => RolePolicy.change(who.admin, roles.scim, SetPermissions.make({ permissions: ["chat:read"] })),
      "Allow permission"
    ],
    [
      "a steward adds what it holds",
      ({ roles, who }) =>
        RolePolicy.change(who.steward, roles.scim, SetPermissions.make({ permissions: ["chat:read"] })),
      "Allow permission"
    ],
    [
      "a steward adds nothing that it does not hold",
      ({ roles, who }) =>
        RolePolicy.change(
          who.steward,
          roles.custom,
          SetPermissions.make({ permissions: ["chat:read", "audit:read", "audit:read", "member:write"] })
        ),
      "Deny not_held",
      "permission denied: you do not hold audit:read, member:write"
    ],
    [
      "a steward keeps what a role has, though it does not hold it",
      ({ roles, who }) =>
        RolePolicy.change(
          who.steward,
          roles.viewer,
          SetPermissions.make({ permissions: ["organization:read", "chat:read"] })
        ),
      "Allow permission"
    ],
    [
      "a steward takes away what it does not hold",
      ({ roles, who }) => RolePolicy.change(who.steward, roles.viewer, SetPermissions.make({ permissions: [] })),
      "Allow permission"
    ],
    [
      "admin adds everything",
      ({ roles, who }) =>
        RolePolicy.change(who.admin, roles.custom, SetPermissions.make({ permissions: Permission.all })),
      "Allow permission"
    ],

    [
      "admin assigns a role that it holds",
      ({ roles, who }) => RolePolicy.assign(who.admin, roles.member),
      "Allow permission"
    ],
    [
      "admin assigns a role that nobody holds",
      ({ roles, who }) => RolePolicy.assign(who.admin, roles.custom),
      "Allow administrator"
    ],
    [
      "a steward assigns its own role",
      ({ roles, who }) => RolePolicy.assign(who.steward, roles.steward),
      "Allow permission"
    ],
    [
      "a steward does not assign a role that it does not hold, though it holds all of its permissions",
      ({ roles, who }) => RolePolicy.assign(who.steward, roles.custom),
      "Deny not_held",
      "permission denied: you do not hold the role custom"
    ],
    [
      "a steward does not assign admin",
      ({ roles, who }) => RolePolicy.assign(who.steward, roles.admin),
      "Deny not_held",
      "permission denied: you do not hold the role admin"
    ],
    [
      "a member does not assign its own role",
      ({ roles, who }) => RolePolicy.assign(who.member, roles.member),
      adminRequired,
      "admin role required"
    ],
    ["a steward takes a role", ({ roles, who }) => RolePolicy.unassign(who.steward, roles.custom), "Allow permission"],
    [
      "a steward does not take admin",
      ({ roles, who }) => RolePolicy.unassign(who.steward, roles.admin),
      adminRequired,
      "admin role required"
    ],
    ["admin takes admin", ({ roles, who }) => RolePolicy.unassign(who.admin, roles.admin), "Allow administrator"],
    [
      "a member takes nothing",
      ({ roles, who }) => RolePolicy.unassign(who.member, roles.member),
      adminRequired,
      "admin role required"
    ]
  ]
  for (const [name, decide, expected, message] of rows) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const decision = decide(yield* scene)
        assert.strictEqual(short(decision), expected)
        if (message !== undefined) assert.strictEqual(decision.message, message)
      })
    )
  }

  it.effect.prop(
    "L1 nobody without a role may do anything to a role",
    [RoleEvent],
    ([event]) =>
      Effect.gen(function* () {
        const { roles, who } = yield* scene
        for (const role of Object.values(roles)) {
          assert.strictEqual(RolePolicy.change(who.nobody, role, event)._tag, "Deny")
          assert.strictEqual(RolePolicy.assign(who.nobody, role)._tag, "Deny")
          assert.strictEqual(RolePolicy.unassign(who.nobody, role)._tag, "Deny")
        }
      }),
    { arbitrary: { runs: 50 } }
  )

  it.effect.prop(
    "L6 without one of its roles a principal may do nothing more, and the order of its roles is no matter (L3)",
    [DrawnPrincipal, RoleEvent],
    ([drawn, event]) =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        const principal = principalOf(world, drawn)
        const [without] = [new Principal({ ...principal, roles: principal.roles.slice(1) })]
        const turned = new Principal({ ...principal, roles: [...principal.roles, ...principal.roles].toReversed() })
        for (const role of world.roles) {
          for (const decide of [
            (who: Principal) => RolePolicy.change(who, role, event),
            (who: Principal) => RolePolicy.assign(who, role),
            (who: Principal) => RolePolicy.unassign(who, role),
            (who: Principal) => RolePolicy.read(who)
          ]) {
            if (decide(principal)._tag === "Deny") assert.strictEqual(decide(without)._tag, "Deny")
            assert.strictEqual(decide(turned)._tag, decide(principal)._tag)
          }
        }
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect.prop(
    "what is allowed never gives a role a permission that neither it nor the principal had",
    [DrawnPrincipal, Schema.Array(Permission.Permission)],
    ([drawn, permissions]) =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        const principal = principalOf(world, drawn)
        for (const role of world.roles) {
          const event = SetPermissions.make({ permissions })
          if (RolePolicy.change(principal, role, event)._tag === "Deny") continue
          const next = transition(role, event, role.updatedAt)
          assert.isTrue(Result.isSuccess(next))
          for (const permission of permissions) {
            assert.isTrue(role.permissions.includes(permission) || principal.holds(permission), permission)
          }
        }
      }),
    { arbitrary: { runs: 200 } }
  )
})
