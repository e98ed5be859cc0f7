import { Changes } from "@castellan/core/change/Changes"
import { FolderPolicies } from "@castellan/core/folderpolicy/FolderPolicies"
import { Owner } from "@castellan/core/folderpolicy/FolderPolicy"
import * as Tree from "@castellan/core/library/Tree"
import * as TextBytes from "@castellan/core/library/TextBytes"
import * as LibraryStaging from "@castellan/core/sandcastle/LibraryStaging"
import { LibraryEdit, SandboxRuntime, type SandboxSession } from "@castellan/core/sandcastle/SandboxRuntime"
import type { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import { as, refused } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as ScriptedSandbox from "@castellan/testing/scripted/ScriptedSandbox"
import { BlobContents } from "@castellan/core/library/Blob"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Scope } from "effect"

/** Sandboxes whose sessions outlive whoever opened them: one that is opened again is taken up as it was left. */
const layerOutliving = Layer.effect(
  SandboxRuntime,
  Effect.gen(function* () {
    const runtime = yield* SandboxRuntime
    const scope = yield* Effect.scope
    const left = new Map<SandcastleId, SandboxSession>()
    return SandboxRuntime.of({
      ...runtime,
      open: (spec) => {
        const before = left.get(spec.id)
        if (before !== undefined) return Effect.succeed({ ...before, resumed: true })
        return Effect.tap(Scope.provide(runtime.open(spec), scope), (session) =>
          Effect.sync(() => left.set(spec.id, session))
        )
      }
    })
  })
).pipe(Layer.provide(ScriptedSandbox.layer()))

/** An organization whose library has two folders, `docs` of them a writer's own. */
const world = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const admin = Fixture.adminOf(tenant)
  const writer = yield* Fixture.someone(tenant, { fullMemberAccess: true })
  const policy = (path: string, owners: ReadonlyArray<Owner>) =>
    FolderPolicies.use((policies) =>
      policies.save({
        path,
        owners,
        inheritOwners: true,
        requiredApprovals: 1,
        distinctApprovers: false,
        authorRoles: [],
        autoApprove: []
      })
    ).pipe(as(admin))
  yield* policy("", [Owner.cases.Role.make({ id: tenant.adminRole.id })])
  yield* policy("docs", [Owner.cases.Member.make({ id: writer.memberId })])
  const publish = Effect.fnUntraced(function* (files: { readonly [path: string]: string }) {
    const changes = yield* Changes
    const { change } = yield* changes.propose({
      staged: Object.entries(files).map(([path, text]) => ({
        _tag: "Write" as const,
        path,
        content: TextBytes.encode(text)
      })),
      title: "Publish",
      description: "x",
      draft: false
    })
    yield* changes.approve(change.id, change.gitRef)
  }, as(admin))
  yield* publish({ "docs/guide.md": "one\ntwo\nthree\n", "docs/terms.md": "none\n", "secret/plan.md": "hush\n" })
  return { admin, publish, tenant, writer }
})

const start = Sandcastles.use((sandcastles) => sandcastles.start())

const pathsOf = Effect.map(
  ScriptedSandbox.ScriptedSandbox.use((sandbox) => sandbox.opened),
  (specs) => specs.at(-1)?.library.map(({ path }) => String(path))
)

