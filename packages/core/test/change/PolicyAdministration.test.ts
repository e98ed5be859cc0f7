import { FolderPolicies } from "@castellan/core/folderpolicy/FolderPolicies"
import { assert, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as Review from "./Review.ts"
import { approve, as, codeOf, propose } from "./Review.ts"
import { page, withDocs } from "./ReviewedDocs.ts"

it.layer(Review.layer)("Exceptions", (it) => {
  const exception = { autoApprove: [{ pathGlobs: ["docs/*.md"] }] }

  it.effect("A37 not for what the author does not own: open", () =>
    Effect.gen(function* () {
      const world = yield* withDocs(exception)
      yield* world.policy("x", { autoApprove: [{ pathGlobs: ["**"] }] })
      const change = yield* propose(world.ana, { write: { "docs/page.md": "1", "x/new": "2" } })
      assert.strictEqual(change.change.status._tag, "Open")
      assert.isFalse(change.change.autoApproved)
    })
  )

  it.effect("A38 what a folder's own exception covers is live at once, distinct approvers or not", () =>
    Effect.gen(function* () {
      const world = yield* withDocs(exception)
      const change = yield* propose(world.ana, page)
      assert.strictEqual(change.change.status._tag, "Approved")
      assert.isTrue(change.change.autoApproved)
      assert.deepStrictEqual(yield* world.library, { "docs/page.md": "one\n" })
      yield* world.policy("x", { members: [world.ana] })
      const two = yield* propose(world.ana, { write: { "docs/two.md": "1", "x/1": "2" } })
      assert.strictEqual(two.change.status._tag, "Open")
    })
  )

  it.effect("A39, A40 a draft stays one, and what conflicts is reserved", () =>
    Effect.gen(function* () {
      const world = yield* withDocs(exception)
      const draft = yield* propose(world.ana, page, { draft: true })
      assert.strictEqual(draft.change.status._tag, "Draft")
      yield* propose(world.ana, page)
      const late = yield* propose(world.ana, { write: { "docs/page.md": "late\n" } }, { base: draft.changeset.base })
      assert.strictEqual(late.change.status._tag, "Reserved")
      const revised = yield* propose(
        world.ana,
        { write: { "docs/page.md": "late\n" } },
        { changeNumber: late.change.number }
      )
      assert.isTrue(revised.change.autoApproved)
    })
  )
})

it.layer(Review.layer)("Administering policies", (it) => {
  it.effect("O8, O9 only administrators set and remove policies, whatever an owner or a change does", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const policies = yield* FolderPolicies
      const { policies: before } = yield* policies.list.pipe(as(world.boss))
      for (const one of before) {
        assert.strictEqual(
          yield* codeOf(policies.save({ ...one, owners: [] }).pipe(as(world.ana))),
          "permission_denied"
        )
      }
      assert.strictEqual(yield* codeOf(policies.remove("docs").pipe(as(world.ana))), "permission_denied")
      yield* approve(world.bob, yield* propose(world.ana, { write: { "docs/OWNERS": world.ana.memberId } }))
      assert.deepStrictEqual((yield* policies.list.pipe(as(world.boss))).policies, before)
    })
  )

  it.effect("A21 a number of approvals below one, and what cannot be read, is refused", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      for (const required of [0, -1, 1.5, Number.NaN]) {
        assert.strictEqual(yield* codeOf(world.policy("docs", { required })), "invalid_request")
      }
      for (const path of ["/docs", "docs/../x", ".git", "a//b"]) {
        assert.strictEqual(yield* codeOf(world.policy(path)), "invalid_request", path)
      }
      assert.strictEqual(
        yield* codeOf(world.policy("docs", { autoApprove: [{ pathGlobs: ["a//b"] }] })),
        "invalid_request"
      )
      const foreign = yield* Review.organization
      const role = yield* foreign.role()
      assert.strictEqual(yield* codeOf(world.policy("docs", { members: [foreign.boss] })), "invalid_request")
      assert.strictEqual(yield* codeOf(world.policy("docs", { roles: [role] })), "invalid_request")
      assert.strictEqual(yield* codeOf(world.policy("docs", { authorRoles: [role] })), "invalid_request")
    })
  )

  it.effect("O13 an owner who is listed twice is kept once; a policy that is set again replaces the one before", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const ana = yield* world.member()
      const { policy } = yield* world.policy("docs", { members: [ana, ana] })
      assert.lengthOf(policy.owners, 1)
      yield* world.policy("docs/", { required: 2 })
      const policies = yield* FolderPolicies
      const { policies: found } = yield* policies.list.pipe(as(world.boss))
      assert.deepStrictEqual(
        found.map((one) => [String(one.path), one.owners.length, one.requiredApprovals]),
        [
          ["", 1, 1],
          ["docs", 0, 2]
        ]
      )
      assert.lengthOf((yield* policies.list.pipe(as(ana))).policies, 0)
      assert.deepStrictEqual(yield* policies.remove("docs").pipe(as(world.boss)), { path: policy.path })
      assert.strictEqual(yield* codeOf(policies.remove("docs").pipe(as(world.boss))), "not_found")
      assert.strictEqual(yield* codeOf(policies.remove("/").pipe(as(world.boss))), "invalid_request")
    })
  )

  it.effect("warnings are about the folder and those below it whose owners it decides", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const [ana, bob] = [yield* world.member(), yield* world.member()]
      yield* world.policy("docs", { members: [ana, bob], required: 2 })
      yield* world.policy("docs/sub", { required: 3, distinct: false })
      yield* world.policy("docs/own", { members: [ana], inheritOwners: false, required: 2, distinct: false })
      const { warnings } = yield* world.policy("docs", { members: [ana], required: 2 })
      assert.deepStrictEqual(
        warnings.map(({ _tag, folder }) => `${_tag} ${folder}`),
        ["UnsatisfiableForOwners docs", "Unsatisfiable docs/sub"]
      )
    })
  )

  it.effect("a policy that is set counts at once", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const change = yield* propose(world.ana, page)
      yield* world.policy("docs", { members: [world.ana] })
      assert.strictEqual(yield* codeOf(approve(world.bob, change)), "not_found")
      const outcome = Result.succeed(yield* world.policy("docs", { members: [world.bob], distinct: false }))
      assert.isTrue(Result.isSuccess(outcome))
      assert.isTrue((yield* approve(world.bob, change)).merged)
    })
  )
})
