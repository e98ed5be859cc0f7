/** Credentials of the matrix's maker that are made when they are asked for: keys by what they may do, and sessions. */
import { Member } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import * as Permission from "@castellan/core/role/Permission"
import type { Role } from "@castellan/core/role/Role"
import { RoleStore } from "@castellan/core/role/RoleStore"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { Effect, Redacted } from "effect"
import * as Served from "./Served.ts"
import { keyOf } from "./WorldPeople.ts"

/** What the keys of the maker may do: each list of permissions is a role of its own; `admin` is the system role. */
export type Authority = ReadonlyArray<Permission.Permission> | "admin"

const all: ReadonlyArray<Permission.Permission> = Permission.all

/** Adds a role to a member. */
const hold = Effect.fnUntraced(function* (member: Pick<Member, "id" | "organizationId">, role: Role) {
  const found = yield* Effect.flatMap(
    MemberStore.use((store) => store.get(member.organizationId, member.id)),
    Effect.fromOption
  ).pipe(Effect.orDie)
  yield* MemberStore.use((store) => store.save(new Member({ ...found, roles: [...found.roles, role.id] })))
})

/** How keys and sessions of a maker are made. */
export const of = (tenant: Fixture.Tenant, maker: Member) => {
  const within = tenant.organizationId
  const keyWith = Effect.fnUntraced(function* (authority: Authority) {
    const role = authority === "admin" ? tenant.adminRole : yield* Fixture.role(within, { permissions: authority })
    if (authority !== "admin") yield* hold(maker, role)
    const assumedRoles = { _tag: "Snapshot", roles: [role.id] } as const
    return Redacted.value((yield* keyOf(maker, { assumedRoles })).secret)
  })

  const sessions = Effect.gen(function* () {
    const passing = yield* Fixture.role(within, { permissions: all })
    const taken = yield* Fixture.role(within, { permissions: all })
    yield* hold(maker, passing)
    yield* hold(maker, taken)
    const mint = (key: string) => Effect.map(Served.json("POST", "/v2/sessions", key), ({ token }) => String(token))
    const sessionOf = Effect.fnUntraced(function* (role: Role) {
      const { secret } = yield* keyOf(maker, { assumedRoles: { _tag: "Snapshot", roles: [role.id] } })
      return yield* mint(Redacted.value(secret))
    })
    const deleted = yield* sessionOf(passing)
    const unrenewed = yield* sessionOf(taken)
    yield* RoleStore.use((store) => store.remove(within, passing.id))
    const holding = yield* Effect.flatMap(
      MemberStore.use((store) => store.get(within, maker.id)),
      Effect.fromOption
    )
    yield* MemberStore.use((store) =>
      store.save(new Member({ ...holding, roles: holding.roles.filter((id) => id !== taken.id && id !== passing.id) }))
    )
    return { deleted, unrenewed, renewed: yield* mint(unrenewed) }
  }).pipe(Effect.orDie)

  return { keyWith, sessions }
}