describe("the library in a sandcastle", () => {
  it.effect("O16 holds what its maker owns, and nothing else", () =>
    Effect.gen(function* () {
      const { admin, tenant, writer } = yield* world
      const castle = yield* as(writer)(start)
      assert.deepStrictEqual(yield* pathsOf, ["docs/guide.md", "docs/terms.md"])
      assert.strictEqual(
        yield* refused(
          as(writer)(Sandcastles.use((sandcastles) => sandcastles.download(castle.id, "library/secret/plan.md")))
        ),
        "not_found: there is no file library/secret/plan.md"
      )
      yield* as(admin)(start)
      assert.deepStrictEqual(yield* pathsOf, ["docs/guide.md", "docs/terms.md", "secret/plan.md"])
      yield* as(yield* Fixture.someone(tenant))(start)
      assert.deepStrictEqual(yield* pathsOf, [])
      const blind = yield* Fixture.role(tenant.organizationId, { permissions: ["sandcastle:execute"] })
      yield* as(yield* Fixture.someone(tenant, { roles: [blind] }))(start)
      assert.deepStrictEqual(yield* pathsOf, [])
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("what was done to it is shown, and becomes a change", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { admin, writer } = yield* world
      const { id } = yield* as(writer)(start)
      const propose = as(writer)(
        sandcastles.proposeLibraryChange(id, { title: "Better", description: "x", draft: false })
      )
      assert.isFalse((yield* as(writer)(sandcastles.libraryDiff(id))).hasChanges)
      assert.strictEqual(yield* refused(propose), "invalid_request: no staged library changes")
      const run = (code: string) => as(writer)(sandcastles.execute(id, { code, source: "platform_api" }))
      yield* run('open("library/docs/guide.md", "w").write("one\\n2\\nthree\\n")')
      yield* run('open("library/docs/new.md", "w").write("new\\n")')
      yield* run('import os; os.remove("library/docs/terms.md")')
      const diff = yield* as(writer)(sandcastles.libraryDiff(id))
      assert.deepStrictEqual(
        diff.diffs.map(({ additions, deletions, name }) => [name, additions, deletions]),
        [
          ["docs/guide.md", 1, 1],
          ["docs/new.md", 1, 0],
          ["docs/terms.md", 0, 1]
        ]
      )
      assert.include(diff.raw, "-two\n+2\n")
      const { change } = yield* propose
      assert.strictEqual(change.status._tag, "Open")
      // Who looks at the sandcastle of another sees no change of it either.
      assert.strictEqual(yield* refused(as(admin)(sandcastles.libraryDiff(id))), "not_found: sandcastle not found")
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("what was done to that of a session which is taken up again is told against what it was mounted from", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { publish, writer } = yield* world
      const castle = yield* as(writer)(start)
      const code = 'open("library/docs/guide.md", "w").write("one\\n2\\nthree\\n")'
      yield* as(writer)(sandcastles.execute(castle.id, { code, source: "platform_api" }))
      // Meanwhile others go on: what the session holds of that file is older, and no edit of it.
      yield* publish({ "docs/terms.md": "some\n" })
      yield* as(writer)(sandcastles.start({ id: castle.id }))
      const diff = yield* as(writer)(sandcastles.libraryDiff(castle.id))
      assert.deepStrictEqual(
        diff.diffs.map(({ name }) => name),
        ["docs/guide.md"]
      )
    }).pipe(Effect.provide(Deployment.layer({ sandbox: layerOutliving })))
  )

  it.effect("a link is no part of a change, and is said to be none", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { writer } = yield* world
      const { id } = yield* as(writer)(start)
      const code = 'import os; os.symlink("/etc/passwd", "library/docs/leak")'
      yield* as(writer)(sandcastles.execute(id, { code, source: "platform_api" }))
      const diff = yield* as(writer)(sandcastles.libraryDiff(id))
      assert.deepStrictEqual([diff.hasChanges, diff.rejected], [false, [{ path: "docs/leak", reason: "a link" }]])
      assert.match(
        yield* refused(
          as(writer)(sandcastles.proposeLibraryChange(id, { title: "Leak", description: "x", draft: false }))
        ),
        /^invalid_request: path "docs\/leak" cannot be part of a change: a link$/u
      )
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("where there are conflicts, the session goes on from the live version, with reject files", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { publish, writer } = yield* world
      const { id } = yield* as(writer)(start)
      const run = (code: string) => as(writer)(sandcastles.execute(id, { code, source: "platform_api" }))
      yield* run('open("library/docs/guide.md", "w").write("one\\nmine\\nthree\\n")')
      yield* publish({ "docs/guide.md": "one\ntheirs\nthree\n" })
      const proposed = yield* as(writer)(
        sandcastles.proposeLibraryChange(id, { title: "Mine", description: "x", draft: false })
      )
      assert.strictEqual(proposed.change.status._tag, "Reserved")
      const files = yield* as(writer)(sandcastles.listFiles(id, "library/docs"))
      assert.include(
        files.map(({ path }) => path),
        "library/docs/guide.md.rej"
      )
      const guide = yield* as(writer)(sandcastles.download(id, "library/docs/guide.md"))
      assert.deepStrictEqual(TextBytes.decode(guide.content), Option.some("one\ntheirs\nthree\n"))
      yield* run('open("library/docs/guide.md", "w").write("one\\nboth\\nthree\\n")')
      yield* run('import os; os.remove("library/docs/guide.md.rej")')
      const again = yield* as(writer)(
        sandcastles.proposeLibraryChange(id, { draft: false, changeNumber: Number(proposed.change.number) })
      )
      assert.deepStrictEqual([again.change.id, again.change.status._tag], [proposed.change.id, "Open"])
    }).pipe(Effect.provide(Deployment.layer()))
  )
})

describe("edits of a session", () => {
  const { Added, Deleted, Rejected } = LibraryEdit.cases
  const content = TextBytes.encode("x")
  const staged = (...edits: ReadonlyArray<LibraryEdit>) =>
    LibraryStaging.staged(undefined, Tree.empty, BlobContents.empty, edits)

  it("that cannot be in a library are told, and hide none of the others", () => {
    const { changes, rejected } = staged(
      Added.make({ path: "fine.md", content }),
      Added.make({ path: "../escape", content }),
      Added.make({ path: ".git/config", content }),
      Added.make({ path: "a\\b", content }),
      Deleted.make({ path: "never-there.md" }),
      Rejected.make({ path: "leak", reason: "a link" })
    )
    assert.deepStrictEqual(
      changes.map(({ path }) => String(path)),
      ["fine.md"]
    )
    assert.deepStrictEqual(rejected.map(({ path }) => path).toSorted(), [
      "../escape",
      ".git/config",
      "a\\b",
      "leak",
      "never-there.md"
    ])
  })
})
