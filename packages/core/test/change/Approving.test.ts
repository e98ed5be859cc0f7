import { Principal } from "@castellan/core/access/Principal"
import * as Changes from "@castellan/core/change/Changes"
import { LibraryStore } from "@castellan/core/library/LibraryStore"
import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Review from "./Review.ts"
import { approve, as, codeOf, deny, propose, see, statusOf } from "./Review.ts"
import { page, withDocs } from "./ReviewedDocs.ts"

it.layer(Review.layer)("Approving", (it) => {
  it.effect("A1 the author of an open change merges it where approvers need not be distinct", () =>
    Effect.gen(function* () {
      const { ana, library } = yield* withDocs({ distinct: false })
      const change = yield* propose(ana, page)
      assert.deepStrictEqual(yield* approve(ana, change), {
        merged: true,
        approvalCount: 1,
        requiredApprovals: 1,
        alreadyApproved: false
      })
      assert.deepStrictEqual(yield* library, { "docs/page.md": "one\n" })
      assert.strictEqual(yield* statusOf(ana, change), "approved")
    })
  )

  it.effect("A2, A3 a self-approval is refused where they must, also an administrator's, and counts nothing", () =>
    Effect.gen(function* () {
      const { ana, bob, boss } = yield* withDocs()
      const change = yield* propose(ana, page)
      assert.strictEqual(yield* codeOf(approve(ana, change)), "permission_denied")
      assert.strictEqual((yield* see(bob, change)).approvalCount, 0)
      const own = yield* propose(boss, page)
      assert.strictEqual(yield* codeOf(approve(boss, own)), "permission_denied")
    })
  )

  it.effect("A4 a second key of the same member is the same member", () =>
    Effect.gen(function* () {
      const { ana } = yield* withDocs()
      const other = yield* withDocs()
      const secondKey = new Principal({ ...ana, credential: other.ana.credential, restricted: false })
      const change = yield* propose(ana, page)
      assert.strictEqual(yield* codeOf(approve(secondKey, change)), "permission_denied")
    })
  )

  it.effect("A5 a service account whose key the author minted is refused, another's is not", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const bot = yield* world.serviceAccount(world.ana)
      const botOfBot = yield* world.serviceAccount(bot)
      const other = yield* world.serviceAccount(world.bob)
      yield* world.policy("docs", { members: [world.ana, bot, botOfBot, other] })
      const change = yield* propose(world.ana, page)
      assert.strictEqual(yield* codeOf(approve(bot, change)), "permission_denied")
      assert.strictEqual(yield* codeOf(approve(botOfBot, change)), "permission_denied")
      assert.isTrue((yield* approve(other, change)).merged)
    })
  )

  it.effect("A6 the same approver twice is told so, and counts once", () =>
    Effect.gen(function* () {
      const { ana, bob, cleo } = yield* withDocs({ required: 2 })
      const change = yield* propose(ana, page)
      assert.deepStrictEqual(yield* approve(bob, change), {
        merged: false,
        approvalCount: 1,
        requiredApprovals: 2,
        alreadyApproved: false
      })
      assert.deepStrictEqual(yield* approve(bob, change), {
        merged: false,
        approvalCount: 1,
        requiredApprovals: 2,
        alreadyApproved: true
      })
      assert.isTrue((yield* approve(cleo, change)).merged)
    })
  )

  it.effect("A7, A8, A45, L9 a stale revision is a conflict, a missing one invalid, and neither changes anything", () =>
    Effect.gen(function* () {
      const { ana, bob } = yield* withDocs({ required: 2 })
      const change = yield* propose(ana, page)
      const stale = "0".repeat(40)
      assert.strictEqual(yield* codeOf(approve(bob, change, stale)), "conflict")
      assert.strictEqual(yield* codeOf(approve(bob, change, "")), "invalid_request")
      const changes = yield* Changes.Changes
      assert.strictEqual(yield* codeOf(changes.approve(change.change.id, undefined).pipe(as(bob))), "invalid_request")
      assert.deepStrictEqual((yield* see(bob, change)).change, change.change)
      yield* approve(bob, change)
      assert.strictEqual(yield* codeOf(approve(bob, change, stale)), "conflict")
      assert.strictEqual((yield* see(bob, change)).approvalCount, 1)
    })
  )

  it.effect("A9 a new changeset starts the count again, whatever it holds", () =>
    Effect.gen(function* () {
      const { ana, bob } = yield* withDocs({ required: 2 })
      const change = yield* propose(ana, page)
      yield* approve(bob, change)
      // The same edits, in the same second: another revision all the same.
      const revised = yield* propose(ana, page, { changeNumber: change.change.number })
      assert.notStrictEqual(revised.change.gitRef, change.change.gitRef)
      assert.strictEqual(revised.approvalCount, 0)
      assert.isFalse((yield* see(bob, change)).capabilities.callerApproved)
      assert.strictEqual(yield* codeOf(approve(bob, change)), "conflict")
      assert.isFalse((yield* approve(bob, revised)).alreadyApproved)
    })
  )

  it.effect("A10 whoever pushed the latest changeset may not approve it", () =>
    Effect.gen(function* () {
      const { ana, bob, cleo } = yield* withDocs()
      const change = yield* propose(ana, page)
      const revised = yield* propose(
        bob,
        { write: { "docs/page.md": "two\n" } },
        { changeNumber: change.change.number }
      )
      assert.strictEqual(yield* codeOf(approve(bob, revised)), "permission_denied")
      assert.strictEqual(yield* codeOf(approve(ana, revised)), "permission_denied")
      assert.isTrue((yield* approve(cleo, revised)).merged)
    })
  )

  it.effect("A12, A13, A14 every path has to be owned: two owners of one each are none, an administrator is", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const [ana, bob, cleo] = [yield* world.member(), yield* world.member(), yield* world.member()]
      yield* world.policy("x", { members: [bob] })
      yield* world.policy("y", { members: [cleo] })
      const change = yield* propose(ana, { write: { "x/1": "x", "y/1": "y" } })
      assert.strictEqual(change.change.status._tag, "Open")
      assert.strictEqual(yield* codeOf(approve(bob, change)), "permission_denied")
      assert.strictEqual(yield* codeOf(approve(cleo, change)), "permission_denied")
      assert.strictEqual((yield* see(bob, change)).approvalCount, 0)
      assert.isTrue((yield* approve(world.boss, change)).merged)
    })
  )

  it.effect("A15, A16, A17, A20 a rule for roles governs the authors who hold one, or held one then", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const writers = yield* world.role()
      const [ana, bob, cleo] = [yield* world.member([writers]), yield* world.member(), yield* world.member()]
      yield* world.policy("docs", { members: [ana, bob], required: 2, authorRoles: [writers] })
      const free = yield* propose(bob, page)
      assert.strictEqual(free.requiredApprovals, 0)
      assert.isTrue((yield* approve(bob, free)).merged)

      const narrowKey = new Principal({ ...ana, roles: [world.memberRole] })
      const governed = yield* propose(narrowKey, { write: { "docs/two.md": "2" } })
      assert.strictEqual(governed.requiredApprovals, 2)
      assert.strictEqual(yield* codeOf(approve(ana, governed)), "permission_denied")
      yield* world.holds(ana.memberId, [world.memberRole])
      assert.strictEqual((yield* see(ana, governed)).requiredApprovals, 2)

      const stranger = yield* propose(cleo, { write: { "docs/three.md": "3" } })
      assert.strictEqual(yield* codeOf(approve(cleo, stranger)), "permission_denied")
      assert.isTrue((yield* approve(bob, stranger)).merged)
    })
  )

  it.effect("A22 a rule that can never be met is told when it is saved, and never merges", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const ana = yield* world.member()
      const saved = yield* world.policy("docs", { members: [ana], required: 3, autoApprove: [{ pathGlobs: ["**"] }] })
      assert.deepStrictEqual(saved.warnings, [
        { _tag: "Unsatisfiable", folder: saved.policy.path, required: 3, population: 2 }
      ])
      const change = yield* propose(ana, page)
      assert.strictEqual(change.change.status._tag, "Open")
      assert.isFalse((yield* approve(world.boss, change)).merged)
      assert.strictEqual(yield* statusOf(ana, change), "open")
    })
  )

  it.effect("A23, A24 what is a draft, reserved, merged or denied is not approved", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const { ana, bob } = world
      const draft = yield* propose(ana, page, { draft: true })
      assert.strictEqual(yield* codeOf(approve(bob, draft)), "conflict")
      assert.isEmpty((yield* see(bob, draft)).change.approvals)
      const denied = yield* propose(ana, page)
      yield* deny(ana, denied)
      assert.strictEqual(yield* codeOf(approve(bob, denied)), "conflict")
      const merged = yield* propose(ana, page)
      yield* approve(bob, merged)
      const failure = yield* Effect.flip(approve(bob, merged))
      assert.strictEqual(failure.code, "conflict")
      assert.include(failure.message, "approved and merged")
      const reserved = yield* propose(ana, { write: { "docs/page.md": "other\n" } }, { base: draft.changeset.base })
      assert.strictEqual(reserved.change.status._tag, "Reserved")
      assert.strictEqual(yield* codeOf(approve(bob, reserved)), "conflict")
    })
  )

  it.effect("A26, A27 the count at the merge is of those who own it then", () =>
    Effect.gen(function* () {
      const world = yield* withDocs({ required: 2 })
      const { ana, bob, cleo } = world
      const change = yield* propose(ana, page)
      yield* approve(bob, change)
      yield* world.policy("docs", { members: [ana, cleo], required: 2 })
      const second = yield* approve(cleo, change)
      assert.deepStrictEqual([second.merged, second.approvalCount], [false, 1])

      const other = yield* propose(ana, { write: { "docs/other.md": "x" } })
      const admin = yield* world.admin
      yield* approve(admin, other)
      yield* world.holds(admin.memberId, [world.memberRole])
      assert.deepStrictEqual((yield* approve(cleo, other)).approvalCount, 1)
      yield* world.deactivate(cleo.memberId)
      assert.strictEqual((yield* see(ana, other)).approvalCount, 0)
    })
  )

  it.effect("an authority that is only in an old session's snapshot merges nothing", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const admin = yield* world.admin
      const change = yield* propose(world.ana, page)
      yield* world.holds(admin.memberId, [world.memberRole])
      assert.strictEqual(yield* codeOf(approve(admin, change)), "permission_denied")
    })
  )

  it.effect("A28 of several final approvals at once exactly one merges", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const change = yield* propose(world.ana, page)
      const rivals = [world.bob, world.cleo, world.boss]
      const outcomes = yield* Effect.forEach(rivals, (who) => codeOf(approve(who, change)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(outcomes.toSorted(), ["conflict", "conflict", "ok"])
      const library = yield* LibraryStore
      const head = Option.getOrThrow(yield* library.head(world.organizationId))
      const commit = Option.getOrThrow(yield* library.commit(world.organizationId, head))
      assert.deepStrictEqual(commit.parents, [change.changeset.base, change.change.gitRef])
      assert.lengthOf((yield* see(world.ana, change)).change.approvals, 1)
    })
  )

  it.effect("A29 an approval and a revision at once: one of them wins", () =>
    Effect.gen(function* () {
      for (const approvalFirst of [true, false]) {
        const { ana, bob } = yield* withDocs()
        const change = yield* propose(ana, page)
        const rivals = [
          codeOf(approve(bob, change)),
          codeOf(propose(ana, { write: { "docs/page.md": "two\n" } }, { changeNumber: change.change.number }))
        ]
        const outcomes = yield* Effect.all(approvalFirst ? rivals : rivals.toReversed(), { concurrency: "unbounded" })
        assert.deepStrictEqual(outcomes.toSorted(), ["conflict", "ok"])
      }
    })
  )

  it.effect(
    "A30, M15 a conflict at the merge reserves the change, changes nothing else, and a new changeset resolves it",
    () =>
      Effect.gen(function* () {
        const world = yield* withDocs()
        const { ana, bob, cleo } = world
        yield* approve(bob, yield* propose(ana, page))
        const late = yield* propose(ana, { write: { "docs/page.md": "late\n" } })
        const early = yield* propose(cleo, { write: { "docs/page.md": "early\n" } })
        yield* approve(bob, early)
        const refused = yield* Effect.flip(approve(bob, late))
        assert.strictEqual(refused.code, "conflict")
        assert.include(refused.message, "docs/page.md")
        const shown = yield* see(ana, late)
        assert.strictEqual(shown.change.status._tag, "Reserved")
        assert.deepStrictEqual(
          shown.conflicts.map(({ path }) => String(path)),
          ["docs/page.md"]
        )
        assert.include(shown.conflicts[0]?.view, "early")
        assert.include(shown.conflicts[0]?.view, "late")
        assert.deepStrictEqual(yield* world.library, { "docs/page.md": "early\n" })

        const resolved = yield* propose(
          ana,
          { write: { "docs/page.md": "both\n" } },
          { changeNumber: late.change.number }
        )
        assert.strictEqual(resolved.change.status._tag, "Open")
        assert.strictEqual(resolved.changeset.revision, 2)
        assert.isTrue((yield* approve(bob, resolved)).merged)
        assert.deepStrictEqual(yield* world.library, { "docs/page.md": "both\n" })
      })
  )

  it.effect("two changes of one text merge where they do not touch each other", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const { ana, bob } = world
      const text = (first: string, last: string) => ({ write: { "docs/page.md": `${first}\n2\n3\n4\n${last}\n` } })
      yield* approve(bob, yield* propose(ana, text("1", "5")))
      const one = yield* propose(ana, text("one", "5"))
      const two = yield* propose(ana, text("1", "five"))
      yield* approve(bob, one)
      assert.isTrue((yield* approve(bob, two)).merged)
      assert.deepStrictEqual(yield* world.library, { "docs/page.md": "one\n2\n3\n4\nfive\n" })
    })
  )
})
