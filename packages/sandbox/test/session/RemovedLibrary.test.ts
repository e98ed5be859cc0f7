/** What is told of a library whose whole folder a program took away, or put something else in the place of. */
import { LibraryPath } from "@castellan/core/library/LibraryPath"
import { OrganizationId } from "@castellan/core/organization/Organization"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import * as KernelSession from "@castellan/sandbox/session/KernelSession"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as PlainPython from "../support/PlainPython.ts"

const file = (path: string) => ({ path: LibraryPath.make(path), content: Buffer.from(path) })

const library = [file("guide.md"), file("team/terms.md")]

const spec = {
  id: SandcastleId.make("removed"),
  organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
  library
}

const replacements = [
  ["nothing", "pass"],
  ["a link to another folder", 'import os; os.symlink("/etc", "library")'],
  ["a link to itself", 'import os; os.symlink("library", "library")'],
  ["a file", 'open("library", "w").close()']
] as const

describe.skipIf(!PlainPython.isAvailable)("a library that is taken away", { timeout: 300_000 }, () => {
  it.live.each(replacements)("is all deleted, with %s in its place, and can be mounted again", ([, replace]) =>
    Effect.gen(function* () {
      const session = yield* KernelSession.open(PlainPython.tier(), spec, undefined)
      const code = `import shutil; shutil.rmtree("library")\n${replace}`
      yield* Stream.runDrain(
        session.exec({ language: "python", code, within: "session", timeout: Duration.seconds(60) })
      )
      assert.deepStrictEqual(
        (yield* session.diff(library)).map(({ _tag, path }) => [_tag, path]),
        [
          ["Deleted", "guide.md"],
          ["Deleted", "team/terms.md"]
        ]
      )
      yield* session.mountLibrary(library)
      assert.deepStrictEqual(yield* session.diff(library), [])
    }).pipe(Effect.scoped)
  )
})
