import { Principal } from "@castellan/core/access/Principal"
import * as Changes from "@castellan/core/change/Changes"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Review from "./Review.ts"
import { approve, as, codeOf, propose, see } from "./Review.ts"
import { page, published, withDocs } from "./ReviewedDocs.ts"

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
