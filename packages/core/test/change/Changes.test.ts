import { Principal } from "@castellan/core/access/Principal"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import * as Changes from "@castellan/core/change/Changes"
import { FolderPolicies } from "@castellan/core/folderpolicy/FolderPolicies"
import { LibraryStore } from "@castellan/core/library/LibraryStore"
import { OntologyStore } from "@castellan/core/ontology/OntologyStore"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import * as Review from "./Review.ts"

const { approve, as, codeOf, deny, propose, restore, see, statusOf, submit } = Review

/** An organization where `docs` is ana's, bob's and cleo's, and asks for this. */
const withDocs = Effect.fnUntraced(function* (options: Omit<Review.Policy, "members"> = {}) {
  const world = yield* Review.organization
  const [ana, bob, cleo] = [yield* world.member(), yield* world.member(), yield* world.member()]
  yield* world.policy("docs", { ...options, members: [ana, bob, cleo] })
  return { ...world, ana, bob, cleo }
})

const page = { write: { "docs/page.md": "one\n" } }

/** Puts files into the library, whoever owns them. */
const published = Effect.fnUntraced(function* (
  world: Effect.Success<typeof Review.organization>,
  staged: Review.Staged
) {
  const other = yield* world.admin
  return yield* approve(other, yield* propose(world.boss, staged))
})

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

