import { OrganizationId } from "@castellan/core/organization/Organization"
import { type ExecEvent, type ExecRequest, SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import { SandboxPath } from "@castellan/core/sandcastle/SandboxPath"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import * as KernelSession from "@castellan/sandbox/session/KernelSession"
import type { SandboxTier } from "@castellan/sandbox/session/SandboxProcess"
import { SessionLimits } from "@castellan/sandbox/session/SessionLimits"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as FakeSupervisor from "../support/FakeSupervisor.ts"

const spec = {
  id: SandcastleId.make("hostile"),
  organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
  library: []
}

const request: ExecRequest = { language: "python", code: "x", within: "session", timeout: Duration.seconds(10) }

const open = (...given: Parameters<typeof FakeSupervisor.tier>) =>
  KernelSession.open(FakeSupervisor.tier(...given), spec)

/** What comes of one execution against a supervisor that behaves so: its events, or why it failed. */
const executed = (...given: Parameters<typeof FakeSupervisor.tier>) =>
  Effect.gen(function* () {
    const session = yield* open(...given)
    const events = yield* Effect.result(Stream.runCollect(session.exec(request)))
    const after = yield* Effect.result(session.usage)
    return { events, after }
  })

/** A supervisor that says one thing while something is executed, and ends it properly. */
const saying =
  (say: (command: FakeSupervisor.Came, supervisor: FakeSupervisor.Supervisor) => void): FakeSupervisor.Behaviour =>
  (command, supervisor) => {
    if (command.op === "usage") supervisor.answer(command, "done", { dataframes: [] })
    if (command.op !== "execute") return
    supervisor.answer(command, "started")
    say(command, supervisor)
    supervisor.answer(command, "finished", FakeSupervisor.finished)
  }

const tags = (events: ReadonlyArray<ExecEvent>) => events.map(({ _tag }) => _tag)

/** A report of an execution that is allowed at any moment. */
const silence = { stream: "stdout", bytes: 0 }

const breaches: ReadonlyArray<
  readonly [string, (command: FakeSupervisor.Came, to: FakeSupervisor.Supervisor) => void]
> = [
  ["bytes that are no frame", (_, to) => to.raw(Buffer.from("garbage\n"))],
  [
    "a nonce that is not the command's",
    (command, to) => to.say({ ...silence, event: "output", id: command.id, nonce: "f".repeat(32) })
  ],
  ["a nonce of another length", (command, to) => to.say({ ...silence, event: "output", id: command.id, nonce: "" })],
  ["an id that nobody has", (command, to) => to.answer({ ...command, id: command.id + 1 }, "done")],
  ["an id of a command that is over", (command, to) => to.answer({ ...command, id: 1 }, "done")],
  ["a second beginning", (command, to) => to.answer(command, "started")],
  ["a second end", (command, to) => to.answer(command, "finished", FakeSupervisor.finished)],
  ["a second greeting", (_, to) => to.say(FakeSupervisor.ready(to.launchNonce))],
  ["entries, which no execution has", (command, to) => to.answer(command, "entries", { entries: [] })],
  ["the end of something else", (command, to) => to.answer(command, "done")],
  [
    "a call whose tables did not come",
    (command, to) => to.answer(command, "call", { call: 1, tables: [{ name: "a", bytes: 9 }], bytes: 1 }, "x")
  ]
]

describe("the engine of sessions and a supervisor that lies", () => {
  for (const [what, say] of breaches) {
    it.effect(`${what} ends the session`, () =>
      Effect.gen(function* () {
        const { after, events } = yield* executed(saying(say))
        // What came before the breach may have been all of an execution; nothing comes after it.
        if (Result.isFailure(events)) assert.strictEqual(events.failure.reason, "lost")
        else assert.strictEqual(tags(events.success).filter((tag) => tag === "Finished").length, 1)
        assert.isTrue(Result.isFailure(after))
        if (Result.isFailure(after)) assert.strictEqual(after.failure.reason, "lost")
      })
    )
  }

  it.effect("and one that keeps to the protocol goes on", () =>
    Effect.gen(function* () {
      const { after, events } = yield* executed(saying(() => {}))
      assert.isTrue(Result.isSuccess(after))
      if (Result.isSuccess(events)) assert.deepStrictEqual(tags(events.success), ["Started", "Finished"])
      else assert.fail("the execution failed")
    })
  )

  for (const [what, greet] of [
    ["with another nonce", (to: FakeSupervisor.Supervisor) => to.say(FakeSupervisor.ready("0".repeat(32)))],
    [
      "of another version",
      (to: FakeSupervisor.Supervisor) => to.say(FakeSupervisor.ready(to.launchNonce, { protocol: 2 }))
    ],
    ["that ends at once", (to: FakeSupervisor.Supervisor) => to.end()]
  ] as const) {
    it.effect(`a supervisor ${what} opens no session`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(open(() => {}, { greet }))
        assert.strictEqual(error.reason, "unavailable")
      })
    )
  }

  it.effect("a supervisor that says nothing opens no session, after its time", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Effect.flip(open(() => {}, { greet: () => {} })), {
        startImmediately: true
      })
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* Fiber.join(fiber)).reason, "unavailable")
    })
  )
})

