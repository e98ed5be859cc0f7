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
import * as TestClock from "effect/testing/TestClock"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

/** Runs the contract of `MemberStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<MemberStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`MemberStore (${name})`, (it) => {
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

    it.effect("lists the members of one organization, active or not, in the order of their creation", () =>
      Effect.gen(function* () {
        const store = yield* MemberStore
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        const first = yield* Sample.member(ours, { email: "zoe@acme.example" })
        yield* TestClock.adjust("1 second")
        const second = yield* Sample.member(ours, {
          email: "ada@acme.example",
          status: MemberStatus.cases.Deactivated.make({ at: DateTime.makeUnsafe("2030-01-01T00:00:00.000Z") })
        })
        const foreign = yield* Sample.member(theirs)
        yield* Effect.forEach([first, second, foreign], store.save)
        assertSame(yield* store.list(ours), [first, second])
        yield* store.save(new Member({ ...first, name: "Zoë" }))
        assertSame(yield* store.list(ours), [new Member({ ...first, name: "Zoë" }), second])
      })
    )

    it.effect("finds a member by its e-mail address, in either case, in its own organization alone", () =>
      Effect.gen(function* () {
        const store = yield* MemberStore
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        const member = yield* Sample.member(ours, { email: "Ada.Lovelace@Acme.example" })
        yield* store.save(member)
        assertSame(yield* store.byEmail(ours, "ada.lovelace@ACME.example"), Option.some(member))
        assertSame(yield* store.byEmail(ours, "ada_lovelace@acme.example"), Option.none())
        assertSame(yield* store.byEmail(ours, "ada.lovelace@acme"), Option.none())
        assertSame(yield* store.byEmail(theirs, member.email), Option.none())
        yield* store.save(new Member({ ...member, email: "countess@acme.example" }))
        assertSame(yield* store.byEmail(ours, member.email), Option.none())
      })
    )

    it.effect(
      "tells addresses apart that a database's text could not, and takes the oldest of two that are the same",
      () =>
        Effect.gen(function* () {
          const store = yield* MemberStore
          const ours = yield* Sample.organizationId
          const nul = yield* Sample.member(ours, { email: "a\u0000@acme.example" })
          const half = yield* Sample.member(ours, { email: "a\ud800@acme.example" })
          const plain = yield* Sample.member(ours, { email: "a@acme.example" })
          yield* TestClock.adjust("1 second")
          const again = yield* Sample.member(ours, { email: "A@acme.example" })
          yield* Effect.forEach([nul, half, plain, again], store.save)
          assertSame(yield* store.byEmail(ours, "A\u0000@acme.example"), Option.some(nul))
          assertSame(yield* store.byEmail(ours, "a\ud800@acme.example"), Option.some(half))
          assertSame(yield* store.byEmail(ours, "a\udbff@acme.example"), Option.none())
          assertSame(yield* store.byEmail(ours, "a@acme.example"), Option.some(plain))
        })
    )

    it.effect("finds the members that hold a role now", () =>
      Effect.gen(function* () {
        const store = yield* MemberStore
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        const [role, other] = [yield* Sample.role(ours), yield* Sample.role(ours)]
        const one = yield* Sample.member(ours, { roles: [other, role] })
        yield* TestClock.adjust("1 second")
        const two = yield* Sample.member(ours, { roles: [role] })
        const without = yield* Sample.member(ours, { roles: [other] })
        const foreign = yield* Sample.member(theirs, { roles: [role] })
        yield* Effect.forEach([one, two, without, foreign], store.save)
        assertSame(yield* store.withRole(ours, role.id), [one, two])
        yield* store.save(new Member({ ...two, roles: [] }))
        assertSame(yield* store.withRole(ours, role.id), [one])
      })
    )

    it.effect("removes one member for good, and never one of another organization", () =>
      Effect.gen(function* () {
        const store = yield* MemberStore
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        const [member, other] = [yield* Sample.member(ours), yield* Sample.member(ours)]
        yield* Effect.forEach([member, other], store.save)
        yield* store.remove(theirs, member.id)
        assertSame(yield* store.get(ours, member.id), Option.some(member))
        yield* store.remove(ours, member.id)
        yield* store.remove(ours, member.id)
        assertSame(yield* store.get(ours, member.id), Option.none())
        assertSame(yield* store.byEmail(ours, member.email), Option.none())
        assertSame(yield* store.list(ours), [other])
      })
    )
  })
}
