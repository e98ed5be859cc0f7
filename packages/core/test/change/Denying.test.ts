import { Principal } from "@castellan/core/access/Principal"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Review from "./Review.ts"
import { approve, codeOf, deny, propose, restore, statusOf, submit } from "./Review.ts"
import { page, withDocs } from "./ReviewedDocs.ts"

it.layer(Review.layer)("Denying and restoring", (it) => {
  it.effect("A31, A32, A33 the author denies, and an owner of every path; what is stale is not denied", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const [ana, bob, cleo] = [yield* world.member(), yield* world.member(), yield* world.member()]
      yield* world.policy("x", { members: [bob] })
      yield* world.policy("y", { members: [bob, cleo] })
      const both = { write: { "x/1": "x", "y/1": "y" } }
      const first = yield* propose(ana, both)
      assert.strictEqual(yield* codeOf(deny(cleo, first)), "permission_denied")
      assert.strictEqual(yield* codeOf(deny(ana, first, "0".repeat(40))), "conflict")
      assert.strictEqual(yield* codeOf(deny(ana, first, "")), "invalid_request")
      assert.strictEqual(yield* statusOf(ana, first), "open")
      assert.strictEqual((yield* deny(ana, first)).change.status._tag, "Denied")
      assert.strictEqual(yield* codeOf(deny(ana, first)), "conflict")
      const second = yield* propose(ana, both)
      assert.strictEqual((yield* deny(bob, second)).change.gitRef, second.change.gitRef)
      const nobody = new Principal({ ...ana, roles: [] })
      const third = yield* propose(ana, both)
      assert.strictEqual((yield* deny(nobody, third)).change.status._tag, "Denied")
    })
  )

  it.effect("A34 what is merged is not denied, nor restored, nor revised", () =>
    Effect.gen(function* () {
      const { ana, bob } = yield* withDocs()
      const change = yield* propose(ana, page)
      yield* approve(bob, change)
      assert.strictEqual(yield* codeOf(deny(ana, change)), "conflict")
      assert.strictEqual(yield* codeOf(restore(ana, change)), "conflict")
      assert.strictEqual(yield* codeOf(submit(ana, change)), "conflict")
      assert.strictEqual(yield* codeOf(propose(ana, page, { changeNumber: change.change.number })), "conflict")
    })
  )

  it.effect("A35, A36 a denied change comes back to what it was, without its approvals", () =>
    Effect.gen(function* () {
      const { ana, bob, cleo } = yield* withDocs({ required: 2 })
      const change = yield* propose(ana, page)
      assert.strictEqual(yield* codeOf(restore(ana, change)), "conflict")
      yield* approve(bob, change)
      yield* deny(bob, change)
      assert.strictEqual(yield* codeOf(restore(bob, change, "0".repeat(40))), "conflict")
      assert.strictEqual(yield* codeOf(propose(ana, page, { changeNumber: change.change.number })), "conflict")
      const back = yield* restore(ana, change)
      assert.strictEqual(back.change.status._tag, "Open")
      assert.strictEqual(back.change.gitRef, change.change.gitRef)
      assert.strictEqual(back.approvalCount, 0)
      assert.isFalse((yield* approve(bob, back)).alreadyApproved)
      assert.isTrue((yield* approve(cleo, back)).merged)

      const draft = yield* propose(ana, { write: { "docs/draft.md": "x" } }, { draft: true })
      yield* deny(ana, draft)
      assert.strictEqual((yield* restore(cleo, draft)).change.status._tag, "Draft")
    })
  )

  it.effect("A35 what conflicts by now comes back reserved", () =>
    Effect.gen(function* () {
      const { ana, bob, cleo } = yield* withDocs()
      const change = yield* propose(ana, page)
      yield* deny(ana, change)
      yield* approve(bob, yield* propose(cleo, { write: { "docs/page.md": "other\n" } }))
      const back = yield* restore(ana, change)
      assert.strictEqual(back.change.status._tag, "Reserved")
      assert.isNotEmpty(back.conflicts)
    })
  )

  it.effect("a draft is submitted by its author alone, and once", () =>
    Effect.gen(function* () {
      const { ana, bob, boss } = yield* withDocs()
      const draft = yield* propose(ana, page, { draft: true })
      assert.strictEqual(draft.change.status._tag, "Draft")
      assert.strictEqual(yield* codeOf(submit(bob, draft)), "permission_denied")
      assert.strictEqual(yield* codeOf(submit(boss, draft)), "permission_denied")
      assert.strictEqual((yield* submit(ana, draft)).change.status._tag, "Open")
      assert.strictEqual(yield* codeOf(submit(ana, draft)), "conflict")
    })
  )
})
