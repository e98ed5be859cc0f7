/** Members of the site, with keys of their own. */
import * as Fixture from "@castellan/testing/fixture/Fixture"
import type * as Sample from "@castellan/testing/fixture/Sample"
import { Effect, Redacted } from "effect"
import * as Site from "../support/Site.ts"

/** A new member of the site, with the `member` role unless others are given, and a key to all that is theirs. */
export const person = Effect.fnUntraced(function* (
  given: { readonly member?: Sample.MemberOptions; readonly key?: Sample.KeyOptions } = {}
) {
  const { tenant } = yield* Site.Site
  const member = yield* Fixture.member(tenant.organizationId, { roles: [tenant.memberRole], ...given.member })
  const { apiKey, secret } = yield* Fixture.key(member, { fullMemberAccess: true, ...given.key })
  return { id: member.id, email: member.email, member, key: Redacted.value(secret), keyId: apiKey.id }
})