describe("a sandbox that ends", () => {
  it.effect("tells whoever used it why, and whoever comes later as well", () =>
    Effect.gen(function* () {
      const why = "the sandbox held more memory than it may, and was ended"
      const { after, events } = yield* executed((command, supervisor) => {
        if (command.op !== "execute") return
        supervisor.answer(command, "started")
        supervisor.end(why)
      })
      for (const failure of [Result.getFailure(events), Result.getFailure(after)]) {
        assert.deepInclude(Option.getOrUndefined(failure), { reason: "lost", message: why })
      }
    })
  )

  it.effect("whose end its tier knows as something else is lost all the same", () =>
    Effect.gen(function* () {
      const session = yield* open((command, supervisor) => {
        if (command.op === "usage") supervisor.end("its process is gone")
      })
      const errors = yield* Effect.all([Effect.flip(session.usage), Effect.flip(session.list())])
      for (const error of errors) assert.deepInclude(error, { reason: "lost", message: "its process is gone" })
    })
  )
})

describe("a program that asks for statements without end", () => {
  const asks = (count: number, supervisor: FakeSupervisor.Supervisor, command: FakeSupervisor.Came) => {
    for (let call = 1; call <= count; call += 1) {
      const statement = `select ${call}`
      supervisor.answer(command, "call", { call, tables: [], bytes: statement.length }, statement)
    }
  }

  it.effect("has one answered at a time, and the last one", () =>
    Effect.gen(function* () {
      const counts = { now: 0, most: 0 }
      const executor = {
        query: (statement: string) =>
          Effect.acquireUseRelease(
            Effect.sync(() => {
              counts.now += 1
              counts.most = Math.max(counts.most, counts.now)
            }),
            () => (statement === "select 500" ? Effect.succeed(new Uint8Array(3)) : Effect.never),
            () => Effect.sync(() => (counts.now -= 1))
          )
      }
      const answered: Array<unknown> = []
      const tier = FakeSupervisor.tier((command, supervisor) => {
        if (command.op === "execute") {
          supervisor.answer(command, "started")
          asks(500, supervisor, command)
        }
        if (command.op === "answer") {
          answered.push(command["call"])
          supervisor.answer(command, "finished", FakeSupervisor.finished)
        }
      })
      const session = yield* KernelSession.open(tier, spec, { open: Effect.succeed(executor) })
      assert.deepStrictEqual(tags(yield* Stream.runCollect(session.exec(request))), ["Started", "Finished"])
      assert.deepStrictEqual(counts, { now: 0, most: 1 })
      assert.deepStrictEqual(answered, [500])
    })
  )

  it.effect("and reads no answer, gets no other", () =>
    Effect.gen(function* () {
      let queries = 0
      let askAgain = () => {}
      const executor = { query: () => Effect.sync(() => new Uint8Array((queries += 1))) }
      const { launch, capabilities } = FakeSupervisor.tier((command, supervisor) => {
        if (command.op !== "execute") return
        supervisor.answer(command, "started")
        asks(1, supervisor, command)
        askAgain = () => asks(500, supervisor, command)
      })
      const deaf: SandboxTier = {
        capabilities,
        launch: (given, nonce) =>
          Effect.map(launch(given, nonce), (process) => ({
            ...process,
            send: (bytes) =>
              Buffer.from(bytes).includes('"op":"answer"')
                ? Effect.andThen(Effect.sync(askAgain), Effect.never)
                : process.send(bytes)
          }))
      }
      const session = yield* KernelSession.open(deaf, spec, { open: Effect.succeed(executor) })
      const fiber = yield* Effect.forkChild(Effect.result(Stream.runCollect(session.exec(request))), {
        startImmediately: true
      })
      yield* TestClock.adjust("60 seconds")
      yield* Fiber.join(fiber)
      assert.strictEqual(queries, 1)
    })
  )
})

