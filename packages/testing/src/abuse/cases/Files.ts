/** Programs that lay traps in files for whoever reads them: 33 to 35, 47. */
import * as SandboxPath from "@castellan/core/sandcastle/SandboxPath"
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type AbuseCase, alive, at, daring, library, opened, realSystem, run, survives } from "../Abuse.ts"
import { secret } from "../HostWatch.ts"

const traps = (secretPath: string) => `
import os
def make(action):
    try: action()
    except (OSError, AttributeError, NotImplementedError): pass
make(lambda: os.symlink(${JSON.stringify(secretPath)}, "library/leak.md"))
make(lambda: os.symlink("/etc/passwd", "outputs/leak.md"))
make(lambda: os.symlink("/", "library/folder"))
make(lambda: os.symlink("../../..", "library/up"))
make(lambda: os.symlink("loop", "library/loop"))
make(lambda: os.link("/etc/passwd", "library/hard.md"))
make(lambda: os.mkfifo("library/fifo.md"))
make(lambda: os.mkfifo("outputs/fifo.md"))
make(lambda: open("library/with\\nnewline.md", "w").write("x"))
make(lambda: open(b"library/no-utf8-\\xff.md", "w").write("x"))
make(lambda: (open("library/setuid.md", "w").write("x"), os.chmod("library/setuid.md", 0o6755)))
make(lambda: open("library/-rf", "w").write("x"))
`

/** Swaps a file and a link to somewhere else for as long as it may, after its execution has ended. */
const swapping = (secretPath: string) => `
import os, sys
if os.fork() == 0:
    for _ in range(20_000):
        try:
            os.symlink(${JSON.stringify(secretPath)}, "library/swap.tmp"); os.replace("library/swap.tmp", "library/guide.md")
            open("library/swap.tmp", "w").write("# Other\\n"); os.replace("library/swap.tmp", "library/guide.md")
            os.rename("library/team", "library/team.old"); os.symlink("/etc", "library/team")
            os.unlink("library/team"); os.rename("library/team.old", "library/team")
        except OSError: pass
    os._exit(0)
`

/** The cases. */
export const cases: ReadonlyArray<AbuseCase> = [
  {
    number: 33,
    title: "links, pipes, odd names and odd modes in the library are told as rejected, and nobody follows them",
    run: Effect.fnUntraced(function* (host) {
      const session = yield* opened
      yield* run(session, traps(host.secretPath))
      const edits = yield* session.diff(library)
      const byPath = new Map(edits.map((edit) => [edit.path, edit]))
      for (const path of ["leak.md", "folder", "up", "loop"]) {
        assert.strictEqual(byPath.get(path)?._tag, "Rejected", `${path}: ${JSON.stringify([...byPath.keys()])}`)
      }
      for (const edit of edits) {
        if (!("content" in edit)) continue
        const text = new TextDecoder().decode(edit.content)
        assert.notInclude(text, secret)
        assert.notInclude(text, "root:")
        assert.notInclude(edit.path, "\n")
      }
      for (const path of [
        "library/leak.md",
        "outputs/leak.md",
        "library/fifo.md",
        "outputs/fifo.md",
        "library/folder/etc/passwd"
      ]) {
        assert.isTrue(Result.isFailure(yield* Effect.result(session.download(at(path)))), path)
      }
      // A file that is put where a link lies replaces the link, or is refused.
      yield* Effect.ignore(session.upload(at("library/leak.md"), new TextEncoder().encode("mine")))
      yield* Effect.ignore(session.upload(at("library/folder/made.txt"), new TextEncoder().encode("mine")))
      const listed = yield* session.list(at("library"))
      for (const { path } of listed) assert.notMatch(path, /[\p{Cc}\p{Cs}]/u)
      yield* alive(session)
    })
  },
  {
    number: 34,
    title: "a link that is swapped in while the library is read leads nobody astray",
    applies: realSystem,
    run: Effect.fnUntraced(function* (host) {
      const session = yield* opened
      yield* daring(session, swapping(host.secretPath), { within: "process" })
      yield* daring(session, swapping(host.secretPath))
      for (let turn = 0; turn < 20; turn += 1) {
        const told = yield* Effect.result(session.diff(library))
        const file = yield* Effect.result(session.download(at("library/guide.md")))
        if (Result.isSuccess(file)) assert.notInclude(new TextDecoder().decode(file.success), secret)
        if (Result.isFailure(told)) continue
        for (const edit of told.success) {
          if ("content" in edit) assert.notInclude(new TextDecoder().decode(edit.content), secret)
        }
      }
      yield* survives(session)
    })
  },
  {
    number: 35,
    title: "a library that is written to is the session's own copy",
    run: Effect.fnUntraced(function* () {
      const session = yield* opened
      yield* run(session, 'open("library/guide.md", "w").write("# Mine")')
      const other = yield* opened
      const guide = new TextDecoder().decode(yield* other.download(at("library/guide.md")))
      assert.strictEqual(guide, "# Guide\n")
      assert.deepStrictEqual(yield* other.diff(library), [])
    })
  },
  {
    number: 47,
    title: "paths that lead out, hide or mean another thing elsewhere are refused",
    run: Effect.fnUntraced(function* () {
      const { capabilities } = yield* SandboxRuntime
      assert.isDefined(capabilities)
      for (const path of [
        "../etc/passwd",
        "uploads/../../etc/passwd",
        "/etc/passwd",
        "uploads//x",
        "uploads/\u0000x",
        "uploads/.hidden",
        "uploads/e\u0301.txt",
        "uploads/CON",
        "uploads/nul.txt",
        "uploads/a\\b",
        "uploads/x ",
        "uploads/x.",
        "uploads/\u202etxt.exe",
        `uploads/${"x".repeat(300)}`,
        ""
      ]) {
        assert.isTrue(Result.isFailure(SandboxPath.parse(path)), JSON.stringify(path))
      }
      const session = yield* opened
      const bytes = new TextEncoder().encode("é")
      yield* session.upload(at("uploads/é.txt"), bytes)
      assert.deepStrictEqual(Uint8Array.from(yield* session.download(at("uploads/é.txt"))), bytes)
      // A folder where a file is to go, and a file where a folder is to go.
      yield* session.upload(at("uploads/one/file.txt"), bytes)
      assert.isTrue(Result.isFailure(yield* Effect.result(session.upload(at("uploads/one"), bytes))))
      assert.isTrue(Result.isFailure(yield* Effect.result(session.upload(at("uploads/é.txt/x"), bytes))))
      assert.isTrue(Result.isFailure(yield* Effect.result(session.download(at("uploads/one")))))
      assert.isTrue(Result.isFailure(yield* Effect.result(session.remove(at("library")))))
      yield* alive(session)
    })
  }
]
