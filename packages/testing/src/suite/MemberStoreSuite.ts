/**
 * What every store of members keeps to.
 */
import { Member, MemberStatus } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

/** Runs the contract of `MemberStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<MemberStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "30 seconds" })(`MemberStore (${name})`, (it) => {
    it.effect("gives back what was saved, and the latest of it", () =>
      Effect.gen(function* () {
        const store = yield* MemberStore
        const organization = yield* Sample.organizationId
        const role = yield* Sample.role(organization)
        const member = yield* Sample.member(organization, { roles: [role] })
        yield* store.save(member)
        assertSame(yield* store.get(organization, member.id), Option.some(member))
        const deactivated = new Member({
          ...member,
          name: "Ada",
          status: MemberStatus.cases.Deactivated.make({ at: DateTime.makeUnsafe("2030-01-01T00:00:00.123Z") })
        })
        yield* store.save(deactivated)
        assertSame(yield* store.get(organization, member.id), Option.some(deactivated))
      })
    )

    it.effect("hides a member from every other organization", () =>
      Effect.gen(function* () {
        const store = yield* MemberStore
        const ours = yield* Sample.organizationId
        const theirs = yield* Sample.organizationId
        const member = yield* Sample.member(ours)
        yield* store.save(member)
        assert.isTrue(Option.isNone(yield* store.get(theirs, member.id)))
        assertSame(yield* store.named(theirs, [member.id]), [])
      })
    )

    it.effect("finds the members of some ids: each once, and those that are unknown not at all", () =>
      Effect.gen(function* () {
        const store = yield* MemberStore
        const ours = yield* Sample.organizationId
        const theirs = yield* Sample.organizationId
        const [one, two, unasked, foreign] = yield* Effect.all([
          Sample.member(ours),
          Sample.member(ours),
          Sample.member(ours),
          Sample.member(theirs)
        ])
        yield* Effect.forEach([one, two, unasked, foreign], store.save)
        const found = yield* store.named(ours, [two.id, one.id, two.id, foreign.id, yield* Sample.memberId])
        assertSame(
          found.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
          [one, two]
        )
        assertSame(yield* store.named(ours, []), [])
      })
    )
  })
}