it.layer(Review.layer)("Proposing", (it) => {
  it.effect("A14, O14 what stages nothing is refused, also where the edits change nothing", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const failure = yield* Effect.flip(propose(world.ana, {}))
      assert.deepStrictEqual([failure.code, failure.message], ["invalid_request", "no staged library changes"])
      yield* approve(world.bob, yield* propose(world.ana, page))
      assert.strictEqual((yield* Effect.flip(propose(world.ana, page))).message, "no staged library changes")
    })
  )

  it.effect("A43 a title has 1 to 50 code points; a revision may leave it out", () =>
    Effect.gen(function* () {
      const { ana } = yield* withDocs()
      const named = (title: string) => codeOf(propose(ana, page, { title }))
      assert.strictEqual(yield* named("é".repeat(49) + "😀"), "ok")
      assert.strictEqual(yield* named("😀".repeat(51)), "invalid_request")
      assert.strictEqual(yield* named("  "), "invalid_request")
      for (const shown of ["two\nlines", "a\0b", "half a pair \ud83d", "turned \u202e round"]) {
        assert.strictEqual(yield* named(shown), "invalid_request", JSON.stringify(shown))
      }
      const changes = yield* Changes.Changes
      const staged = [{ _tag: "Delete", path: "docs/page.md" }] as const
      const nameless = changes.propose({ staged, draft: false, description: "x" }).pipe(as(ana))
      assert.strictEqual(yield* codeOf(nameless), "invalid_request")
      const wordless = changes.propose({ staged, draft: false, title: "x" }).pipe(as(ana))
      assert.strictEqual(yield* codeOf(wordless), "invalid_request")
      const first = yield* propose(ana, page, { title: "First" })
      const revised = yield* propose(ana, page, { changeNumber: first.change.number, description: "Another" })
      assert.deepStrictEqual([revised.change.title, revised.change.description], [first.change.title, "Another"])
    })
  )

  it.effect("a draft stays one when another revises it: only its author makes it ready", () =>
    Effect.gen(function* () {
      const { ana, bob } = yield* withDocs()
      const { change } = yield* propose(ana, page, { draft: true })
      const byAnother = yield* propose(bob, page, { changeNumber: change.number })
      assert.strictEqual(byAnother.change.status._tag, "Draft")
      const byAuthor = yield* propose(ana, page, { changeNumber: change.number })
      assert.strictEqual(byAuthor.change.status._tag, "Open")
    })
  )

  it.effect("A44 a change is revised by its author or an owner of every path; an unknown number is not found", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const stranger = yield* world.member()
      const change = yield* propose(world.ana, page)
      const changeNumber = change.change.number
      assert.strictEqual(
        yield* codeOf(propose(stranger, { write: { "new.md": "x" } }, { changeNumber })),
        "permission_denied"
      )
      assert.strictEqual(yield* codeOf(propose(world.bob, page, { changeNumber })), "ok")
      assert.strictEqual(yield* codeOf(propose(world.ana, page, { changeNumber: 99 })), "not_found")
      assert.strictEqual(yield* codeOf(propose(world.ana, page, { changeNumber: 1.5 })), "invalid_request")
      yield* approve(world.cleo, yield* see(world.ana, change))
      assert.strictEqual(yield* codeOf(propose(world.ana, page, { changeNumber })), "conflict")
    })
  )

  it.effect("O3, O4, O7 what is no path, and what is no file, is refused", () =>
    Effect.gen(function* () {
      const { ana } = yield* withDocs()
      for (const path of ["docs/../secrets/x", "/abs", "a\\b", "a\0b", ".git/config", "docs/./x", ""]) {
        assert.strictEqual(yield* codeOf(propose(ana, { write: { [path]: "x" } })), "invalid_request", path)
      }
      assert.strictEqual(yield* codeOf(propose(ana, { write: { "docs/a": "x", "docs/A": "y" } })), "invalid_request")
      const changes = yield* Changes.Changes
      for (const mode of ["120000", "160000"] as const) {
        const staged = [{ _tag: "Write", path: "docs/x", content: new Uint8Array(), mode }] as const
        const proposed = changes.propose({ staged, draft: false, title: "x", description: "x" }).pipe(as(ana))
        assert.strictEqual(yield* codeOf(proposed), "invalid_request")
      }
      const composed = yield* propose(ana, { write: { "docs/e\u0301.md": "x" } })
      assert.deepStrictEqual(composed.change.paths.map(String), ["docs/\u00e9.md"])
    })
  )

  it.effect("O5, O6, O7, O15, O16 what the mount does not hold for the caller cannot be moved, deleted or edited", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const { ana } = world
      const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`docs/${index}`, "x"]))
      yield* published(world, { write: { "a/x": "the very same text\n", ...many } })
      const move = { write: { "docs/x": "the very same text\n" }, remove: ["a/x"] }
      assert.strictEqual(yield* codeOf(propose(ana, move)), "permission_denied")
      assert.strictEqual(yield* codeOf(propose(ana, { remove: ["a/x"] })), "permission_denied")
      assert.strictEqual(yield* codeOf(propose(ana, { write: { "a/x": "edited" } })), "permission_denied")
      // Nor is it said whether a guess of what a file holds is right.
      assert.strictEqual(yield* codeOf(propose(ana, { write: { "a/x": "the very same text\n" } })), "permission_denied")
      assert.strictEqual(yield* codeOf(propose(ana, { write: { a: "a file for a folder" } })), "permission_denied")
      assert.strictEqual(
        yield* codeOf(propose(ana, { write: { "a/x/y": "a folder for a file" } })),
        "permission_denied"
      )
      const all = Object.fromEntries(Object.keys(many).map((path) => [path, "y"]))
      assert.strictEqual(yield* codeOf(propose(ana, { write: { ...all, "a/x": "edited" } })), "permission_denied")
      assert.strictEqual(yield* codeOf(propose(ana, { write: all })), "ok")
      const changes = yield* Changes.Changes
      const executable = {
        _tag: "Write",
        path: "a/x",
        content: new TextEncoder().encode("the very same text\n"),
        mode: "100755"
      } as const
      const proposed = changes
        .propose({ staged: [executable], draft: false, title: "x", description: "x" })
        .pipe(as(ana))
      assert.strictEqual(yield* codeOf(proposed), "permission_denied")

      const mounted = yield* changes.mount.pipe(as(ana))
      const texts = yield* Review.textsOf(world.organizationId, mounted.tree)
      assert.deepStrictEqual(Object.keys(texts).toSorted(), Object.keys(many).toSorted())
      const stranger = yield* world.member()
      assert.strictEqual((yield* changes.mount.pipe(as(stranger))).tree.fileCount, 0)
    })
  )

  it.effect("O5 a rename is approved by an owner of both ends", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      yield* published(world, { write: { "a/x": "the very same text\n" } })
      const rename = yield* propose(world.boss, { write: { "docs/x": "the very same text\n" }, remove: ["a/x"] })
      assert.deepStrictEqual(
        rename.files.map(({ diff }) => [diff.isRename, diff.oldPath, diff.newPath]),
        [[true, "a/x", "docs/x"]]
      )
      assert.strictEqual(yield* codeOf(approve(world.ana, rename)), "permission_denied")
      assert.isTrue((yield* approve(yield* world.admin, rename)).merged)
    })
  )

  it.effect("M12 reject files and markers of ours are not filed again", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const { ana, bob, cleo } = world
      const first = yield* propose(ana, page)
      yield* approve(bob, yield* propose(cleo, { write: { "docs/page.md": "other\n" } }))
      const late = yield* propose(ana, { write: { "docs/page.md": "late\n" } }, { base: first.changeset.base })
      const rejected = late.rejected
      assert.isDefined(rejected)
      if (rejected === undefined) return
      const texts = yield* Review.textsOf(world.organizationId, rejected.tree)
      assert.strictEqual(texts["docs/page.md"], "other\n")
      assert.include(texts["docs/page.md.rej"], "+late")
      const again = (write: { readonly [path: string]: string }) =>
        codeOf(propose(ana, { write }, { changeNumber: late.change.number, base: rejected.id }))
      assert.strictEqual(yield* again({ "docs/page.md.rej": texts["docs/page.md.rej"] ?? "" }), "invalid_request")
      assert.strictEqual(yield* again({ "docs/page.md": late.conflicts[0]?.view ?? "" }), "invalid_request")
      assert.strictEqual(yield* again({ "docs/page.md": "other\nlate\n" }), "ok")
    })
  )

  it.effect("what is in conflict on a path of others is told without what they have there", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const change = yield* propose(world.ana, { write: { "secret/x": "mine\n" } })
      yield* published(world, { write: { "secret/x": "the secret\n" } })
      assert.strictEqual(yield* codeOf(approve(world.boss, change)), "conflict")
      const seen = yield* see(world.ana, change)
      assert.strictEqual(seen.change.status._tag, "Reserved")
      assert.isAbove(seen.conflicts.length, 0)
      assert.notInclude(JSON.stringify(seen.conflicts), "the secret")
      assert.include(JSON.stringify((yield* see(world.boss, change)).conflicts), "the secret")
    })
  )

  it.effect("O16 files that are hidden are not guessed by staging on a version in which they were not there yet", () =>
    Effect.gen(function* () {
      const { admin, boss, member, policy } = yield* Review.organization
      const [ana, other] = [yield* member(), yield* admin]
      yield* policy("docs", { members: [ana] })
      yield* approve(other, yield* propose(boss, { write: { "docs/page.md": "one\n" } }))
      const { id: base } = yield* Changes.Changes.use((changes) => changes.mount).pipe(as(ana))
      yield* approve(other, yield* propose(boss, { write: { "secret/salary": "1000" } }))
      for (const guess of ["900", "1000"]) {
        const guessed = propose(ana, { write: { "secret/salary": guess } }, { base })
        assert.strictEqual(yield* codeOf(guessed), "permission_denied", guess)
      }
      const edit = { write: { "docs/page.md": "two\n", "secret/new": "anybody may propose this" } }
      assert.strictEqual(yield* codeOf(propose(ana, edit, { base })), "ok")
    })
  )

  it.effect("proposing needs its permission, and an unknown base is refused", () =>
    Effect.gen(function* () {
      const { ana } = yield* withDocs()
      const powerless = new Principal({ ...ana, roles: [] })
      assert.strictEqual(yield* codeOf(propose(powerless, page)), "permission_denied")
      assert.strictEqual(yield* codeOf(propose(ana, page, { base: "0".repeat(40) })), "invalid_request")
      assert.strictEqual(yield* codeOf(propose(ana, page, { base: "main" })), "invalid_request")
    })
  )

  it.effect("numbers are unique and gapless, whoever proposes at the same time and whatever is refused", () =>
    Effect.gen(function* () {
      const { ana, bob, cleo } = yield* withDocs()
      const writers = [ana, bob, cleo, ana, bob, cleo]
      const made = yield* Effect.forEach(
        writers,
        (who, index) =>
          propose(who, index % 3 === 2 ? {} : { write: { [`docs/${index}.md`]: "x" } }).pipe(
            Effect.map((view) => Number(view.change.number)),
            Effect.orElseSucceed(() => 0)
          ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(made.toSorted(), [0, 0, 1, 2, 3, 4])
    })
  )
})

