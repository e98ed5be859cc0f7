/**
 * Law L5 over whole histories: keys mint keys, are rotated and revoked, members gain, lose and leave, time passes; and
 * at every moment each key is held against what the law says of it, told without the code under test.
 */
import { Authentication } from "@castellan/core/access/Authentication"
import type { Principal } from "@castellan/core/access/Principal"
import type { ApiKey } from "@castellan/core/apikey/ApiKey"
import { ApiKeys } from "@castellan/core/apikey/ApiKeys"
import { Sessions } from "@castellan/core/session/Sessions"
import { Member, MemberStatus } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import { RoleStore } from "@castellan/core/role/RoleStore"
import { by } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Option, type Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"

const below = (count: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: count - 1 }))

const Roles = Schema.Array(below(4)).check(Schema.isMaxLength(4))

/** What can happen; the numbers choose among the credentials and members that there are. */
const Event = Schema.Union([
  Schema.Struct({
    kind: Schema.Literal("mint"),
    by: below(64),
    roles: Roles,
    full: Schema.Boolean,
    client: Schema.optionalKey(below(2)),
    minutes: Schema.optionalKey(below(20)),
    forService: Schema.Boolean
  }),
  Schema.Struct({ kind: Schema.Literal("session"), by: below(64) }),
  Schema.Struct({ kind: Schema.Literal("rotate"), by: below(64), key: below(64), minutes: below(10) }),
  Schema.Struct({ kind: Schema.Literal("revoke"), by: below(64), key: below(64) }),
  Schema.Struct({ kind: Schema.Literal("assign"), member: below(2), roles: Roles }),
  Schema.Struct({ kind: Schema.Literal("leave"), member: below(2), back: Schema.Boolean }),
  Schema.Struct({ kind: Schema.Literal("delete role"), role: below(4) }),
  Schema.Struct({ kind: Schema.Literal("wait"), minutes: below(10) })
])

/** A bearer value, the one that it was made by, and the key that it is, where it is one. */
interface Bearer {
  readonly value: Redacted.Redacted<string>
  /** The value that minted it, which bounds it at every time. */
  readonly parent: Bearer | undefined
  readonly apiKey: ApiKey | undefined
}

const pick = <A>(all: ReadonlyArray<A>, index: number): A | undefined => all[index % Math.max(all.length, 1)]

const world = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const { organizationId } = tenant
  const roles = yield* Effect.all([
    Fixture.role(organizationId, { name: "A" }),
    Fixture.role(organizationId, { name: "B" }),
    Fixture.role(organizationId, { name: "C" }),
    Fixture.role(organizationId, { name: "writer", permissions: ["organization:write"] })
  ])
  const person = yield* Fixture.member(organizationId, { roles })
  const service = yield* Fixture.member(organizationId, { roles, isServiceAccount: true })
  const root = yield* Fixture.key(person, { fullMemberAccess: true })
  return { organizationId, roles, members: [person, service], root }
})

const authenticate = (bearer: Bearer) =>
  Effect.option(Authentication.use((authentication) => authentication.authenticate(bearer.value)))

const namesOf = (principal: Principal): ReadonlySet<string> => new Set(principal.roles.map((role) => role.id))

