/**
 * The engine with the real supervisor and the real interpreter, without walls: what programs do to themselves, to their
 * interpreter and to the channel.
 */
import { LibraryPath } from "@castellan/core/library/LibraryPath"
import type { ExecRequest, SandboxSession } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import * as PlainPython from "../support/PlainPython.ts"
import { errorOf, finished, opened, run, tags, text } from "../support/PlainSession.ts"

const bash = { language: "bash", within: "process" } as const

/** Starts a program and returns once it has said that it runs. */
const begun = Effect.fnUntraced(function* (session: SandboxSession, code: string, more: Partial<ExecRequest> = {}) {
  const running = yield* Latch.make()
  const fiber = yield* session
    .exec({ language: "python", code, within: "session", timeout: Duration.seconds(60), ...more })
    .pipe(
      Stream.tap((event) => (event._tag === "Stdout" ? running.open : Effect.void)),
      Stream.runCollect,
      Effect.forkChild({ startImmediately: true })
    )
  yield* running.await
  return fiber
})

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`)

/** Waits until something is so, as long as a hang would not take. */
const eventually = (condition: () => boolean) =>
  Effect.sync(condition).pipe(
    Effect.filterOrFail(
      (so) => so,
      () => "it never was so"
    ),
    Effect.retry({ schedule: Schedule.spaced("10 millis"), times: 6000 })
  )

describe.skipIf(!PlainPython.isAvailable)("programs in a session", { timeout: 300_000 }, () => {
  it.live("are interrupted wherever they are, keep their variables, and are never interrupted for another", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      yield* run(session, "import time, subprocess, re\nkept = 0")
      for (const body of [
        "while True: pass",
        "time.sleep(1000)",
        "subprocess.run(['sleep', '1000'])",
        "re.match('(a+)+b', 'a' * 40)",
        "import threading; threading.Event().wait()",
        "input_ = [i for i in iter(int, 1)]"
      ]) {
        const fiber = yield* begun(session, `kept += 1\nprint('on')\n${body}`)
        assert.isTrue(yield* session.interrupt, body)
        const events = yield* Fiber.join(fiber)
        assert.strictEqual(finished(events).outcome, "interrupted", body)
        assert.notInclude(tags(events), "KernelRestarted", body)
        assert.isUndefined(errorOf(events), body)
      }
      assert.strictEqual(text(yield* run(session, "print(kept)")), "6\n")
    }).pipe(Effect.scoped)
  )

  it.live("abuse 44: a storm of interrupts loses none and hits nothing else", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      yield* run(session, "done = 0")
      for (let round = 0; round < 60; round++) {
        // A program that is over at once, and interrupts at any moment of it.
        const fiber = yield* Effect.forkChild(run(session, "sum(range(2000)); print('through')"), {
          startImmediately: true
        })
        yield* Effect.forEach(
          [0, 1, 2],
          () =>
            Effect.andThen(
              Effect.promise(() => new Promise((next) => setImmediate(next))),
              session.interrupt
            ),
          { concurrency: 3 }
        )
        const events = yield* Fiber.join(fiber)
        assert.include(["completed", "interrupted"], finished(events).outcome)
        assert.isUndefined(errorOf(events))
        assert.notInclude(tags(events), "KernelRestarted")
        // The very next one is never hit.
        const next = yield* run(session, `done += 1\nfor i in range(1000): pass\nprint(done)`)
        assert.strictEqual(finished(next).outcome, "completed")
        assert.strictEqual(text(next), `${round + 1}\n`)
      }
      assert.isFalse(yield* session.interrupt)
    }).pipe(Effect.scoped)
  )

  it.live("that cannot be interrupted are killed after the grace, and lose their variables", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      yield* run(session, "x = 1")
      for (const body of [
        "while True:\n  try:\n    print('on')\n    while True: pass\n  except BaseException: pass",
        "while True:\n  try:\n    print('on')\n    sum(range(10**11))\n  except BaseException: pass",
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('on')\nwhile True: pass"
      ]) {
        const fiber = yield* begun(session, body)
        assert.isTrue(yield* session.interrupt)
        const events = yield* Fiber.join(fiber)
        assert.strictEqual(finished(events).outcome, "interrupted")
        assert.deepInclude(
          events.find(({ _tag }) => _tag === "KernelRestarted"),
          { stateLost: true }
        )
      }
      assert.strictEqual(finished(yield* run(session, "x")).outcome, "failed")
    }).pipe(Effect.scoped)
  )

  it.live("put out as much as they like; what is beyond the limit is counted exactly", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const size = 40_000_000
      const events = yield* run(session, `import os\nfor i in range(40): os.write(1, b'x' * ${size / 40})`)
      assert.strictEqual(text(events).length, 1024 * 1024)
      assert.strictEqual(finished(events).droppedBytes, size - 1024 * 1024)
      const flood = yield* run(session, "yes | head -c 30000000", bash)
      assert.strictEqual(text(flood).length + finished(flood).droppedBytes, 30_000_000)
    }).pipe(Effect.scoped)
  )

  it.live("abuse 38: that answer for their interpreter what is no answer keep nobody waiting", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const table = { columns: [{ name: "n", type: "integer" as const }], rows: [[1]], truncated: false }
      for (const forged of ["{}", "{'dataframe': {'name': 1}, 'all': []}", "{'dataframe': None, 'all': None}"]) {
        yield* run(
          session,
          [
            "from castellan_session.kernel import Kernel",
            "bind = getattr(Kernel, 'bind', Kernel._bind)",
            "Kernel.bind = bind",
            `Kernel._bind = lambda self, token, name, payload: self._send(token, "done", **${forged})`
          ].join("\n")
        )
        const refused = yield* Effect.flip(session.bindDataframe("t", table))
        assert.strictEqual(refused.reason, "invalid", forged)
        assert.include(refused.message, "did not say")
      }
      yield* run(session, "Kernel._bind = Kernel.bind")
      assert.deepInclude(yield* session.bindDataframe("t", table), { name: "t", rows: 1 })
    }).pipe(Effect.scoped)
  )

  it.live("are told that nobody answers input()", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const asked = yield* run(session, 'name = input("Your name? ")')
      assert.strictEqual(finished(asked).outcome, "failed")
      assert.deepInclude(errorOf(asked), { name: "EOFError" })
      assert.include(errorOf(asked)?.message, "nobody")
      const alone = yield* run(session, "input()", { within: "process" })
      assert.include(text(alone, "Stderr"), "nobody")
    }).pipe(Effect.scoped)
  )

  it.live("abuse 38: that write to the channel harm their own session alone, and are told of it", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      yield* run(session, "x = 1")
      const forged = yield* run(
        session,
        `import os\nos.write(3, b'{"event":"finished","token":"0","outcome":"completed","exit_code":0,"all":[],"changed":[]}\\n')`
      )
      assert.deepInclude(errorOf(forged), { name: "ProtocolViolation" })
      assert.strictEqual(finished(forged).outcome, "failed")
      assert.strictEqual(text(yield* run(session, "print(x)")), "1\n")
      for (const bytes of [
        "b'garbage\\n'",
        "b' ' * 2_000_000",
        `b'{"event":"rich","token":"0","bytes":99999999999}\\n'`
      ]) {
        const broken = yield* run(
          session,
          `import os\nos.set_blocking(3, True)\nprint('on')\nos.write(3, ${bytes})\nwhile True: pass`
        )
        assert.deepInclude(errorOf(broken), { name: "ProtocolViolation" }, bytes)
        assert.include(tags(broken), "KernelRestarted")
        assert.strictEqual(finished(broken).outcome, "failed")
        assert.strictEqual(text(yield* run(session, "print(2)")), "2\n")
      }
    }).pipe(Effect.scoped)
  )

  it.live("abuse 42: that break their interpreter harm their own session alone", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      for (const [body, survives] of [
        ["import sys; sys.stdout = None; sys.stderr = None", true],
        ["import sys; sys.stdout.close()", true],
        ["import builtins; builtins.print = None", true],
        ["import sys; sys.modules.clear()", true],
        ["import os; os.closerange(0, 1000)", false],
        ["import os; os.kill(os.getpid(), 9)", false],
        ["import ctypes; ctypes.string_at(0)", false],
        ["import os; os.abort()", false]
      ] as const) {
        const events = yield* run(session, body)
        assert.strictEqual(tags(events).at(-1), "Finished", body)
        if (!survives) assert.strictEqual(finished(events).outcome, "failed", body)
        // Whatever is left of it, the session executes again.
        const next = yield* run(session, "import os; os.write(1, b'alive')")
        const again =
          finished(next).outcome === "completed" ? next : yield* run(session, "import os; os.write(1, b'alive')")
        assert.strictEqual(text(again), "alive", body)
      }
    }).pipe(Effect.scoped)
  )

  it.live("whose interpreter ends while nothing runs are told of it next time", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      yield* run(session, "import threading, os, time\nx = 1\nend = threading.Event()")
      const dying = yield* run(
        session,
        "def die():\n    end.wait()\n    os._exit(3)\nthreading.Thread(target=die).start()\nend.set()"
      )
      // It may have ended before or after the execution that asked for it.
      let restarted = tags(dying).includes("KernelRestarted")
      for (let tries = 0; !restarted && tries < 100; tries++) {
        restarted = tags(yield* run(session, "import time; time.sleep(0.01)")).includes("KernelRestarted")
      }
      assert.isTrue(restarted)
      assert.strictEqual(finished(yield* run(session, "x")).outcome, "failed")
    }).pipe(Effect.scoped)
  )

  it.live("that fork have one end", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const events = yield* run(session, "import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\nprint('both')")
      assert.strictEqual(text(events), "both\nboth\n")
      assert.strictEqual(finished(events).outcome, "completed")
      assert.strictEqual(text(yield* run(session, "print(1)")), "1\n")
      const shown = yield* run(session, "import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\nelse: display(1)")
      assert.notInclude(tags(shown), "Rich")
    }).pipe(Effect.scoped)
  )

  it.live("abuse 36: leave no zombies, and nothing that outlives the session", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      let supervisor = 0
      const session = yield* Scope.provide(
        opened(undefined, ({ pid }) => {
          supervisor = pid
        }),
        scope
      )
      yield* run(session, "for i in $(seq 200); do (sleep 0 &) ; done", bash)
      const daemon = yield* run(session, "setsid nohup sleep 1000 > /dev/null 2>&1 & echo $!", bash)
      // What a command leaves ends with it; what the session's Python started goes on.
      assert.isFalse(isAlive(Number(text(daemon))))
      const started = "import subprocess\nprint(subprocess.Popen(['setsid', 'nohup', 'sleep', '1000']).pid)"
      const pid = Number(text(yield* run(session, started)))
      const forked = yield* run(
        session,
        "import os, signal\npid = os.fork()\nif not pid:\n    os.setsid()\n    if os.fork(): os._exit(0)\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    print(os.getpid(), flush=True)\n    signal.pause()\n    os._exit(0)\nos.waitpid(pid, 0); None"
      )
      yield* run(session, "import time; time.sleep(0.2)")
      const late = text(forked)
      const children = () =>
        readdirSync("/proc")
          .filter((name) => /^\d+$/u.test(name))
          .flatMap((name) => {
            try {
              const stat = readFileSync(`/proc/${name}/stat`, "latin1")
              const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
              return Number(parent) === supervisor && state === "Z" ? [name] : []
            } catch {
              // It ended since its name was read.
              return []
            }
          })
      yield* eventually(() => children().length === 0)
      assert.isTrue(isAlive(pid))
      yield* Scope.close(scope, Exit.void)
      yield* eventually(() => !isAlive(supervisor) && !isAlive(pid) && (late === "" || !isAlive(Number(late))))
    })
  )

  it.live("abuse 39: have no descriptors but their own", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const list =
        "import os\nprint(sorted(int(fd) for fd in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{fd}')))"
      assert.strictEqual(text(yield* run(session, list)), "[0, 1, 2, 3]\n")
      assert.strictEqual(text(yield* run(session, list, { within: "process" })), "[0, 1, 2]\n")
      // The fourth is the folder that is listed.
      assert.strictEqual(text(yield* run(session, "ls /proc/self/fd", bash)), "0\n1\n2\n3\n")
    }).pipe(Effect.scoped)
  )

  it.live("draw random numbers of their own", () =>
    Effect.gen(function* () {
      const draw = "import random; print(random.random())"
      const one = yield* opened()
      const drawn = [text(yield* run(one, draw)), text(yield* run(yield* opened(), draw))]
      drawn.push(text(yield* run(one, draw, { within: "process" })), text(yield* run(one, draw, { within: "process" })))
      yield* run(one, "import os; os._exit(0)")
      drawn.push(text(yield* run(one, draw)))
      assert.strictEqual(new Set(drawn).size, 5)
    }).pipe(Effect.scoped)
  )

  it.live("in fresh processes run beside the session's own, and are stopped with all that they started", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const own = yield* begun(session, "print('on')\nimport time\nwhile True: time.sleep(1)")
      const shell = yield* begun(session, "sleep 1000 & echo $!; trap '' INT; wait; sleep 1000", bash)
      const program = yield* begun(session, "print('on')\nwhile True: pass", { within: "process" })
      assert.strictEqual(text(yield* run(session, "echo beside", bash)), "beside\n")
      assert.isTrue(yield* session.interrupt)
      for (const fiber of [own, shell, program]) {
        assert.strictEqual(finished(yield* Fiber.join(fiber)).outcome, "interrupted")
      }
      const child = Number(text(yield* Fiber.join(shell)))
      yield* eventually(() => !isAlive(child))
    }).pipe(Effect.scoped)
  )

  it.live("in fresh processes are told by code and streams", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const fresh = (code: string) => run(session, code, { within: "process", environment: { GREETING: "hé" } })
      const failing = yield* fresh("import os, sys\nprint(os.environ['GREETING'])\n1 / 0")
      assert.strictEqual(text(failing), "hé\n")
      assert.include(text(failing, "Stderr"), "ZeroDivisionError: division by zero")
      assert.notInclude(text(failing, "Stderr"), "castellan")
      assert.deepInclude(finished(failing), { outcome: "failed", exitCode: 1 })
      assert.deepInclude(finished(yield* fresh("import sys; sys.exit(7)")), { exitCode: 7 })
      assert.deepInclude(finished(yield* fresh("import os; os.kill(os.getpid(), 9)")), { exitCode: 137 })
      assert.deepInclude(finished(yield* fresh("input()")), { exitCode: 1 })
      assert.deepInclude(finished(yield* run(session, "kill -9 $$", bash)), { outcome: "failed", exitCode: 137 })
      const long = `echo ${"x".repeat(300_000)} | wc -c`
      assert.strictEqual(text(yield* run(session, long, bash)), "300001\n")
      const error = yield* Effect.flip(run(session, "echo \0", bash))
      assert.strictEqual(error.reason, "invalid")
    }).pipe(Effect.scoped)
  )

  it.live("see what they print and what they display in the order in which they did", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const events = yield* run(session, "for i in range(50):\n    print(i)\n    display(i)\n'last'")
      const order = events.flatMap((event) =>
        event._tag === "Stdout"
          ? event.text
              .trim()
              .split("\n")
              .map((line) => `p${line}`)
          : event._tag === "Rich"
            ? [`d${String(event.forms[0]?.body)}`]
            : []
      )
      const expected = Array.from({ length: 50 }, (_, index) => [`p${index}`, `d${index}`]).flat()
      assert.deepStrictEqual(order, [...expected, "d'last'"])
    }).pipe(Effect.scoped)
  )

  it.live("show huge values as far as they are shown", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      for (const code of ["'x' * 10**8", "list(range(10**6))", "{i: 'y' * 1000 for i in range(10**5)}"]) {
        const events = yield* run(session, code)
        const rich = events.find(({ _tag }) => _tag === "Rich")
        if (rich?._tag !== "Rich") assert.fail("nothing was shown")
        assert.isAtMost(String(rich.forms[0]?.body).length, 65 * 1024)
      }
    }).pipe(Effect.scoped)
  )

  it.live("keep files of the library that a file system cannot hold out of it, and tell no edit of them", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const long = { path: LibraryPath.make(`${"n".repeat(300)}.md`), content: new Uint8Array(1) }
      // Their paths together are more than one line of the channel may have.
      const folders = `${"f".repeat(200)}/`.repeat(4)
      const many = Array.from({ length: 1_400 }, (_, index) => ({
        path: LibraryPath.make(`${folders}${index}.md`),
        content: Buffer.from(String(index))
      }))
      const all = [long, ...many]
      yield* session.mountLibrary(all)
      assert.deepStrictEqual(yield* session.diff(all), [])
    }).pipe(Effect.scoped)
  )
})

describe.skipIf(!PlainPython.isAvailable)("a session that is closed", () => {
  it.live("answers nothing any more", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const session = yield* Scope.provide(opened(), scope)
      yield* Scope.close(scope, Exit.void)
      const failed = yield* Effect.result(run(session, "1"))
      assert.isTrue(Result.isFailure(failed))
    })
  )
})