it.layer(Review.layer)("The ontology's folder", (it) => {
  it.effect("is the organization's ontology once it is merged", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      yield* published(world, { write: { "ontology/sales.malloy": "source: sales", "docs/x": "y" } })
      const ontology = yield* OntologyStore
      assert.deepStrictEqual(yield* ontology.files(world.organizationId), [
        { path: "sales.malloy", content: "source: sales" }
      ])
    })
  )

  it.effect("is refused with file, line and column where it does not compile", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const failure = yield* Effect.flip(propose(world.boss, { write: { "ontology/sales.malloy": "ok\nbroken" } }))
      assert.deepStrictEqual(
        [failure.code, failure.message],
        ["invalid_request", "ontology/sales.malloy:2:1: it is broken"]
      )
      assert.strictEqual(yield* codeOf(propose(world.boss, { write: { "docs/x": "broken" } })), "ok")
    })
  )

  it.effect("is reserved where it no longer compiles at the merge", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const admin = yield* world.admin
      const one = yield* propose(world.boss, { write: { "ontology/one.malloy": "needs two" } })
      const two = yield* propose(world.boss, { write: { "ontology/two.malloy": "two is not needed" } })
      yield* approve(admin, two)
      const failure = yield* Effect.flip(approve(admin, one))
      assert.strictEqual(failure.code, "conflict")
      const shown = yield* see(world.boss, one)
      assert.deepStrictEqual(
        [shown.change.status._tag, shown.conflicts[0]?.view],
        ["Reserved", "ontology/one.malloy:1:1: two is not needed\n"]
      )
      const ontology = yield* OntologyStore
      assert.lengthOf(yield* ontology.files(world.organizationId), 1)
    })
  )

  it.effect("M14 a merge that breaks down is an internal error, and leaves everything as it was", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const admin = yield* world.admin
      const change = yield* propose(world.boss, { write: { "ontology/one.malloy": "breaks the compiler" } })
      yield* published(world, { write: { "ontology/two.malloy": "two is not needed" } })
      const before = yield* world.library
      const exit = yield* Effect.exit(approve(admin, change))
      assert.isTrue(Exit.hasDies(exit))
      assert.deepStrictEqual((yield* see(world.boss, change)).change, change.change)
      assert.deepStrictEqual(yield* world.library, before)
    })
  )

  it.effect("begins with the ontology that the organization has", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const ontology = yield* OntologyStore
      yield* ontology.replace(world.organizationId, [{ path: "old.malloy", content: "source: old" }])
      yield* published(world, { write: { "ontology/new.malloy": "source: new" } })
      assert.deepStrictEqual(
        (yield* ontology.files(world.organizationId)).map(({ path }) => path),
        ["new.malloy", "old.malloy"]
      )
    })
  )
})