layer(Deployment.layer())("attenuation", (it) => {
  it.effect.prop(
    "L5: at every time a key is within its snapshot, its owner's live roles and the key that minted it",
    { events: Schema.Array(Event).check(Schema.isMinLength(1), Schema.isMaxLength(14)) },
    ({ events }) =>
      Effect.gen(function* () {
        const { members, organizationId, roles, root } = yield* world
        const memberStore = yield* MemberStore
        const roleStore = yield* RoleStore
        const first: Bearer = { value: root.secret, parent: undefined, apiKey: root.apiKey }
        const bearers: Array<Bearer> = [first]
        const current = Effect.fnUntraced(function* (index: number) {
          const id = pick(members, index)?.id
          return id === undefined ? undefined : Option.getOrUndefined(yield* memberStore.get(organizationId, id))
        })

        const happen = Effect.fnUntraced(function* (event: typeof Event.Type) {
          switch (event.kind) {
            case "mint": {
              const parent = pick(bearers, event.by) ?? first
              const assumedRoles = event.roles.flatMap((index) => pick(roles, index)?.id ?? [])
              const service = members[1]
              const minted = yield* Effect.option(
                by(parent.value)(
                  ApiKeys.use((keys) =>
                    keys.mint({
                      ...(assumedRoles.length === 0 ? { inheritAllRoles: true } : { assumedRoles }),
                      fullMemberAccess: event.full,
                      ...(event.client === undefined ? {} : { clientId: `{"tenant":${event.client}}` }),
                      ...(event.minutes === undefined ? {} : { expirySeconds: (event.minutes + 1) * 60 }),
                      ...(event.forService && service !== undefined ? { targetMemberId: service.id } : {})
                    })
                  )
                )
              )
              if (Option.isSome(minted)) {
                bearers.push({ value: minted.value.secret, parent, apiKey: minted.value.apiKey })
              }
              return
            }
            case "session": {
              const parent = pick(bearers, event.by) ?? first
              const session = yield* Effect.option(by(parent.value)(Sessions.use((sessions) => sessions.mint)))
              if (Option.isSome(session)) bearers.push({ value: session.value.token, parent, apiKey: undefined })
              return
            }
            case "rotate": {
              const caller = pick(bearers, event.by) ?? first
              const key = pick(bearers, event.key)
              if (key?.apiKey === undefined) return
              const { id } = key.apiKey
              const rotated = yield* Effect.option(
                by(caller.value)(ApiKeys.use((keys) => keys.rotate(id, { graceSeconds: event.minutes * 60 })))
              )
              if (Option.isSome(rotated)) {
                bearers.push({ value: rotated.value.secret, parent: key.parent, apiKey: rotated.value.apiKey })
              }
              return
            }
            case "revoke": {
              const caller = pick(bearers, event.by) ?? first
              const id = pick(bearers, event.key)?.apiKey?.id
              if (id !== undefined) yield* Effect.option(by(caller.value)(ApiKeys.use((keys) => keys.revoke(id))))
              return
            }
            case "assign": {
              const member = yield* current(event.member)
              const held = event.roles.flatMap((index) => pick(roles, index)?.id ?? [])
              if (member !== undefined) yield* memberStore.save(new Member({ ...member, roles: held }))
              return
            }
            case "leave": {
              const member = yield* current(event.member)
              const status = event.back
                ? MemberStatus.cases.Active.make({})
                : MemberStatus.cases.Deactivated.make({ at: yield* DateTime.now })
              if (member !== undefined) yield* memberStore.save(new Member({ ...member, status }))
              return
            }
            case "delete role": {
              const role = pick(roles, event.role)
              if (role !== undefined) yield* roleStore.remove(organizationId, role.id)
              return
            }
            case "wait":
              return yield* TestClock.adjust(`${event.minutes} minutes`)
          }
        })

        const holds = Effect.fnUntraced(function* (bearer: Bearer) {
          const principal = yield* authenticate(bearer)
          if (Option.isNone(principal)) return
          const mine = principal.value
          const { apiKey, parent } = bearer
          if (apiKey !== undefined) {
            const owner = Option.getOrThrow(yield* memberStore.get(organizationId, apiKey.owner))
            const snapshot: ReadonlyArray<string> =
              apiKey.assumedRoles._tag === "Snapshot" ? apiKey.assumedRoles.roles : []
            const live: ReadonlyArray<string> = owner.roles
            for (const role of namesOf(mine)) {
              assert.include(snapshot, role)
              assert.include(live, role)
            }
          }
          if (parent === undefined) return
          const above = yield* authenticate(parent)
          // A session that minted a key may have ended before it; a key that minted one may not.
          if (parent.apiKey !== undefined) assert.isTrue(Option.isSome(above), "works, and what minted it does not")
          if (Option.isNone(above)) return
          const theirs = above.value
          // A session keeps the roles that it was minted with for its quarter of an hour (K40).
          if (apiKey !== undefined && parent.apiKey !== undefined) {
            for (const role of namesOf(mine)) assert.isTrue(namesOf(theirs).has(role), "a role that its parent lacks")
          }
          assert.isTrue(mine.restricted || !theirs.restricted, "reaches further than its parent")
          if (theirs.clientMetadata !== undefined) {
            assert.deepStrictEqual(mine.clientMetadata?.attributes, theirs.clientMetadata.attributes)
          }
        })

        for (const event of events) {
          yield* happen(event)
          yield* Effect.forEach(bearers, holds)
        }
      }),
    { arbitrary: { runs: 400 } }
  )
})