describe("what comes out of a sandbox", () => {
  it.effect("is bounded also where it is exceptions, of which the first is always told", () =>
    Effect.gen(function* () {
      const long = "x".repeat(200_000)
      const { events } = yield* executed(
        saying((command, supervisor) => {
          for (let count = 0; count < 50; count += 1) {
            supervisor.answer(command, "error", { name: "E", message: "", traceback: [long, long, long] })
          }
        })
      )
      if (Result.isFailure(events)) return assert.fail("the execution failed")
      const told = events.success.filter(({ _tag }) => _tag === "Error")
      assert.strictEqual(told.length, 1)
      assert.deepInclude(events.success.at(-1), { _tag: "Finished", droppedBytes: 49 * 600_001 })
    })
  )

  it.effect(
    "is put out with control characters escaped and broken UTF-8 replaced, also where a piece ends within a character",
    () =>
      Effect.gen(function* () {
        const euro = Buffer.from("€")
        const { events } = yield* executed(
          saying((command, to) => {
            const put = (bytes: Uint8Array) =>
              to.answer(command, "output", { stream: "stdout", bytes: bytes.length }, bytes)
            put(Buffer.from("a\tb\n\u001b[31mred\u0007\u009b"))
            put(euro.subarray(0, 1))
            put(Buffer.concat([euro.subarray(1), Uint8Array.of(0xff)]))
            put(Uint8Array.of(0xe2, 0x82))
          })
        )
        assert.isTrue(Result.isSuccess(events))
        if (Result.isFailure(events)) return
        const text = events.success.map((event) => (event._tag === "Stdout" ? event.text : "")).join("")
        assert.strictEqual(text, "a\tb\n\\x1b[31mred\\x07\\x9b€\uFFFD\uFFFD")
      })
  )

  it.effect("is cut at the limit of the host, whatever the supervisor passes on, and what is cut is counted", () =>
    Effect.gen(function* () {
      const piece = Buffer.alloc(1024 * 1024, "x")
      const { events } = yield* executed(
        saying((command, to) => {
          for (let count = 0; count < 3; count++) {
            to.answer(command, "output", { stream: "stderr", bytes: piece.length }, piece)
          }
        })
      )
      assert.isTrue(Result.isSuccess(events))
      if (Result.isFailure(events)) return
      const text = events.success.map((event) => (event._tag === "Stderr" ? event.text : "")).join("")
      assert.strictEqual(text.length, 1024 * 1024)
      assert.deepInclude(events.success.at(-1), { droppedBytes: 2 * 1024 * 1024 })
    })
  )

  it.effect("is bounded also where it is displayed, in bytes and in number, and what is left out is counted", () =>
    Effect.gen(function* () {
      const shown = (bytes: number, times: number) => {
        const picture = Buffer.alloc(bytes)
        const told = { forms: [{ media_type: "image/png", bytes }], bytes }
        return executed(
          saying((command, to) => {
            for (let count = 0; count < times; count += 1) to.answer(command, "rich", told, picture)
          })
        )
      }
      for (const [bytes, times, kept] of [
        // 64 MiB in all.
        [8 * 1024 * 1024, 9, 8],
        [1, 10_003, 10_000]
      ] as const) {
        const { events } = yield* shown(bytes, times)
        if (Result.isFailure(events)) return assert.fail("the execution failed")
        assert.strictEqual(events.success.filter(({ _tag }) => _tag === "Rich").length, kept)
        assert.deepInclude(events.success.at(-1), { _tag: "Finished", droppedBytes: (times - kept) * bytes })
      }
    })
  )

  it.effect("has no half of a pair of surrogates in what is text, which many a reader of JSON refuses", () =>
    Effect.gen(function* () {
      const { events } = yield* executed(
        saying((command, to) => {
          to.answer(command, "error", { name: "Odd", message: "a\ud800b", traceback: ["\udfff"] })
        })
      )
      assert.isTrue(Result.isSuccess(events))
      if (Result.isFailure(events)) return
      assert.deepInclude(events.success[1], { message: "a\ufffdb", traceback: ["\ufffd"] })
    })
  )

  it.effect("tells what memory dataframes take, where the session tells it", () =>
    Effect.gen(function* () {
      const large = { name: "large", rows: 2, columns: 1 }
      const session = yield* open((command, to) => {
        if (command.op === "usage") {
          to.answer(command, "done", {
            dataframes: [
              { ...large, memory: 4096 },
              { ...large, name: "other" }
            ]
          })
        }
      })
      assert.deepStrictEqual(yield* session.usage, {
        dataframes: [
          { ...large, memoryBytes: 4096 },
          { ...large, name: "other" }
        ]
      })
    })
  )

  it.effect("has pictures as bytes, markup as it is and prose made harmless", () =>
    Effect.gen(function* () {
      const { events } = yield* executed(
        saying((command, to) => {
          const bodies = ["<b>\u001b</b>", "\u001b", "\u0001\u0002"]
          const forms = ["text/html", "text/plain", "image/png"].map((media_type, index) => ({
            media_type,
            bytes: bodies[index]?.length ?? 0
          }))
          to.answer(command, "rich", { forms, bytes: bodies.join("").length }, bodies.join(""))
        })
      )
      assert.isTrue(Result.isSuccess(events))
      if (Result.isFailure(events)) return
      assert.deepStrictEqual(events.success[1], {
        _tag: "Rich",
        forms: [
          { mediaType: "text/html", body: "<b>\u001b</b>" },
          { mediaType: "text/plain", body: "\\x1b" },
          { mediaType: "image/png", body: Uint8Array.of(1, 2) }
        ]
      })
    })
  )

  it.effect("as a listing is only what lies in the folder and does not hide", () =>
    Effect.gen(function* () {
      const session = yield* open((command, to) => {
        if (command.op !== "list") return
        const entry = (path: string, kind = "file") => ({ path, kind, size: 3 })
        to.answer(command, "entries", {
          entries: [
            entry("uploads/b.txt"),
            entry("uploads/../../etc/passwd"),
            entry("/etc/passwd"),
            entry("uploads/.hidden"),
            entry("uploads/link", "link"),
            entry("uploads/fifo", "other"),
            entry("uploads/a", "directory"),
            entry("uploads/new\nline\u001b[31m \ud800 \u202etxt.exe \u{e0001}é😀"),
            entry("uploads")
          ]
        })
        to.answer(command, "done")
      })
      assert.deepStrictEqual(yield* session.list(SandboxPath.make("uploads")), [
        { path: "uploads/a", kind: "directory", size: 0 },
        { path: "uploads/b.txt", kind: "file", size: 3 },
        { path: "uploads/new\\x0aline\\x1b[31m \\ud800 \\u202etxt.exe \\u{e0001}é😀", kind: "file", size: 3 }
      ])
    })
  )

  it.effect("as the edits of a library is checked: links, names, sizes that lie, files that go away", () =>
    Effect.gen(function* () {
      const digest = "0".repeat(64)
      const session = yield* open((command, to) => {
        if (command.op === "tree") {
          const entry = (path: string, more: object = {}) => ({ path, kind: "file", size: 3, digest, ...more })
          to.answer(command, "entries", {
            entries: [
              entry("added.md"),
              entry("gone.md"),
              entry("../escape.md"),
              entry("/etc/passwd"),
              entry(".git/config"),
              entry("u\u0308.md"),
              entry("a\\x0ab.md"),
              entry("link", { kind: "link" }),
              entry("fifo", { kind: "other" }),
              entry("huge.bin", { size: 26 * 1024 * 1024 }),
              entry("folder", { kind: "directory" })
            ]
          })
          to.answer(command, "done")
        } else if (command.op === "get") {
          if (command["path"] === "library/gone.md") {
            to.answer(command, "failed", { reason: "not_found", message: "gone" })
          } else {
            to.answer(command, "data", { bytes: 5 }, "grown")
            to.answer(command, "done")
          }
        }
      })
      const edits = yield* session.diff([])
      assert.deepStrictEqual(
        edits.map((edit) => [edit._tag, edit.path]),
        [
          ["Rejected", "../escape.md"],
          ["Rejected", ".git/config"],
          ["Rejected", "/etc/passwd"],
          ["Rejected", "a\\x0ab.md"],
          ["Added", "added.md"],
          ["Rejected", "fifo"],
          ["Rejected", "huge.bin"],
          ["Rejected", "link"],
          ["Rejected", "u\u0308.md"]
        ]
      )
      assert.deepInclude(edits[4], { content: Buffer.from("grown") })
    })
  )
})