it.layer(Review.layer)("Seeing", (it) => {
  it.effect("a change is there for its author and for owners of its paths, and for nobody else", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const stranger = yield* world.member()
      yield* world.policy("x", { members: [stranger] })
      const change = yield* propose(world.ana, page)
      const changes = yield* Changes.Changes
      const listed = (who: Principal) =>
        Effect.map(changes.list({ limit: 50, includeAutoApproved: false }).pipe(as(who)), ({ counts, items }) => [
          items.length,
          counts.open
        ])
      for (const who of [world.ana, world.bob, world.boss]) {
        assert.strictEqual(yield* codeOf(see(who, change)), "ok")
        assert.deepStrictEqual(yield* listed(who), [1, 1])
      }
      assert.deepStrictEqual(yield* listed(stranger), [0, 0])
      const verbs = [
        codeOf(see(stranger, change)),
        codeOf(approve(stranger, change)),
        codeOf(deny(stranger, change)),
        codeOf(restore(stranger, change)),
        codeOf(submit(stranger, change))
      ]
      for (const verb of verbs) assert.strictEqual(yield* verb, "not_found")
      const foreign = yield* Review.organization
      assert.strictEqual(yield* codeOf(see(foreign.boss, change)), "not_found")
    })
  )

  it.effect("a change of one end user is not there for another one behind the same member", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const account = yield* world.member()
      const speaksFor = (tenant: string) =>
        new Principal({
          ...account,
          restricted: true,
          clientMetadata: { text: JSON.stringify({ tenant }), attributes: { tenant } }
        })
      const change = yield* propose(speaksFor("a"), { write: { "new.md": "x" } }, { draft: true })
      assert.strictEqual(yield* codeOf(see(speaksFor("a"), change)), "ok")
      assert.strictEqual(yield* codeOf(see(speaksFor("b"), change)), "not_found")
      assert.strictEqual(yield* codeOf(submit(speaksFor("b"), change)), "not_found")
      assert.strictEqual(yield* codeOf(see(new Principal({ ...account, restricted: true }), change)), "not_found")
      assert.strictEqual(yield* codeOf(submit(new Principal({ ...account, restricted: false }), change)), "ok")
      const own = yield* propose(new Principal({ ...account, restricted: true }), { write: { "own.md": "x" } })
      assert.strictEqual(yield* codeOf(deny(new Principal({ ...account, restricted: true }), own)), "ok")
    })
  )

  it.effect("a reader is shown what it does to the paths that they own", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const change = yield* propose(world.ana, { write: { "docs/page.md": "1", "x/hidden": "2" } })
      const names = (who: Principal) => Effect.map(see(who, change), ({ files }) => files.map(({ diff }) => diff.name))
      assert.deepStrictEqual(yield* names(world.bob), ["docs/page.md"])
      assert.deepStrictEqual(yield* names(world.ana), ["docs/page.md", "x/hidden"])
      assert.deepStrictEqual(yield* names(world.boss), ["docs/page.md", "x/hidden"])
    })
  )

  it.effect("a revision is shown by its number", () =>
    Effect.gen(function* () {
      const { ana, bob } = yield* withDocs()
      const change = yield* propose(ana, page)
      yield* propose(ana, { write: { "docs/page.md": "two\n" } }, { changeNumber: change.change.number })
      assert.strictEqual((yield* see(bob, change)).changeset.revision, 2)
      assert.include((yield* see(bob, change, 1)).files[0]?.patch, "+one")
      assert.strictEqual(yield* codeOf(see(bob, change, 3)), "not_found")
      assert.strictEqual(yield* codeOf(see(bob, change, 0)), "invalid_request")
    })
  )

  it.effect("a list is by status, in pages, with the counts of all, without what approved itself unless asked", () =>
    Effect.gen(function* () {
      const world = yield* withDocs({ autoApprove: [{ pathGlobs: ["docs/auto/*"] }] })
      const { ana, bob } = world
      const numbers: Array<number> = []
      for (let index = 0; index < 5; index += 1) {
        numbers.unshift(
          (yield* propose(ana, { write: { [`docs/${index}`]: "x" } }, { draft: index === 4 })).change.number
        )
        yield* TestClock.adjust("1 second")
      }
      yield* propose(ana, { write: { "docs/auto/1": "x" } })
      const changes = yield* Changes.Changes
      const list = (query: Partial<Parameters<typeof changes.list>[0]>) =>
        changes.list({ limit: 50, includeAutoApproved: false, ...query }).pipe(as(bob))
      const all = yield* list({})
      assert.deepStrictEqual(
        all.items.map(({ change }) => Number(change.number)),
        numbers
      )
      assert.deepStrictEqual(all.counts, { draft: 1, open: 4, reserved: 0, approved: 0, denied: 0 })
      assert.strictEqual((yield* list({ includeAutoApproved: true })).counts.approved, 1)
      assert.lengthOf((yield* list({ statuses: ["draft", "denied"] })).items, 1)

      const first = yield* list({ limit: 2 })
      yield* propose(ana, { write: { "docs/later": "x" } })
      const seen = first.items.map(({ change }) => Number(change.number))
      let next = first.next
      while (next !== undefined) {
        const more = yield* list({ limit: 2, after: next })
        seen.push(...more.items.map(({ change }) => Number(change.number)))
        next = more.next
      }
      assert.deepStrictEqual(seen, numbers)
    })
  )

  it.effect("capabilities are what the use cases do", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const change = yield* propose(world.ana, page)
      const of = (who: Principal) => Effect.map(see(who, change), ({ capabilities }) => capabilities)
      assert.deepStrictEqual(yield* of(world.ana), {
        canApprove: false,
        canDeny: true,
        canRestore: false,
        callerApproved: false
      })
      assert.deepStrictEqual(yield* of(world.bob), {
        canApprove: true,
        canDeny: true,
        canRestore: false,
        callerApproved: false
      })
      yield* deny(world.bob, change)
      assert.deepStrictEqual(yield* of(world.ana), {
        canApprove: false,
        canDeny: false,
        canRestore: true,
        callerApproved: false
      })
    })
  )
})

