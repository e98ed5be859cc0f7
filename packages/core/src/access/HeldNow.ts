/**
 * A principal without the roles that its member no longer holds.
 *
 * A session says for its quarter of an hour what was held when it was minted, and what ends with the session may rest on
 * that (policy-cases K40). What hands authority on lasts longer: a key, a role that is given, a permission that is
 * added. It rests on what is held now, or whoever loses a role could give it back to themselves.
 *
 * Source: decisions.md §3 ("Nobody grants a permission or role that they do not hold").
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { MemberStore } from "../member/MemberStore.ts"
import { Principal } from "./Principal.ts"

/** Narrows principals to what their members hold now. The roles of every credential but a session are read live anyway. */
export const make = (
  members: Pick<MemberStore["Service"], "get">
): ((principal: Principal) => Effect.Effect<Principal>) =>
  Effect.fnUntraced(function* (principal: Principal) {
    if (principal.credential._tag !== "Session") return principal
    const member = yield* members.get(principal.organizationId, principal.memberId)
    const held = new Set(Option.isSome(member) ? member.value.roles : [])
    return new Principal({ ...principal, roles: principal.roles.filter((role) => held.has(role.id)) })
  })