describe("an execution that does not stop", () => {
  /** A supervisor that begins executions and does nothing else but what the test says. */
  const deaf =
    (commands: Array<string>, does: FakeSupervisor.Behaviour = () => {}): FakeSupervisor.Behaviour =>
    (command, to) => {
      if (command.op !== "mount") commands.push(`${to.life}:${command.op}`)
      if (command.op === "execute") to.answer(command, "started")
      return does(command, to)
    }

  const run = (...given: Parameters<typeof FakeSupervisor.tier>) =>
    Effect.gen(function* () {
      const session = yield* open(...given)
      const fiber = yield* Effect.forkChild(Effect.result(Stream.runCollect(session.exec(request))), {
        startImmediately: true
      })
      return { session, fiber }
    })

  it.effect("is interrupted at its deadline, then its interpreter is restarted, and it is told as timed out", () =>
    Effect.gen(function* () {
      const commands: Array<string> = []
      let execution: FakeSupervisor.Came | undefined
      const { fiber } = yield* run(
        deaf(commands, (command, to) => {
          if (command.op === "execute") execution = command
          if (command.op !== "restart" || execution === undefined) return
          to.answer(execution, "restarted", { state_lost: true })
          to.answer(execution, "finished", { ...FakeSupervisor.finished, outcome: "interrupted", exit_code: 137 })
          to.answer(command, "done")
        })
      )
      yield* TestClock.adjust("9 seconds")
      assert.deepStrictEqual(commands, ["1:execute"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(commands, ["1:execute", "1:interrupt"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(commands, ["1:execute", "1:interrupt", "1:restart"])
      const events = Result.getOrThrow(yield* Fiber.join(fiber))
      assert.deepStrictEqual(tags(events), ["Started", "KernelRestarted", "Finished"])
      assert.deepInclude(events.at(-1), { outcome: "timed_out", exitCode: 137 })
    })
  )

  it.effect("under a supervisor that does not answer is ended with that; the session goes on in another", () =>
    Effect.gen(function* () {
      const commands: Array<string> = []
      const { fiber, session } = yield* run(deaf(commands), { replaceable: true })
      const stopping = yield* Effect.forkChild(session.interrupt, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* TestClock.adjust("5 seconds")
      assert.isTrue(yield* Fiber.join(stopping))
      const events = Result.getOrThrow(yield* Fiber.join(fiber))
      assert.deepStrictEqual(tags(events), ["Started", "KernelRestarted", "Finished"])
      assert.deepInclude(events.at(-1), { outcome: "interrupted" })
      assert.deepStrictEqual(commands, ["1:execute", "1:interrupt", "1:restart"])
      yield* Effect.forkChild(Stream.runDrain(session.exec(request)), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(commands.at(-1), "2:execute")
    })
  )

  it.effect("under a supervisor that cannot be replaced ends the session", () =>
    Effect.gen(function* () {
      const { fiber, session } = yield* run(deaf([]))
      yield* TestClock.adjust("10 seconds")
      yield* TestClock.adjust("1 second")
      yield* TestClock.adjust("5 seconds")
      const events = yield* Fiber.join(fiber)
      assert.isTrue(Result.isFailure(events))
      assert.strictEqual((yield* Effect.flip(session.usage)).reason, "lost")
    })
  )

  it.effect("is told as failed where the sandbox's processes end under it", () =>
    Effect.gen(function* () {
      const { fiber } = yield* run(
        deaf([], (command, to) => {
          if (command.op === "execute") to.end()
        }),
        { replaceable: true }
      )
      const events = Result.getOrThrow(yield* Fiber.join(fiber))
      assert.deepStrictEqual(tags(events), ["Started", "Error", "KernelRestarted", "Finished"])
      assert.deepInclude(events.at(-1), { outcome: "failed" })
    })
  )
})

describe("a command that is not answered", () => {
  it.effect("fails after its time, and the session is ended or begun anew", () =>
    Effect.gen(function* () {
      const session = yield* open(() => {}, { replaceable: true })
      const fiber = yield* Effect.forkChild(Effect.flip(session.download(SandboxPath.make("outputs/a"))), {
        startImmediately: true
      })
      yield* TestClock.adjust("2 minutes")
      const error = yield* Fiber.join(fiber)
      assert.instanceOf(error, SandboxError)
      assert.strictEqual(error.reason, "exhausted")
    })
  )

  it.effect("is not waited for again and again: a library whose every file is slow is given up", () =>
    Effect.gen(function* () {
      const waiting: Array<() => void> = []
      const session = yield* open((command, supervisor) => {
        if (command.op === "tree") {
          const entries = Array.from({ length: 500 }, (_, index) => ({
            path: `${index}.md`,
            kind: "file",
            size: 1,
            digest: "0".repeat(64)
          }))
          supervisor.answer(command, "entries", { entries })
          supervisor.answer(command, "done")
        }
        if (command.op === "get") {
          waiting.push(() => {
            supervisor.answer(command, "data", { bytes: 1 }, "x")
            supervisor.answer(command, "done")
          })
        }
      })
      const fiber = yield* Effect.forkChild(Effect.flip(session.diff([])), { startImmediately: true })
      while (fiber.pollUnsafe() === undefined) {
        // The clock stands still until all of the next files were asked for.
        for (let turn = 0; turn < 1000; turn += 1) yield* Effect.yieldNow
        yield* TestClock.adjust("50 seconds")
        for (const answer of waiting.splice(0)) answer()
      }
      const error = yield* Fiber.join(fiber)
      assert.strictEqual(error.reason, "exhausted")
      assert.include(error.message, "edits of the library")
    })
  )

  it.effect("whose answer is larger than is taken fails, and the session goes on", () =>
    Effect.gen(function* () {
      const piece = Buffer.alloc(1024)
      const session = yield* open((command, to) => {
        if (command.op === "usage") to.answer(command, "done", { dataframes: [] })
        if (command.op !== "get") return
        for (let count = 0; count < 5; count++) to.answer(command, "data", { bytes: piece.length }, piece)
        to.answer(command, "done")
      })
      const error = yield* Effect.flip(session.download(SandboxPath.make("outputs/a")))
      assert.strictEqual(error.reason, "exhausted")
      assert.deepStrictEqual(yield* session.usage, { dataframes: [] })
    }).pipe(Effect.updateService(SessionLimits, (limits) => ({ ...limits, fileBytes: 4096 })))
  )
})