it.layer(Review.layer)("On the record", (it) => {
  const record = (world: { readonly organizationId: Principal["organizationId"] }) =>
    AuditStore.use((audit) => audit.list(world.organizationId, { limit: 50, targetType: "change" })).pipe(
      Effect.map(({ items }) => items.map(({ action, outcome }) => `${action} ${outcome._tag}`).toSorted())
    )

  it.effect("is everything that was done to a change, in the same transaction, and every refusal", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const { ana, bob } = world
      const change = yield* propose(ana, page, { draft: true })
      yield* codeOf(approve(ana, change))
      yield* submit(ana, change)
      yield* deny(ana, change)
      yield* restore(ana, change)
      const revised = yield* propose(ana, page, { changeNumber: change.change.number })
      yield* approve(bob, revised)
      assert.deepStrictEqual(yield* record(world), [
        "approve Refused",
        "approve Succeeded",
        "create Succeeded",
        "deny Succeeded",
        "merge Succeeded",
        "restore Succeeded",
        "revise Succeeded",
        "submit Succeeded"
      ])
    })
  )

  it.effect("is nothing of what a conflict undid, and the reserving that it left", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const late = yield* propose(world.ana, page)
      yield* codeOf(approve(world.bob, late, "0".repeat(40)))
      assert.deepStrictEqual(yield* record(world), ["create Succeeded"])
      yield* approve(world.bob, yield* propose(world.cleo, { write: { "docs/page.md": "first\n" } }))
      yield* codeOf(approve(world.bob, late))
      assert.include(yield* record(world), "update Succeeded")
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
