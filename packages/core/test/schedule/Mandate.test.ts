import { Credential, Principal } from "@castellan/core/access/Principal"
import { ApiKeyId } from "@castellan/core/apikey/ApiKey"
import { MemberStatus } from "@castellan/core/member/Member"
import { mandateOf, principalOf } from "@castellan/core/schedule/Mandate"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"

layer(layerCrypto)("Mandate", (it) => {
  const newWorld = Effect.gen(function* () {
    const organizationId = yield* Sample.organizationId
    const roles = yield* Effect.forEach(["a", "b", "c"], (name) => Sample.role(organizationId, { name }))
    const member = yield* Sample.member(organizationId, { roles })
    return { member, roles, organizationId }
  })

  it.effect.prop(
    "L5 never has a role that was not left behind, is not held any more, or is gone",
    { left: Schema.Array(Schema.Int), held: Schema.Array(Schema.Int), existing: Schema.Array(Schema.Int) },
    Effect.fnUntraced(function* ({ existing, held, left }) {
      const { member, organizationId, roles } = yield* newWorld
      const chosen = (numbers: ReadonlyArray<number>) =>
        roles.filter((_, index) => numbers.some((number) => Math.abs(number) % roles.length === index))
      const who = yield* Sample.principal(organizationId, { memberId: member.id, roles: chosen(left) })
      const now = principalOf(
        "schedule",
        mandateOf(who),
        { ...member, roles: chosen(held).map(({ id }) => id) },
        chosen(existing)
      )
      const expected = roles.filter((role) => [left, held, existing].every((numbers) => chosen(numbers).includes(role)))
      assert.deepStrictEqual(
        now.roles.map(({ id }) => id),
        expected.map(({ id }) => id)
      )
    })
  )

  it.effect("keeps whom it acts for: the member, the end user, the restriction, and the key behind it", () =>
    Effect.gen(function* () {
      const { member, organizationId, roles } = yield* newWorld
      const client = { text: '{"region":"north"}', attributes: { region: "north" } }
      const [key, before] = [ApiKeyId.make(yield* Sample.chatId), ApiKeyId.make(yield* Sample.chatId)]
      const who = new Principal({
        organizationId,
        memberId: member.id,
        roles,
        restricted: true,
        clientMetadata: client,
        isSuperadmin: true,
        credential: Credential.cases.ApiKey.make({ id: key, rotatedFrom: [before] })
      })
      const now = principalOf("schedule", mandateOf(who), member, roles)
      assert.strictEqual(now.memberId, member.id)
      assert.strictEqual(now.organizationId, organizationId)
      assert.isTrue(now.restricted)
      assert.deepStrictEqual(now.clientMetadata, client)
      assert.deepEqual(now.credential, { _tag: "System", name: "schedule", key: { id: key, rotatedFrom: [before] } })
      assert.deepEqual(now.key, { id: key, rotatedFrom: [before] })
      const token = new Principal({ ...who, credential: Credential.cases.Token.make({}) })
      assert.deepEqual(principalOf("schedule", mandateOf(token), member, roles).credential, {
        _tag: "System",
        name: "schedule"
      })
      // Who runs the platform does so in person.
      assert.isFalse(now.isSuperadmin)
    })
  )

  it.effect("of a member who was deactivated has no role", () =>
    Effect.gen(function* () {
      const { member, organizationId, roles } = yield* newWorld
      const who = yield* Sample.principal(organizationId, { memberId: member.id, roles })
      const status = MemberStatus.cases.Deactivated.make({ at: DateTime.makeUnsafe(0) })
      assert.deepStrictEqual(principalOf("schedule", mandateOf(who), { ...member, status }, roles).roles, [])
    })
  )
})
