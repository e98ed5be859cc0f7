/**
 * What every sandbox keeps to: sessions that remember, run, are stopped and end; files that stay inside; a library whose
 * edits are told; limits that hold. It speaks the plainest Python and shell, so that any interpreter passes it. Real
 * sandboxes prove their walls in suites of their own.
 *
 * Source: decisions.md §7.
 */
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import { LibraryPath } from "@castellan/core/library/LibraryPath"
import { OrganizationId } from "@castellan/core/organization/Organization"
import {
  type ExecEvent,
  type ExecRequest,
  type LibraryFile,
  SandboxRuntime,
  type SandboxSession,
  type SandboxSpec
} from "@castellan/core/sandcastle/SandboxRuntime"
import { SandboxPath } from "@castellan/core/sandcastle/SandboxPath"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { assert, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import type * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

const utf8 = new TextEncoder()

const path = (text: string) => SandboxPath.make(text)

const file = (at: string, content: string): LibraryFile => ({
  path: LibraryPath.make(at),
  content: utf8.encode(content)
})

const base = [file("guide.md", "# Guide\n"), file("team/.hints", "be brief\n"), file("team/terms.md", "none\n")]

let count = 0

/** A spec with a tag that no session had. */
const spec = (given: Partial<SandboxSpec> = {}): SandboxSpec => {
  count += 1
  return {
    id: SandcastleId.make(`suite-${count}`),
    organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
    library: base,
    ...given
  }
}

const opened = (given: Partial<SandboxSpec> = {}) => SandboxRuntime.use((runtime) => runtime.open(spec(given)))

const request = (code: string, more: Partial<ExecRequest> = {}): ExecRequest => ({
  language: "python",
  code,
  within: "session",
  timeout: Duration.minutes(2),
  ...more
})

const all = (session: SandboxSession, code: string, more: Partial<ExecRequest> = {}) =>
  Stream.runCollect(session.exec(request(code, more)))

const textOf = (events: ReadonlyArray<ExecEvent>, tag: "Stdout" | "Stderr" = "Stdout"): string =>
  events.map((event) => (event._tag === tag ? event.text : "")).join("")

const finished = (events: ReadonlyArray<ExecEvent>): Extract<ExecEvent, { readonly _tag: "Finished" }> => {
  const last = events.at(-1)
  assert.strictEqual(events.filter(({ _tag }) => _tag === "Finished").length, 1)
  assert.strictEqual(events[0]?._tag, "Started")
  if (last?._tag !== "Finished") assert.fail("the last event is not Finished")
  return last
}

/** Starts something that never ends, and returns once it has said that it runs. */
const stuck = Effect.fnUntraced(function* (session: SandboxSession, more: Partial<ExecRequest> = {}) {
  const running = yield* Latch.make()
  const fiber = yield* session.exec(request('print("running")\nwhile True: pass', more)).pipe(
    Stream.tap((event) => (event._tag === "Stdout" ? running.open : Effect.void)),
    Stream.runCollect,
    Effect.forkChild({ startImmediately: true })
  )
  yield* running.await
  return fiber
})

/** Runs the contract of `SandboxRuntime` against an adapter. Time is the machine's. */
export const suite = <E>(name: string, layer: Layer.Layer<SandboxRuntime, E>): void => {
  it.layer(layer, { timeout: "180 seconds", excludeTestServices: true })(`SandboxRuntime (${name})`, (it) => {
    it.effect("a session's Python remembers, a fresh process does not", () =>
      Effect.gen(function* () {
        const session = yield* opened()
        assert.strictEqual(finished(yield* all(session, "x = 41")).outcome, "completed")
        const remembered = yield* all(session, "print(x + 1)")
        assert.strictEqual(textOf(remembered), "42\n")
        assert.strictEqual(finished(remembered).exitCode, 0)
        const forgotten = yield* all(session, "print(x)", { within: "process" })
        assert.strictEqual(finished(forgotten).outcome, "failed")
        assert.strictEqual(textOf(forgotten), "")
      })
    )

    it.effect("an exception is told with its name, and leaves the session as it was", () =>
      Effect.gen(function* () {
        const session = yield* opened()
        const events = yield* all(session, 'x = 1\nprint("before")\nraise ValueError("no such castle")\nx = 2')
        const error = events.find((event) => event._tag === "Error")
        assert.deepInclude(error, { name: "ValueError", message: "no such castle" })
        assert.strictEqual(textOf(events), "before\n")
        assert.strictEqual(finished(events).outcome, "failed")
        assert.strictEqual(textOf(yield* all(session, "print(x)")), "1\n")
      })
    )

    it.effect("a command has its streams apart, its exit code, and its environment", () =>
      Effect.gen(function* () {
        const session = yield* opened()
        const shell = { language: "bash", within: "process" } as const
        const events = yield* all(session, "echo hello $NAME; echo trouble >&2; exit 3", {
          ...shell,
          environment: { NAME: "Ada" }
        })
        assert.strictEqual(textOf(events), "hello Ada\n")
        assert.strictEqual(textOf(events, "Stderr"), "trouble\n")
        assert.deepInclude(finished(events), { outcome: "failed", exitCode: 3 })
        assert.strictEqual(textOf(yield* all(session, "echo [$NAME]", shell)), "[]\n")
      })
    )

    it.effect(
      "what a command leaves in the background ends with it, and what the session's Python started goes on",
      () =>
        Effect.gen(function* () {
          const { capabilities } = yield* SandboxRuntime
          // Elsewhere no process can be started at all.
          if (!capabilities.realBash) return
          const session = yield* opened()
          const shell = { language: "bash", within: "process" } as const
          const start =
            "import subprocess\nown = subprocess.Popen(['sleep', '1000'], start_new_session=True)\nprint(own.pid)"
          const own = textOf(yield* all(session, start)).trim()
          const background = [
            "sleep 1000 & echo $!",
            "nohup sleep 1000 >/dev/null 2>&1 & echo $!",
            // As many as a session may have, over and over: none of them takes up the place of another.
            "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 1000 & echo $!; done"
          ]
          // In a session of its own, the second one without its parent: not every root has a command for that.
          const hiding = [
            "import os, time\nheard, telling = os.pipe()\nif os.fork() == 0:\n    os.setsid()\n    os.write(telling, str(os.getpid()).encode())\n    time.sleep(1000)\nprint(os.read(heard, 20).decode())",
            "import os, time\nheard, telling = os.pipe()\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.write(telling, str(os.getpid()).encode())\n        time.sleep(1000)\n    os._exit(0)\nprint(os.read(heard, 20).decode())"
          ]
          const python = { language: "python", within: "process" } as const
          for (const [command, how] of [
            ...background.map((one) => [one, shell] as const),
            ...hiding.map((one) => [one, python] as const),
            ...Array.from({ length: 4 }, () => [background.at(-1) ?? "", shell] as const)
          ]) {
            const ran = yield* all(session, command, how)
            assert.deepInclude(finished(ran), { outcome: "completed", exitCode: 0 }, textOf(ran, "Stderr"))
            const left = textOf(ran).trim().split("\n")
            for (const pid of left) assert.match(pid, /^\d+$/, command)
            const alive = yield* all(session, `for pid in ${left.join(" ")}; do kill -0 $pid && echo $pid; done`, shell)
            assert.strictEqual(textOf(alive), "", command)
          }
          assert.strictEqual(textOf(yield* all(session, `kill -0 ${own} && echo on`, shell)), "on\n")
          assert.strictEqual(textOf(yield* all(session, "print(own.poll())")), "None\n")
        })
    )

    it.effect("sessions see nothing of each other", () =>
      Effect.gen(function* () {
        const [one, other] = [yield* opened(), yield* opened()]
        yield* all(one, 'x = 1\nopen("outputs/mine.txt", "w").write("mine")')
        assert.strictEqual(finished(yield* all(other, "print(x)")).outcome, "failed")
        const error = yield* Effect.flip(other.download(path("outputs/mine.txt")))
        assert.strictEqual(error.reason, "not_found")
      })
    )

    it.effect("an interrupt ends what runs, and the session takes the next execution", () =>
      Effect.gen(function* () {
        const session = yield* opened()
        const runtime = yield* SandboxRuntime
        yield* all(session, "x = 1")
        const fiber = yield* stuck(session)
        assert.isTrue(yield* session.interrupt)
        const events = yield* Fiber.join(fiber)
        assert.strictEqual(finished(events).outcome, "interrupted")
        const lost = events.some((event) => event._tag === "KernelRestarted" && event.stateLost)
        const next = yield* all(session, "print(x)")
        assert.strictEqual(textOf(next), lost ? "" : "1\n")
        if (runtime.capabilities.gentleInterrupt) assert.isFalse(lost)
        assert.isFalse(yield* session.interrupt)
        assert.strictEqual(textOf(yield* all(session, "print(2)")), "2\n")
      })
    )

    it.effect("whoever stops following stops the execution", () =>
      Effect.gen(function* () {
        const session = yield* opened()
        const fiber = yield* stuck(session)
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(textOf(yield* all(session, "print(2)")), "2\n")
      })
    )

    it.effect("an execution ends at its time limit", () =>
      Effect.gen(function* () {
        const session = yield* opened()
        const events = yield* all(session, "while True: pass", { timeout: Duration.millis(300) })
        assert.strictEqual(finished(events).outcome, "timed_out")
        assert.strictEqual(textOf(yield* all(session, "print(2)")), "2\n")
      })
    )

    it.effect("an interpreter that goes down is told of, with what is lost, and comes again", () =>
      Effect.gen(function* () {
        const session = yield* opened()
        yield* all(session, "x = 1")
        const events = yield* all(session, "import os; os._exit(1)")
        assert.strictEqual(finished(events).outcome, "failed")
        assert.deepInclude(
          events.find((event) => event._tag === "KernelRestarted"),
          { stateLost: true }
        )
        assert.strictEqual(finished(yield* all(session, "print(x)")).outcome, "failed")
        assert.strictEqual(textOf(yield* all(session, "print(2)")), "2\n")
      })
    )

    it.effect("a result becomes a dataframe, told among those that the session has", () =>
      Effect.gen(function* () {
        const session = yield* opened()
        const table: ResultTable = {
          columns: [
            { name: "region", type: "text" },
            { name: "amount", type: "integer" }
          ],
          rows: [
            ["north", 120],
            ["south", null],
            [null, 7]
          ],
          truncated: false
        }
        const frame = { name: "sales", rows: 3, columns: 2 }
        const bound = yield* session.bindDataframe("sales", table)
        assert.deepInclude(bound, frame)
        // What it takes is told where that can be told, and then by whatever tells of it.
        assert.notStrictEqual(bound.memoryBytes, 0)
        assert.deepStrictEqual((yield* session.usage).dataframes, [bound])
        assert.strictEqual(textOf(yield* all(session, "print(len(sales))")), "3\n")
        yield* session.bindDataframe("sales", { ...table, rows: [] })
        const [emptied, ...others] = (yield* session.usage).dataframes
        assert.deepInclude(emptied, { ...frame, rows: 0 })
        assert.deepStrictEqual(others, [])
      })
    )

    it.effect("files go in and come out, byte for byte; what an execution makes is told", () =>
      Effect.gen(function* () {
        const session = yield* opened()
        const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256)
        yield* session.upload(path("uploads/deep/data.bin"), bytes)
        assert.deepStrictEqual(Uint8Array.from(yield* session.download(path("uploads/deep/data.bin"))), bytes)
        const made = yield* all(session, 'open("outputs/hello.txt", "w").write("hi")')
        assert.deepStrictEqual(finished(made).files, ["outputs/hello.txt"])
        assert.deepStrictEqual(yield* session.list(path("uploads")), [
          { path: "uploads/deep", kind: "directory", size: 0 }
        ])
        assert.deepStrictEqual(yield* session.list(path("uploads/deep")), [
          { path: "uploads/deep/data.bin", kind: "file", size: 70_000 }
        ])
        const root = (yield* session.list()).map((entry) => entry.path)
        for (const folder of ["library", "outputs", "uploads"]) assert.include(root, folder)
        yield* session.remove(path("uploads/deep/data.bin"))
        assert.strictEqual((yield* Effect.flip(session.download(path("uploads/deep/data.bin")))).reason, "not_found")
        assert.strictEqual((yield* Effect.flip(session.remove(path("uploads/never.txt")))).reason, "not_found")
        assert.strictEqual((yield* Effect.flip(session.list(path("nowhere")))).reason, "not_found")
      })
    )

    it.effect("the library is there, its edits are told, and what is no file of it is rejected", () =>
      Effect.gen(function* () {
        const session = yield* opened()
        assert.deepStrictEqual(yield* session.diff(base), [])
        const guide = yield* session.download(path("library/guide.md"))
        assert.strictEqual(new TextDecoder().decode(guide), "# Guide\n")
        // Dotfiles are part of a library, and of no list.
        assert.deepStrictEqual(
          (yield* session.list(path("library/team"))).map((entry) => entry.path),
          ["library/team/terms.md"]
        )
        yield* all(
          session,
          [
            'open("library/guide.md", "w").write("# New guide")',
            'open("library/team/new.md", "w").write("new")',
            'import os; os.remove("library/team/terms.md")',
            'import os; os.symlink("/etc/passwd", "library/leak")'
          ].join("\n")
        )
        const edits = yield* session.diff(base)
        assert.deepStrictEqual(
          edits.map((edit) => [edit._tag, edit.path]),
          [
            ["Modified", "guide.md"],
            ["Rejected", "leak"],
            ["Added", "team/new.md"],
            ["Deleted", "team/terms.md"]
          ]
        )
        const texts = edits.map((edit) => ("content" in edit ? new TextDecoder().decode(edit.content) : ""))
        assert.deepStrictEqual(texts, ["# New guide", "", "new", ""])
        const next = [file("only.md", "only")]
        yield* session.mountLibrary(next)
        assert.deepStrictEqual(yield* session.diff(next), [])
        assert.strictEqual((yield* Effect.flip(session.download(path("library/guide.md")))).reason, "not_found")
      })
    )

    it.effect("a closed session is gone with all that runs in it", () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const session = yield* Scope.provide(opened(), scope)
        const fiber = yield* stuck(session)
        yield* Scope.close(scope, Exit.void)
        assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
        const errors = yield* Effect.all([
          Effect.flip(all(session, "print(1)")),
          Effect.flip(session.interrupt),
          Effect.flip(session.download(path("library/guide.md"))),
          Effect.flip(session.usage)
        ])
        assert.deepStrictEqual(
          errors.map(({ reason }) => reason),
          ["lost", "lost", "lost", "lost"]
        )
      })
    )

    it.effect("a session that cannot keep what is required does not open", () =>
      Effect.gen(function* () {
        const { capabilities } = yield* SandboxRuntime
        const opening = Effect.scoped(opened({ require: { isolation: "microvm", limits: { memory: "hard" } } }))
        const offers = capabilities.isolation === "microvm" && capabilities.limits.memory === "hard"
        if (offers) yield* opening
        else assert.strictEqual((yield* Effect.flip(opening)).reason, "unavailable")
      })
    )
  })
}
